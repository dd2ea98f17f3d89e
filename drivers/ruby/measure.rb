# frozen_string_literal: true

# Blocks of launches: the clock, the columns, the heap, and the collector's pauses.

require "etc"
require_relative "request"

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def spin(duration_ns)
  ends = now + duration_ns
  nil while now < ends
end

# So short that it changes little, and so long that another thread surely takes the lock meanwhile.
SLEEP_NS = 1_000_000

# How much later than due this thread runs again after a sleep, for which it has given the lock up, in ns.
def waited_for_lock
  due = now + SLEEP_NS
  sleep(SLEEP_NS / 1e9)
  [now - due, 0].max
end

# Threads that compute in pure Ruby while launches are made; none if none are wanted.
class BusyThreads
  def initialize(count)
    @ended = false
    @threads = Array.new(count) { Thread.new { nil until @ended } }
  end

  def close
    @ended = true
    @threads.each(&:join)
  end
end

# The columns of a block, made and written before anything is timed. A value is nil where there is none.
class Block
  attr_reader :temperature, :columns, :facts

  def initialize(temperature, names, rows)
    @temperature = temperature
    @columns = names.to_h { |name| [name, Array.new(rows, 0)] }
    @facts = {}
  end

  def rows
    @columns.fetch("start_ns").size
  end

  def cut(rows)
    @columns.each_value { |values| values.slice!(rows..) }
  end
end

# Measures the cell that was asked for.
class Measure
  LATER_WARMUP = 3
  FEWEST_SAMPLES = 3
  SETTLE_S = 0.001
  # A String of the heap: a Ruby program has many small objects.
  OBJECT_BYTES = 1024
  OBJECT_HEADER_BYTES = 40

  def initialize(request)
    @request = request
    @stages = request.workload.stages
  end

  def blocks
    heap = heap_of(@request["parent_bytes"])
    @launch, close = @request.workload.prepare.call(@request)
    busy = BusyThreads.new(@request["busy_threads"])
    wanted = @request["temperatures"].split(",")
    measured = []
    begin
      measured << measure_block("cold", 1) if wanted.include?("cold")
      (wanted.include?("warm") ? @request["blocks"] : 0).times do |number|
        sleep SETTLE_S
        warm_up(number.zero? ? @request["warmup"] : [@request["warmup"], LATER_WARMUP].min)
        measured << measure_block("warm", @request["samples"])
      end
    ensure
      busy.close
      close.call
    end
    # The heap is named here so that it is still held during the last launch.
    heap.clear
    measured
  end

  private

  def heap_of(size)
    free = Etc.sysconf(Etc::SC_PAGESIZE) * Etc.sysconf(Etc::SC_AVPHYS_PAGES)
    raise Skip, "parent_bytes=#{size}: more than the #{free} free bytes" if size > free

    Array.new(size / OBJECT_BYTES) { |number| (number & 127).chr * (OBJECT_BYTES - OBJECT_HEADER_BYTES) }
  end

  def warm_up(launches)
    began = now
    limit = @request["block_limit_ns"]
    launches.times do
      return if limit.positive? && now - began > limit

      @launch.call
    end
  rescue SystemCallError, ThreadError
    nil
  end

  def measure_block(temperature, rows)
    block = Block.new(temperature, ["start_ns", *@stages, "collector_ns", "cpu_before", "cpu_after", "cpu_child",
                                    "errno"], rows)
    created = tasks_created
    before = counters
    began = now
    filled = fill(block, began, rows)
    wall_ns = now - began
    after = counters
    created = created.negative? ? -1 : tasks_created - created
    block.cut(filled)
    name_cpus(block)
    block.facts.update(after.to_h { |name, value| [name, value - before.fetch(name)] })
    block.facts.update("wall_ns" => wall_ns, "start_ticks" => began, "tasks_created" => created,
                       "effective_mhz" => frequencies)
    block
  end

  # Launches until the block is full or its time is up, and returns how many launches it has.
  def fill(block, began, rows)
    starts, pauses, errors = block.columns.values_at("start_ns", "collector_ns", "errno")
    columns = block.columns.values_at(*@stages)
    limit = @request["block_limit_ns"]
    rows.times do |index|
      paused = GC.total_time
      begin
        start, *stamps = @launch.call
      rescue SystemCallError, ThreadError => error
        start = now
        stamps = []
        # Ruby says without a number that it could not start a thread.
        errors[index] = error.is_a?(SystemCallError) ? error.errno : Errno::EAGAIN::Errno
      end
      starts[index] = start - began
      columns.each_with_index { |column, stage| column[index] = stamps[stage] && (stamps[stage] - start) }
      pauses[index] = GC.total_time - paused
      return index + 1 if limit.positive? && index + 1 >= FEWEST_SAMPLES && now - began > limit
    end
    rows
  end

  def name_cpus(block)
    cpu = allowed_cpu if @request.pinned?
    stamped = block.columns.fetch("task_runs_ns", [nil]).first
    block.columns.fetch("cpu_before").fill(cpu)
    block.columns.fetch("cpu_after").fill(cpu)
    block.columns.fetch("cpu_child").fill(stamped && cpu)
  end

  # Counts of this process so far. Switches of threads that have ended are not among them: Ruby has no getrusage.
  def counters
    fields = File.read("/proc/self/stat").rpartition(")").last.split
    statuses = Dir.glob("/proc/self/task/*/status").map { |path| read_or_nothing(path) }
    times = Process.times
    {
      "minor_faults" => fields[7].to_i,
      "major_faults" => fields[9].to_i,
      "voluntary_switches" => statuses.sum { |text| text[/^voluntary_ctxt_switches:\s*(\d+)/, 1].to_i },
      "involuntary_switches" => statuses.sum { |text| text[/^nonvoluntary_ctxt_switches:\s*(\d+)/, 1].to_i },
      "cpu_ns" => Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond),
      "children_cpu_ns" => ((times.cutime + times.cstime) * 1e9).round,
      "collections" => GC.count
    }
  end

  # How many tasks the whole machine has created since it started; -1 where the kernel does not count them.
  def tasks_created
    count = File.read("/proc/stat")[/^processes (\d+)/, 1].to_i
    count.positive? ? count : -1
  rescue SystemCallError
    -1
  end

  # A thread may end between the listing and the reading.
  def read_or_nothing(path)
    File.read(path)
  rescue SystemCallError
    ""
  end

  # The effective MHz of the CPU that launched, by the tether; none if it may be any.
  def frequencies
    return {} unless @request.pinned?

    printed = IO.popen([File.join(@request["targets"], "clonometer-tether"), "--mhz", allowed_cpu.to_s,
                        { in: "/dev/null" }], &:read)
    cpu, mhz = printed.split
    mhz.to_f.positive? ? { cpu => mhz.to_f } : {}
  rescue SystemCallError
    {}
  end
end
