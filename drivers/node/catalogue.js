// What this driver says of itself, its runtime and its workloads.
"use strict";
const v8 = require("v8");
const { VERSION, unitOf } = require("./answer");
const { RUNTIME_WARMUP_NS } = require("./measure");
const { AXES } = require("./request");

// Quantity -> its stage, and what it is.
const QUANTITIES = {
  call_returns_ns: ["call_returns", "until the call returns in the parent"],
  task_runs_ns: ["task_runs", "until the first instruction of the new task's own code"],
  image_entered_ns: ["image_entered", "until the entry of the new program's file, before its C library has set itself up"],
  image_runs_ns: ["image_runs", "until the first line of the new program's main"],
  image_ends_ns: ["image_ends", "until the last line of the new program's main"],
  reaped_ns: ["reaped", "until wait or join has returned"],
  result_ns: ["result", "until the caller has the result"],
  loop_blocked_ns: [null, "from before the call until the event loop has run another callback that was due"],
  collector_ns: [null, "pauses of the garbage collector within the launch, as the runtime says"],
};
const DETAILS = ["image_entered_ns", "image_ends_ns", "collector_ns"];

function describe(name, workloads) {
  const about = { name, version: VERSION, language: "JavaScript", linkage: null, protocol: 1, clocks: ["monotonic"] };
  const clock = Number(process.hrtime.bigint());
  const quantities = {};
  for (const [quantity, [stage, summary]] of Object.entries(QUANTITIES)) {
    quantities[quantity] = { unit: unitOf(quantity), stage, summary, signed: false, detail: DETAILS.includes(quantity) };
  }
  quantities.image_runs_ns.point = "main";
  return {
    driver: { ...about, clock_now_ns: clock, runtime: runtime() },
    axes: AXES,
    quantities,
    workloads: [...workloads.values()].map(entryOf),
    lacks: [],
  };
}

function runtime() {
  return {
    name: "Node.js",
    version: process.version.slice(1),
    flags: process.execArgv,
    v8: process.versions.v8,
    libuv: process.versions.uv,
    clock: "process.hrtime.bigint",
    warmup_ns: RUNTIME_WARMUP_NS,
    collector: `V8, heap of at most ${v8.getHeapStatistics().heap_size_limit} bytes`,
  };
}

function entryOf(workload) {
  return {
    id: workload.id,
    family: workload.family,
    summary: workload.summary,
    axes: workload.axes,
    temperatures: ["cold", "warm"],
    quantities: [...workload.stages.filter((stage) => !(stage in workload.nulls)), "collector_ns"],
    nulls: workload.nulls,
    call_returns_contains: workload.contains,
    available: true,
    reason: null,
    api: workload.api,
    launch_path: workload.path,
  };
}

module.exports = { describe };
