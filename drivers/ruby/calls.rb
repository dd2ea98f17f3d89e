# frozen_string_literal: true

require_relative "measure"

# A block that runs elsewhere: in a ractor, or in a fork.
#
# Timed: from before the call until it has returned, until the block's first line elsewhere, until its result is here and,
# for a process, until it has been waited for. Outside: storing the sample, making the pipe. Bias: a fork writes its first
# line's time into a pipe, which is a system call within `result_ns`. Beside busy threads the block also sleeps,
# which tells how long it waits for the lock.
module Calls
  STAGES = %w[call_returns_ns task_runs_ns result_ns].freeze
  STAMPS_BYTES = 16

  module_function

  def workloads
    {
      "worker" => Workload.new(
        family: "runtime_call", summary: "Ractor.new, its block returns at once, its value is taken",
        stages: [*STAGES, "lock_wait_ns"], prepare: method(:ractor), further_axes: %w[busy_threads], api: "Ractor.new"
      ),
      "fork" => Workload.new(
        family: "runtime_call", summary: "Process.fork, the child ends by exit!, Process.wait",
        stages: [*STAGES, "lock_wait_ns"], prepare: method(:forked), further_axes: %w[busy_threads],
        api: "Process.fork", launch_path: "fork"
      )
    }
  end

  # `take` became `value` in Ruby 4.
  def ractor(request)
    result = Ractor.method_defined?(:value) ? :value : :take
    beside_busy = request["busy_threads"].positive?
    launch = lambda do
      before = now
      ractor = Ractor.new(beside_busy) { |waits| [now, waits ? waited_for_lock : nil] }
      returned = now
      ran, waited = ractor.public_send(result)
      [before, returned, ran, now, waited && (before + waited)]
    end
    [launch, NOTHING]
  end

  def forked(request)
    reading, writing = IO.pipe(binmode: true)
    beside_busy = request["busy_threads"].positive?
    launch = lambda do
      before = now
      pid = Process.fork do
        ran = now
        writing.syswrite([ran, beside_busy ? waited_for_lock : 0].pack("qq"))
        exit!(0)
      end
      returned = now
      Process.wait(pid)
      ended = now
      ran, waited = reading.sysread(STAMPS_BYTES).unpack("qq")
      [before, returned, ran, ended, beside_busy ? before + waited : nil]
    end
    [launch, -> { [reading, writing].each(&:close) }]
  end
end
