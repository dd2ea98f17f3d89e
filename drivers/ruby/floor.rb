# frozen_string_literal: true

require_relative "measure"

# What the driver itself costs: the readings of a launch, with nothing launched.
#
# Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is part of
# each figure of this driver. Outside: storing the sample.
module Floor
  NOTHING_STARTED = "nothing is launched"

  module_function

  def workloads
    {
      "none" => Workload.new(
        family: "floor", summary: "the driver's own readings, with nothing launched", stages: Threads::STAGES,
        prepare: method(:none), nulls: { "task_runs_ns" => NOTHING_STARTED, "image_runs_ns" => NOTHING_STARTED },
        api: "Process.clock_gettime"
      )
    }
  end

  def none(_request)
    launch = lambda do
      before = now
      returned = now
      [before, returned, nil, nil, now]
    end
    [launch, NOTHING]
  end
end
