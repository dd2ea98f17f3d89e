// Blocks of launches: the clock, the columns, the heap, and the collector's pauses.
"use strict";
const { spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { PerformanceObserver, performance } = require("perf_hooks");
const v8 = require("v8");
const { NULL_32, NULL_64 } = require("./answer");
const { Skip } = require("./request");

const LATER_WARMUP = 3;
const FEWEST_SAMPLES = 3;
const SETTLE_MS = 1;
// V8 compiles what has run some ten thousand times: a task of 0.5 us takes half as long from then on.
const RUNTIME_WARMUP_NS = 100_000_000;
// Pauses are reported by the event loop some time after they were.
const REPORTED_AFTER_MS = 5;
// An object of the heap: an array of small integers, 8 bytes each.
const OBJECT_BYTES = 1024;
const OBJECT_ENTRIES = OBJECT_BYTES / 8 - 4;
// Older versions have no larger Buffers.
const MOST_BUFFER_BYTES = 2 ** 30;

// CLOCK_MONOTONIC, as uv_hrtime() reads it.
const now = process.hrtime.bigint;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function spin(duration) {
  const end = now() + BigInt(duration);
  while (now() < end);
}

// What the parent holds; both kinds are written, since memory that was never written is not copied.
function heapOf({ parent_bytes: size, heap_kind: kind }) {
  if (size > os.freemem()) throw new Skip(`parent_bytes=${size}: more than the ${os.freemem()} bytes that are free`);
  if (kind === "buffer") {
    const whole = new Array(Math.floor(size / MOST_BUFFER_BYTES)).fill(MOST_BUFFER_BYTES);
    return [...whole, size % MOST_BUFFER_BYTES].map((bytes) => Buffer.alloc(bytes, 1));
  }
  const { heap_size_limit: limit, used_heap_size: used } = v8.getHeapStatistics();
  if (size > limit - used) {
    throw new Skip(`parent_bytes=${size}: the heap of V8 has room for ${limit - used}; heap_kind=buffer is not in it`);
  }
  return Array.from({ length: Math.floor(size / OBJECT_BYTES) }, (_, number) => new Array(OBJECT_ENTRIES).fill(number));
}

// Pauses of the collector, each with its begin and its length on the clock of launches.
class Collector {
  constructor() {
    this.pauses = [];
    const clock = now();
    const offset = clock - BigInt(Math.round(performance.now() * 1e6));
    this.observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) {
        this.pauses.push([offset + BigInt(Math.round(startTime * 1e6)), BigInt(Math.round(duration * 1e6))]);
      }
    });
    this.observer.observe({ entryTypes: ["gc"] });
  }

  // The sum of pauses that began between two readings of the clock. Both kinds are in order: `from` is the first to look at.
  within(begin, end, from) {
    let sum = 0n;
    let index = from;
    for (; index < this.pauses.length && this.pauses[index][0] < end; index++) {
      if (this.pauses[index][0] >= begin) sum += this.pauses[index][1];
    }
    return [sum, index];
  }
}

async function measure(request) {
  const heap = heapOf(request);
  const collector = new Collector();
  const { launch, close } = await request.workload.prepare(request);
  const blocks = [];
  if (request.temperatures.includes("cold")) blocks.push(await measureBlock(request, "cold", 1, launch, collector));
  for (let number = 0; number < (request.temperatures.includes("warm") ? request.blocks : 0); number++) {
    await sleep(SETTLE_MS);
    if (number === 0) await warmUp(request, launch, request.warmup, RUNTIME_WARMUP_NS);
    else await warmUp(request, launch, Math.min(request.warmup, LATER_WARMUP), 0);
    blocks.push(await measureBlock(request, "warm", request.samples, launch, collector));
  }
  if (close) await close();
  if (heap.length > request.parent_bytes + 1) throw new Error("the heap is used to here");
  return blocks;
}

// Launches so often, or until the limit of a block is reached, but at least for so long. With 0 launches there is no warm-up.
async function warmUp(request, launch, launches, leastNs) {
  const began = now();
  for (let number = 0; launches > 0; number++) {
    const lasted = Number(now() - began);
    const isOver = number >= launches || (request.block_limit_ns > 0 && lasted > request.block_limit_ns);
    if (isOver && lasted >= leastNs) return;
    await launch().catch(() => {});
  }
}

