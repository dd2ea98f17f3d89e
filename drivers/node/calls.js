// A function that is run elsewhere: in a Worker or a process that waits for work, or in a new process.
//
// Timed: from before the message is sent, or the process made, until that has returned, until its first line there, until
// the answer is here and, where a process was made for it, that has ended. Outside: storing the sample. A cold launch
// contains making the Worker or process that waits.
"use strict";
const { fork } = require("child_process");
const path = require("path");
const { Worker } = require("worker_threads");
const { now } = require("./measure");

const FAMILY = "runtime_call";
const STAGES = ["call_returns_ns", "task_runs_ns", "result_ns"];
const FILE = path.join(__dirname, "echo.js");
const STDIO = ["ignore", "ignore", "inherit", "ipc"];

// `make` gives something with the event `message`, `post` sends it one.
function preparePool(make, post, close) {
  let other = null;
  let answered = null;
  const launch = () =>
    new Promise((resolve, reject) => {
      const before = now();
      let returned = null;
      answered = (answer) => resolve([before, returned, BigInt(answer), now()]);
      if (other === null) {
        other = make();
        other.on("message", (answer) => answered(answer));
        other.on("error", reject);
      }
      post(other);
      returned = now();
    });
  return { launch, close: () => other && close(other) };
}

function prepareProcess() {
  const launch = () =>
    new Promise((resolve, reject) => {
      let ran = null;
      const before = now();
      const child = fork(FILE, ["once"], { stdio: STDIO });
      const returned = now();
      child.once("error", reject);
      child.once("message", (answer) => {
        ran = BigInt(answer);
        child.disconnect();
      });
      child.once("exit", () => resolve([before, returned, ran, now()]));
    });
  return { launch };
}

module.exports = {
  thread_pool: {
    family: FAMILY,
    summary: "a message to a waiting Worker, which answers at once",
    stages: STAGES,
    api: "Worker.postMessage",
    prepare: () =>
      preparePool(
        () => new Worker(FILE),
        (worker) => worker.postMessage("when"),
        (worker) => worker.terminate(),
      ),
  },
  process_pool: {
    family: FAMILY,
    summary: "a message to a waiting forked process, which answers at once",
    stages: STAGES,
    api: "ChildProcess.send",
    prepare: () =>
      preparePool(
        () => fork(FILE, [], { stdio: STDIO }),
        (child) => child.send("when"),
        (child) => new Promise((resolve) => child.once("exit", resolve).disconnect()),
      ),
  },
  process_spawn: {
    family: FAMILY,
    summary: "child_process.fork of a file that sends one message, its end",
    stages: STAGES,
    api: "child_process.fork",
    path: "fork",
    prepare: prepareProcess,
  },
};
