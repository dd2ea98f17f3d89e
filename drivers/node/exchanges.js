// Data handed over and back: to a Worker, which gets a copy (structured clone), and to a process, over its channel as JSON.
//
// Timed: from before a text is sent until the same has come back. Outside: making the text, starting the other one.
"use strict";
const { fork } = require("child_process");
const path = require("path");
const { Worker } = require("worker_threads");
const { now } = require("./measure");

const FAMILY = "runtime_data";
const STAGES = ["call_returns_ns", "result_ns"];
const FILE = path.join(__dirname, "echo.js");

async function prepare(request, other, post, close) {
  // It has started when it has answered once.
  const ready = new Promise((resolve) => other.once("message", resolve));
  post("when");
  await ready;
  const data = "x".repeat(request.message_bytes);
  const launch = () =>
    new Promise((resolve) => {
      let returned = null;
      other.once("message", () => resolve([before, returned, now()]));
      const before = now();
      post(data);
      returned = now();
    });
  return { launch, close };
}

function prepareThread(request) {
  const worker = new Worker(FILE);
  return prepare(
    request,
    worker,
    (data) => worker.postMessage(data),
    () => worker.terminate(),
  );
}

function prepareProcess(request) {
  const child = fork(FILE, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  return prepare(
    request,
    child,
    (data) => child.send(data),
    () => new Promise((resolve) => child.once("exit", resolve).disconnect()),
  );
}

module.exports = {
  exchange_thread: {
    family: FAMILY,
    summary: "postMessage of a text of message_bytes to a Worker and back, copied",
    stages: STAGES,
    axes: ["message_bytes"],
    api: "Worker.postMessage",
    prepare: prepareThread,
  },
  exchange_process: {
    family: FAMILY,
    summary: "ChildProcess.send of a text of message_bytes and back, as JSON",
    stages: STAGES,
    axes: ["message_bytes"],
    api: "ChildProcess.send",
    prepare: prepareProcess,
  },
};
