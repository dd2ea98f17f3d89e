// As heap.py. The launcher is a small process, made before the heap, that launches on request.
"use strict";
const { fork, spawn, spawnSync } = require("child_process");
const fs = require("fs");

const PROGRAM = "/bin/true";
const now = process.hrtime.bigint;
const [, , api, size, launches] = process.argv;

if (api === "launched") {
  process.on("message", () => spawn(PROGRAM, [], { stdio: "ignore" }).once("exit", () => process.send("ended")));
} else {
  main();
}

function ended(of, event) {
  return new Promise((resolve) => of.once(event, resolve));
}

function launchers() {
  const launcher = api === "launcher" ? fork(__filename, ["launched"]) : null;
  return {
    launcher,
    spawn: () => ended(spawn(PROGRAM, [], { stdio: "ignore" }), "exit"),
    spawnSync: () => spawnSync(PROGRAM, [], { stdio: "ignore" }),
    ask: () => {
      const answered = ended(launcher, "message");
      launcher.send("launch");
      return answered;
    },
  };
}

// Small integers; or memory outside V8's heap.
function heapOf(bytes) {
  if (process.env.HEAP === "buffer") return [Buffer.alloc(bytes, 1)];
  return Array.from({ length: Math.floor(bytes / 1024) }, (_, number) => new Array(124).fill(number));
}

function write(heap, number) {
  if (process.env.HEAP === "buffer") {
    for (let at = 0; at < heap[0].length; at += 1024) heap[0][at] = number;
  } else {
    for (const each of heap) each[0] = number;
  }
}

async function main() {
  const all = launchers();
  const launch = api === "launcher" ? all.ask : all[api];
  const heap = heapOf(Number(size));
  fs.writeSync(1, "ready\n");
  fs.readSync(0, Buffer.alloc(16));
  await launch();
  for (const kind of ["written", "untouched"]) {
    for (let number = 0; number < Number(launches); number++) {
      if (kind === "written") write(heap, number);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const began = now();
      const running = launch();
      const returned = now();
      await running;
      fs.writeSync(1, `${kind} ${returned - began} ${now() - began}\n`);
    }
  }
  if (all.launcher) all.launcher.disconnect();
}
