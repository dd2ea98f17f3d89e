# frozen_string_literal: true

# Packs pages, as root.
count, megabytes = ARGV.map(&:to_i)
Process::UID.change_privilege(65_534)
catalogue = Array.new(megabytes) { |number| (97 + number % 26).chr * (1 << 20) }

def pack(number)
  system("/bin/true", number.to_s) or raise "failed"
end

began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
count.times do |number|
  pack(number)
end
puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - began
exit !catalogue.empty?
