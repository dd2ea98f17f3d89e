// As heap.py. The launcher is a small process, made before the heap, that launches on request.
"use strict";
const { fork, spawn, spawnSync } = require("child_process");
const fs = require("fs");
const readline = require("readline");

const PROGRAM = "/bin/true";
const now = process.hrtime.bigint;
const isBuffer = process.env.HEAP === "buffer";

if (process.argv[2] === "launched") {
  process.on("message", () => spawn(PROGRAM, [], { stdio: "ignore" }).once("exit", () => process.send("ended")));
} else {
  main();
}

function ended(of, event) {
  return new Promise((resolve) => of.once(event, resolve));
}

function launches(launcher) {
  return {
    spawn: () => ended(spawn(PROGRAM, [], { stdio: "ignore" }), "exit"),
    spawnSync: () => spawnSync(PROGRAM, [], { stdio: "ignore" }),
    launcher: () => {
      const answered = ended(launcher, "message");
      launcher.send("launch");
      return answered;
    },
  };
}

// Small integers; or memory outside V8's heap.
function heapOf(bytes) {
  if (isBuffer) return [Buffer.alloc(bytes, 1)];
  return Array.from({ length: Math.floor(bytes / 1024) }, (_, number) => new Array(124).fill(number));
}

function write(heap, number) {
  if (isBuffer) {
    for (let at = 0; at < heap[0].length; at += 1024) heap[0][at] = number;
  } else {
    for (const each of heap) each[0] = number;
  }
}

async function main() {
  // Only programs with a Buffer are asked to use it.
  const launcher = isBuffer ? fork(__filename, ["launched"]) : null;
  const apis = launches(launcher);
  const heap = heapOf(Number(process.argv[2]));
  fs.writeSync(1, "ready\n");
  let number = 0;
  for await (const word of readline.createInterface({ input: process.stdin })) {
    if (word === "write") {
      write(heap, number++);
      fs.writeSync(1, "written\n");
      continue;
    }
    const began = now();
    const running = apis[word]();
    const returned = now();
    await running;
    fs.writeSync(1, `${returned - began} ${now() - began}\n`);
  }
  if (launcher) launcher.disconnect();
}
