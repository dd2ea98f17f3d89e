# frozen_string_literal: true

# The description of the driver, its runtime and its workloads.

require_relative "answer"
require_relative "request"

# Quantity -> its stage, and what it is.
QUANTITIES = {
  "call_returns_ns" => ["call_returns", "until the call returns in the parent"],
  "task_runs_ns" => ["task_runs", "until the first instruction of the new task's own code"],
  "image_entered_ns" => ["image_entered",
                         "until the entry of the new program's file, before its C library has set itself up"],
  "image_runs_ns" => ["image_runs", "until the first line of the new program's main"],
  "image_ends_ns" => ["image_ends", "until the last line of the new program's main"],
  "reaped_ns" => ["reaped", "until wait or join has returned"],
  "result_ns" => ["result", "until the caller has the result"],
  "lock_wait_ns" => [nil, "how much later than due the new task runs again after a sleep of 1 ms, for which it gives " \
                          "the runtime's lock up; null without busy threads"],
  "collector_ns" => [nil, "pauses of the garbage collector within the launch, as the runtime says"]
}.freeze
DETAILS = %w[image_entered_ns image_ends_ns collector_ns].freeze

# Nothing in the standard library does these.
LACKS = [
  { what: "a pool of threads or processes", reason: "Ruby's standard library has none" },
  { what: "an event loop", reason: "Ruby's standard library has no scheduler of fibers" }
].freeze

def describe(name, workloads)
  {
    driver: {
      name: name, version: VERSION, language: "Ruby", linkage: nil, protocol: 1, clocks: ["monotonic"],
      clock_now_ns: now, runtime: runtime
    },
    axes: AXES.transform_values { |entry| axis(*entry) },
    quantities: QUANTITIES.to_h { |quantity, entry| [quantity, about_quantity(quantity, *entry)] },
    workloads: workloads.values.map(&:description),
    lacks: LACKS
  }
end

def runtime
  {
    name: RUBY_ENGINE,
    version: RUBY_VERSION,
    build: RUBY_DESCRIPTION,
    flags: [],
    switch_interval_ns: switch_interval_ns,
    clock: "Process.clock_gettime(Process::CLOCK_MONOTONIC)",
    collector: "mark and sweep, generational, #{GC.respond_to?(:compact) ? 'able to compact' : 'not compacting'}"
  }
end

# How long CRuby lets a thread compute that others wait for (thread.c); from 3.4 on a variable changes it.
def switch_interval_ns
  return nil if RUBY_ENGINE != "ruby"

  variable = RUBY_VERSION >= "3.4" ? ENV["RUBY_THREAD_TIMESLICE"].to_i : 0
  (variable.positive? ? variable : 100) * 1_000_000
end

def axis(kind, default, summary)
  return { type: kind, default: default.first, values: default, summary: summary } if kind == :choice
  return { type: kind, default: default, summary: summary } if kind == :text

  { type: kind, default: default, minimum: default, summary: summary }
end

def about_quantity(name, stage, summary)
  about = { unit: unit_of(name), stage: stage, summary: summary, signed: false, detail: DETAILS.include?(name) }
  name == "image_runs_ns" ? { **about, point: "main" } : about
end
