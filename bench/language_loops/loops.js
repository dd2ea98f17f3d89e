// The loop that anyone can check, of Node: `loops.js WHAT LAUNCHES` prints the ns per launch of 30 parts.
"use strict";
const { spawn } = require("child_process");
const path = require("path");
const { Worker } = require("worker_threads");

const PARTS = 30;
const WARMUP = { os_thread: 3, command: 20 };
const EMPTY = path.join(__dirname, "empty.js");

const os_thread = () =>
  new Promise((resolve, reject) => {
    const worker = new Worker(EMPTY);
    worker.once("error", reject);
    worker.once("exit", resolve);
  });

const command = () =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/true", [], { stdio: ["inherit", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("exit", resolve);
  });

async function main(what, launches) {
  const launch = module.exports[what];
  const each = Math.floor(launches / PARTS);
  const parts = [];
  for (let number = 0; number < WARMUP[what]; number++) await launch();
  for (let part = 0; part < PARTS; part++) {
    const began = process.hrtime.bigint();
    for (let number = 0; number < each; number++) await launch();
    parts.push(Number(process.hrtime.bigint() - began) / each);
  }
  console.log(parts.join(" "));
}

module.exports = { os_thread, command, PARTS, WARMUP };
if (require.main === module) main(process.argv[2], Number(process.argv[3]));
