# frozen_string_literal: true

# Notes which lines of a Ruby program make tasks, for `clonometer census`, which has put this file into RUBYOPT.
# Any Ruby may start with it: whatever goes wrong is left alone, and no constant or global variable is added.

begin
  require ENV['CLONOMETER_LIBRARY'] if ENV['CLONOMETER_CALLS'] && ENV['CLONOMETER_LIBRARY'] && RUBY_ENGINE == 'ruby'
rescue LoadError
  nil
end
