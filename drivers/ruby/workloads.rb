# frozen_string_literal: true

# All workloads by their ids: the name of the driver, a dot, and the word that says what is launched.

require_relative "calls"
require_relative "commands"
require_relative "connections"
require_relative "exchanges"
require_relative "floor"
require_relative "threads"

# What is launched, how Ruby does it, and how it is timed.
#
# `prepare` takes the request and returns two functions. One launches, and returns when it began and its stages, in ns of
# the clock, nil for a stage that it lacks; the other tidies up. `api` is what is called, `launch_path` its line in the
# book of launch paths. `reason` says why it is unavailable here.
Workload = Struct.new(:family, :summary, :stages, :prepare, :further_axes, :nulls, :contains, :api, :launch_path,
                      :reason, :id, keyword_init: true) do
  def axes
    ["placement", "parent_bytes", *further_axes]
  end

  def description
    {
      id: id, family: family, summary: summary, axes: axes, temperatures: %w[cold warm],
      quantities: [*(stages - nulls.to_h.keys), "collector_ns"], nulls: nulls.to_h,
      call_returns_contains: contains, available: reason.nil?, reason: reason, api: api, launch_path: launch_path
    }
  end
end

def all_workloads(name)
  [Threads, Calls, Commands, Exchanges, Connections, Floor].flat_map { |group| group.workloads.to_a }.to_h do |word, workload|
    workload.id = "#{name}.#{word}"
    [workload.id, workload]
  end
end

NOTHING = -> {}