// `launch` gives an array: when it began, then its stages, null for one that there is not.
async function measureBlock(request, temperature, rows, launch, collector) {
  const stages = request.workload.stages;
  const columns = {};
  for (const name of ["start_ns", ...stages, "collector_ns"]) columns[name] = new BigInt64Array(rows);
  for (const name of ["cpu_before", "cpu_after", "cpu_child", "errno"]) columns[name] = new Int32Array(rows);
  const limit = BigInt(request.block_limit_ns);
  const created = tasksCreated();
  const before = process.resourceUsage();
  const began = now();
  let filled = 0;
  while (filled < rows) {
    let stamps;
    try {
      stamps = await launch();
    } catch (error) {
      stamps = [now(), ...stages.map(() => null)];
      columns.errno[filled] = Math.abs(error.errno || os.constants.errno.EIO);
    }
    columns.start_ns[filled] = stamps[0] - began;
    for (let stage = 0; stage < stages.length; stage++) {
      const stamp = stamps[stage + 1];
      columns[stages[stage]][filled] = stamp === null ? NULL_64 : stamp - stamps[0];
    }
    filled++;
    if (limit > 0n && filled >= FEWEST_SAMPLES && now() - began > limit) break;
  }
  const wall = now() - began;
  const after = process.resourceUsage();
  const tasks = created < 0 ? -1 : tasksCreated() - created;
  for (const name of Object.keys(columns)) columns[name] = columns[name].subarray(0, filled);
  await sleep(REPORTED_AFTER_MS);
  const collections = fillPauses(columns, began, collector);
  fillCpus(columns, request);
  const facts = { ...factsOf(request, wall, began, before, after), collections, tasks_created: tasks };
  return { temperature, rows: filled, columns, facts };
}

function fillPauses(columns, began, collector) {
  let from = 0;
  for (let row = 0; row < columns.start_ns.length; row++) {
    const start = began + columns.start_ns[row];
    const end = row + 1 < columns.start_ns.length ? began + columns.start_ns[row + 1] : now();
    [columns.collector_ns[row], from] = collector.within(start, end, from);
  }
  return collector.pauses.filter(([begin]) => begin >= began).length;
}

function fillCpus(columns, request) {
  const cpu = request.pinnedTo === null ? NULL_32 : request.pinnedTo;
  columns.cpu_before.fill(cpu);
  columns.cpu_after.fill(cpu);
  const isStamped = "task_runs_ns" in columns && columns.task_runs_ns[0] !== NULL_64;
  columns.cpu_child.fill(isStamped ? cpu : NULL_32);
}

function factsOf(request, wall, began, before, after) {
  const grown = (name) => after[name] - before[name];
  return {
    wall_ns: Number(wall),
    start_ticks: Number(began),
    minor_faults: grown("minorPageFault"),
    major_faults: grown("majorPageFault"),
    voluntary_switches: grown("voluntaryContextSwitches"),
    involuntary_switches: grown("involuntaryContextSwitches"),
    cpu_ns: (grown("userCPUTime") + grown("systemCPUTime")) * 1000,
    effective_mhz: frequencies(request),
  };
}

// How many tasks the whole machine has created since it started; -1 where the kernel does not count them.
function tasksCreated() {
  try {
    const found = /^processes (\d+)$/m.exec(fs.readFileSync("/proc/stat", "utf8"));
    return Number(found && found[1]) || -1;
  } catch {
    return -1;
  }
}

// The effective MHz of the CPU that launched, by the tether; where it may be any, of none.
function frequencies(request) {
  if (request.pinnedTo === null) return {};
  const tether = path.join(request.targets, "clonometer-tether");
  const printed = spawnSync(tether, ["--mhz", String(request.pinnedTo)], { stdio: ["ignore", "pipe", "ignore"] });
  const [cpu, mhz] = String(printed.stdout || "").split(/\s+/);
  return Number(mhz) > 0 ? { [cpu]: Number(mhz) } : {};
}

module.exports = { RUNTIME_WARMUP_NS, measure, now, spin };
