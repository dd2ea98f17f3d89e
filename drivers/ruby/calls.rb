# frozen_string_literal: true

require_relative "measure"

# A block that runs elsewhere: in a ractor, or in a fork.
#
# Timed: from before the call until it has returned, until the block's first line elsewhere, until its result is here and,
# for a process, until it has been waited for. Outside: storing the sample, making the pipe. Bias: a fork writes its first
# line's time into a pipe, which is a system call within `result_ns`.
module Calls
  STAGES = %w[call_returns_ns task_runs_ns result_ns].freeze
  STAMP_BYTES = 8

  module_function

  def workloads
    {
      "worker" => Workload.new(
        family: "runtime_call", summary: "Ractor.new, its block returns at once, its value is taken", stages: STAGES,
        prepare: method(:ractor), api: "Ractor.new"
      ),
      "fork" => Workload.new(
        family: "runtime_call", summary: "Process.fork, the child ends by exit!, Process.wait", stages: STAGES,
        prepare: method(:forked), api: "Process.fork", launch_path: "fork"
      )
    }
  end

  # `take` became `value` in Ruby 4.
  def ractor(_request)
    result = Ractor.method_defined?(:value) ? :value : :take
    launch = lambda do
      before = now
      ractor = Ractor.new { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
      returned = now
      ran = ractor.public_send(result)
      [before, returned, ran, now]
    end
    [launch, NOTHING]
  end

  def forked(_request)
    reading, writing = IO.pipe(binmode: true)
    launch = lambda do
      before = now
      pid = Process.fork do
        writing.syswrite([now].pack("q"))
        exit!(0)
      end
      returned = now
      Process.wait(pid)
      ended = now
      [before, returned, reading.sysread(STAMP_BYTES).unpack1("q"), ended]
    end
    [launch, -> { [reading, writing].each(&:close) }]
  end
end
