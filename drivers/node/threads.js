// Threads of control: a Worker, which is an OS thread with an engine of its own, and a promise.
//
// Timed: from before the Worker is made, or the promise's function queued, until that has returned, until the first line
// there, until the event `exit`, or until await has returned. Outside: storing the sample. A Worker reads its file anew.
"use strict";
const path = require("path");
const { Worker } = require("worker_threads");
const { now, spin } = require("./measure");

const FAMILY = "runtime_thread";
const STAGES = ["call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"];
const NO_PROGRAM = { image_runs_ns: "no new program is started" };

function prepareThread(request) {
  const stamp = new BigInt64Array(new SharedArrayBuffer(8));
  const file = path.join(__dirname, "worker_once.js");
  const spins = { beforeStamp: request.stamp_spin_ns, beforeEnd: request.child_spin_ns };
  const workerData = { stamp, isStamped: request.stages === "all", ...spins };
  const launch = () =>
    new Promise((resolve, reject) => {
      const before = now();
      const worker = new Worker(file, { workerData });
      if (request.call_spin_ns > 0) spin(request.call_spin_ns);
      const returned = now();
      worker.once("error", reject);
      worker.once("exit", () => resolve([before, returned, workerData.isStamped ? stamp[0] : null, null, now()]));
    });
  return { launch };
}

function prepareTask() {
  const launch = async () => {
    const before = now();
    const task = Promise.resolve().then(now);
    const returned = now();
    const ran = await task;
    return [before, returned, ran, null, now()];
  };
  return { launch };
}

module.exports = {
  os_thread: {
    family: FAMILY,
    summary: "new Worker of a file that returns at once, its event exit",
    stages: STAGES,
    axes: ["stages", "call_spin_ns", "stamp_spin_ns", "child_spin_ns"],
    nulls: NO_PROGRAM,
    api: "worker_threads.Worker",
    path: "worker",
    prepare: prepareThread,
  },
  task: {
    family: FAMILY,
    summary: "a function queued by Promise.then, which returns at once, awaited",
    stages: STAGES,
    nulls: NO_PROGRAM,
    api: "Promise.then",
    prepare: prepareTask,
  },
};
