# frozen_string_literal: true

# Reads what a tool prints, as root.
count, megabytes = ARGV.map(&:to_i)

catalogue = Array.new(megabytes) { |number| (97 + number % 26).chr * (1 << 20) }

def answer(number)
  `/bin/true #{number}`.strip
end

began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
count.times do |number|
  answer(number)
end
puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - began
exit !catalogue.empty?
