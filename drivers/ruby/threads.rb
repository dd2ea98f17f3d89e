# frozen_string_literal: true

require_relative "measure"

# Threads of control: a thread of the operating system, and a fiber of the runtime.
#
# Timed: from before the thread or fiber is made until that has returned, until its block's first line, until join or
# resume has returned. Outside: storing the sample. Bias: a new thread waits for the interpreter's lock, which its creator
# gives up when it waits. CRuby keeps the native threads of ended Threads for a while (thread_pthread.c), so that only a cold
# launch is certain to contain pthread_create.
module Threads
  STAGES = %w[call_returns_ns task_runs_ns image_runs_ns reaped_ns].freeze
  NO_PROGRAM = { "image_runs_ns" => "no new program is started" }.freeze

  module_function

  def workloads
    {
      "os_thread" => Workload.new(
        family: "runtime_thread", summary: "Thread.new, its block returns, join; later launches reuse a native thread that ended",
        stages: [*STAGES, "lock_wait_ns"], prepare: method(:thread), nulls: NO_PROGRAM,
        further_axes: %w[stages busy_threads call_spin_ns stamp_spin_ns child_spin_ns],
        api: "Thread.new", launch_path: "thread"
      ),
      "task" => Workload.new(
        family: "runtime_thread", summary: "Fiber.new, resume, its block returns at once", stages: STAGES,
        prepare: method(:fiber), nulls: NO_PROGRAM, api: "Fiber.new"
      )
    }
  end

  def thread(request)
    call_spin_ns, stamp_spin_ns, child_spin_ns =
      %w[call_spin_ns stamp_spin_ns child_spin_ns].map { |axis| request[axis] }
    stamped = request["stages"] == "all"
    beside_busy = stamped && request["busy_threads"].positive?
    launch = lambda do
      ran = waited = nil
      before = now
      thread = Thread.new do
        spin(stamp_spin_ns) if stamp_spin_ns.positive?
        ran = now if stamped
        waited = waited_for_lock if beside_busy
        spin(child_spin_ns) if child_spin_ns.positive?
      end
      spin(call_spin_ns) if call_spin_ns.positive?
      returned = now
      thread.join
      ended = now
      [before, returned, ran, nil, ended, waited && (before + waited)]
    end
    [launch, NOTHING]
  end

  def fiber(_request)
    launch = lambda do
      before = now
      fiber = Fiber.new { now }
      returned = now
      ran = fiber.resume
      [before, returned, ran, nil, now]
    end
    [launch, NOTHING]
  end
end
