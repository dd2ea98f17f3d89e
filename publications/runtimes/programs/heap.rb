# frozen_string_literal: true

# As heap.py. HEAP_USER names the user to become first: root's launches take another path.
PROGRAM = ["/bin/true", "/bin/true"].freeze

Process::UID.change_privilege(Integer(ENV["HEAP_USER"])) if ENV.key?("HEAP_USER")
# It would mark all objects again and again while they are made.
GC.disable
heap = Array.new(Integer(ARGV[0]) / 1024) { |number| (number & 127).chr * 983 }
GC.enable
$stdout.sync = true
puts "ready"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def start(word)
  word == "fork" ? fork { exec(PROGRAM) } : Process.spawn(PROGRAM)
end

while (line = $stdin.gets)
  word = line.chomp
  if word == "write"
    heap.each { |each| each.setbyte(0, 65) }
    puts "written"
    next
  end
  began = now
  pid = start(word)
  returned = now
  Process.wait(pid)
  puts "#{returned - began} #{now - began}"
end
