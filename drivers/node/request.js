// What the runner asks for: the measuring keys and the axes, each checked.
"use strict";
const fs = require("fs");
const path = require("path");

// A key or a value that cannot be meant: the answer is `failed`.
class Refusal extends Error {}
// What this machine cannot do: the answer is `skipped`.
class Skip extends Error {}

const MOST_SAMPLES = 10_000_000;
const MOST_BLOCKS = 10_000;

const choice = (values, summary) => ({ type: "choice", default: values[0], values, summary });
const count = (summary) => ({ type: "count", default: 0, minimum: 0, summary });
const bytes = (least, summary) => ({ type: "bytes", default: least, minimum: least, summary });

// As the probe has them (docs/protocol.md).
const AXES = {
  placement: choice(["pinned", "free"], "parent and child on one CPU, or where the scheduler puts them"),
  stages: choice(["all", "parent"], "all stages, or the parent's stamps only (the new task stamps nothing)"),
  parent_bytes: bytes(0, "objects of the runtime that the parent holds before it launches, in bytes"),
  heap_kind: choice(["objects", "buffer"], "what they are: objects in V8's heap, which forks leave out, or Buffers, which they copy"),
  env_bytes: bytes(0, "size of the new program's environment, filled with variables of 150 bytes; 0: unchanged"),
  message_bytes: bytes(1, "size of a message"),
  program: {
    type: "text",
    default: "target_static",
    summary: "what is started: one of our targets, or any path; arguments follow after colons",
  },
  call_spin_ns: count("known answer: the parent spins this long after its call, before its stamp"),
  stamp_spin_ns: count("known answer: the new task spins this long before its stamp"),
  child_spin_ns: count("known answer: the new task spins this long before it exits"),
};
const COUNTS = { samples: 200, blocks: 3, warmup: 20, block_limit_ns: 0, cpu: -1 };
const TEXTS = { temperatures: "warm", clock: "monotonic", targets: ".", workload: "" };

// The one CPU that this process may use; null where it may use several.
function onlyCpu() {
  const [, allowed] = fs.readFileSync("/proc/self/status", "utf8").match(/^Cpus_allowed_list:\s*(\S+)/m);
  return /^[0-9]+$/.test(allowed) ? Number(allowed) : null;
}

function readRequest(words, workloads) {
  const request = { ...COUNTS, ...TEXTS };
  for (const axis of Object.keys(AXES)) request[axis] = AXES[axis].default;
  const given = new Set();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 0) throw new Refusal(`'${word}' is not key=value`);
    const key = word.slice(0, equals);
    if (!Object.hasOwn(request, key)) throw new Refusal(`unknown key '${key}'`);
    given.add(key);
    request[key] = valueOf(key, word.slice(equals + 1));
  }
  check(request, given, workloads);
  return request;
}

function valueOf(key, text) {
  const axis = AXES[key];
  if (axis && axis.type === "choice" && !axis.values.includes(text)) throw new Refusal(`${key} has no value '${text}'`);
  if (key in TEXTS || (axis && (axis.type === "choice" || axis.type === "text"))) return text;
  if (!/^[0-9]{1,15}$/.test(text)) throw new Refusal(`${key}=${text}: not a whole number from 0`);
  return Number(text);
}

function check(request, given, workloads) {
  if (!request.workload) throw new Refusal("workload is missing");
  const workload = workloads.get(request.workload);
  if (!workload) throw new Refusal(`there is no workload '${request.workload}'`);
  for (const axis of Object.keys(AXES)) {
    if (given.has(axis) && !workload.axes.includes(axis)) throw new Refusal(`${workload.id} has no axis '${axis}'`);
  }
  if (!["cold", "warm", "cold,warm"].includes(request.temperatures)) {
    throw new Refusal(`temperatures=${request.temperatures}: must be cold, warm or cold,warm`);
  }
  if (request.clock !== "monotonic") throw new Refusal(`clock=${request.clock}: Node.js reads monotonic alone`);
  for (const [key, most] of [["samples", MOST_SAMPLES], ["blocks", MOST_BLOCKS], ["message_bytes", 2 ** 28]]) {
    if (request[key] < 1 || request[key] > most) throw new Refusal(`${key}=${request[key]}: from 1 to ${most}`);
  }
  request.workload = workload;
  request.pinnedTo = request.placement === "pinned" ? onlyCpu() : null;
  if (request.placement === "pinned" && (request.pinnedTo === null || ![-1, request.pinnedTo].includes(request.cpu))) {
    throw new Skip(request.cpu < 0 ? "no CPU was chosen to pin it to" : `CPU ${request.cpu} cannot be used`);
  }
  setProgram(request);
}

// The words of the program that is started. Ours are told where to leave their timestamps.
function setProgram(request) {
  const words = request.program.split(/(?<!\\):/).map((word) => word.replace(/\\(.)/g, "$1"));
  request.isTarget = !words[0].includes("/");
  if (request.isTarget) words.splice(0, 1, path.join(request.targets, words[0]), "m0:0");
  [request.file, ...request.words] = words;
  request.environment = undefined;
  if (request.env_bytes > 0) {
    request.environment = {};
    for (let number = 0; number < Math.ceil(request.env_bytes / 150); number++) {
      const name = "CLONOMETER_FILL" + String(number).padStart(6, "0");
      request.environment[name] = "x".repeat(150 - name.length - 2);
    }
  }
}

module.exports = { AXES, Refusal, Skip, readRequest };
