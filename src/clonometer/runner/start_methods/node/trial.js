// A program of the user's that starts workers by METHOD: what that costs, and what breaks; in any Node.js from 16 on.
//
// It is loaded before the user's code, which Node.js runs itself: `node -r trial.js -e 'CODE;clonometerTrial()' -- METHOD
// times|cases DESCRIPTOR`. Workers run the same code, then serve calls. What is seen goes to the descriptor as lines of
// JSON, at once: where it hangs, the last line says in what.
//
// The interval of a start ends when the program has the worker's first result, and contains handing over the data: as
// JSON to a process, as a structured clone to a thread, by reference within the program. All times are of one clock in
// one process.
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
const { isMainThread, parentPort, Worker, workerData } = require("worker_threads");

const { CLONOMETER_START_CODE: CODE, CLONOMETER_START_ROLE: ROLE, CLONOMETER_START_PROGRAM: PROGRAM } = process.env;
const [DATA_MB, WORKERS] = ["DATA_MB", "WORKERS"].map((name) => Number(process.env[`CLONOMETER_START_${name}`]));
const [LATER, TASKS, RECORD_BYTES] = [5, 200, 1024];
const [LIMIT_MS, CASE_LIMIT_MS, COMPUTED_NS] = [60000, 3000, 20e6];
const HIGH_DESCRIPTOR = 200;
const HOOK = "\n;globalThis.clonometerTrial();";
const WORKER = "worker";

const now = process.hrtime.bigint;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const began = now();
let importNs = 0;
let resolveName = null;

class FailedError extends Error {}
const described = (error) => (error instanceof FailedError ? error.message : String(error)).replace(/\s+/g, " ").slice(0, 300);

// What workers can be asked to do. The data are distinct strings of a kilobyte each.
const makeData = () => Array.from({ length: DATA_MB * 1024 }, (_, number) => String(number).padEnd(RECORD_BYTES, "."));
const look = (data) => data.reduce((sum, each) => sum + each.length + each.charCodeAt(0), 0);
let kept = [];
let server = null;

class Point {
  constructor(x) {
    this.x = x;
  }

  double() {
    return 2 * this.x;
  }
}

function compute(loops) {
  let sum = 0;
  for (let number = 0; number < loops; number++) sum = (sum * 31 + number) % 1000003;
  return sum;
}

function listenAt(address) {
  return new Promise((resolve, reject) => {
    server = require("net").createServer();
    server.once("error", reject).once("listening", () => resolve(true));
    server.listen({ path: address });
  });
}

const temporary = () => path.join(os.tmpdir(), `clonometer-${process.pid}-${now()}`);

const CALLS = {
  look,
  keep: (data) => (kept = data).length,
  lookAtKept: async (milliseconds) => {
    const total = look(kept);
    await sleep(milliseconds);
    return total;
  },
  nothing: (number) => number,
  compute,
  callFunction: (given) => (typeof given === "function" ? given() : `it arrived as ${JSON.stringify(given)}`),
  callMethod: (point) => (typeof point.double === "function" ? point.double() : `it arrived as ${JSON.stringify(point)}`),
  readState: () => globalThis.clonometerState || "",
  writeBuffer: (buffer) => (buffer instanceof SharedArrayBuffer ? (new Uint8Array(buffer)[0] = 7) : 0),
  listenAt,
  greet: (connection) => void connection.end("!"),
  writeByte: (descriptor) => fs.writeSync(descriptor, "!"),
  changeFolder: (folder) => process.chdir(folder),
};

// In a worker: do what is asked, until nobody can ask any more.
function serve() {
  const answer = isMainThread ? (reply) => process.send(reply) : (reply) => parentPort.postMessage(reply);
  (isMainThread ? process : parentPort).on("message", async ({ id, name, given }, handle) => {
    try {
      answer({ id, good: true, value: await CALLS[name](...given, handle) });
    } catch (error) {
      answer({ id, good: false, value: described(error) });
    }
  });
  if (isMainThread) answer({ ready: true });
}

// A call waits for its answer no longer than its limit, and not once its worker has ended.
class Calls {
  constructor(what) {
    this.what = what;
    this.waiting = new Map();
    this.last = 0;
  }

  answer({ id, good, value }) {
    const [resolve, reject] = this.waiting.get(id);
    this.waiting.delete(id);
    if (good) resolve(value);
    else reject(new FailedError(value));
  }

  end(why) {
    for (const [, reject] of this.waiting.values()) reject(new FailedError(why));
    this.waiting.clear();
    this.ended = why;
  }

  send(post, limit) {
    if (this.ended) return Promise.reject(new FailedError(this.ended));
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const late = () => reject(new FailedError(`no result within ${limit / 1000} s`));
      const timer = setTimeout(late, limit);
      const cleared = (then) => (value) => {
        clearTimeout(timer);
        then(value);
      };
      this.waiting.set(id, [cleared(resolve), cleared(reject)]);
      try {
        post(id);
      } catch (error) {
        cleared(reject)(error);
      }
    });
  }
}

class InlineWorker {
  async call(name, given, limit, handle) {
    return CALLS[name](...given, handle);
  }

  async end() {
    if (server) server.close();
  }
}

class ThreadWorker {
  constructor() {
    this.calls = new Calls();
    const [code, options] = workerCode();
    this.worker = new Worker(code, { ...options, workerData: WORKER });
    this.worker.on("message", (reply) => this.calls.answer(reply));
    this.worker.on("error", (error) => this.calls.end(`the worker ended by ${described(error)}`));
    this.worker.on("exit", (status) => this.calls.end(`the worker ended with status ${status}`));
  }

  call(name, given, limit, handle) {
    // A handle is no argument of postMessage: it can only be part of the message.
    const all = handle ? [...given, handle] : given;
    return this.calls.send((id) => this.worker.postMessage({ id, name, given: all }), limit);
  }

  async end() {
    await this.worker.terminate();
  }
}

// A process by child_process.fork or cluster.fork: both have the same channel.
class ProcessWorker {
  constructor(child) {
    this.calls = new Calls();
    this.child = child;
    // What a worker of a cluster is sent before it listens is lost.
    this.ready = child.process ? new Promise((resolve) => (this.begin = resolve)) : Promise.resolve();
    this.gone = new Promise((resolve) => child.once("exit", resolve));
    child.on("message", (reply) => (reply.ready ? this.begin && this.begin() : this.calls.answer(reply)));
    child.on("error", (error) => this.calls.end(described(error)));
    child.once("exit", (status, signal) => this.calls.end(`the worker ended with ${signal || `status ${status}`}`));
  }

  call(name, given, limit, handle) {
    const post = (id) => this.child.send({ id, name, given }, handle);
    return this.calls.send((id) => (this.begin ? this.ready.then(() => post(id)) : post(id)), limit);
  }

  async end() {
    (this.child.process || this.child).kill("SIGKILL");
    await this.gone;
  }
}

const STARTS = {
  inline: () => new InlineWorker(),
  thread: () => new ThreadWorker(),
  fork: () => new ProcessWorker(require("child_process").fork(WORKER, [], forkOptions())),
  cluster: () => {
    const cluster = require("cluster");
    const { execArgv, env } = forkOptions();
    (cluster.setupPrimary || cluster.setupMaster)({ exec: WORKER, args: [], execArgv });
    return new ProcessWorker(cluster.fork(env));
  },
};

function forkOptions() {
  const [, ...options] = JSON.parse(PROGRAM);
  const env = { ...process.env, CLONOMETER_START_ROLE: WORKER };
  return { execArgv: [...options, "-r", __filename, "-e", CODE + HOOK], env };
}

// A worker has no folder from which names of ES modules could be resolved: they are resolved here.
function workerCode() {
  if (typeof globalThis.module !== "undefined") return [CODE + HOOK, { eval: true }];
  if (!resolveName) throw new FailedError("an ES module by -e in a worker needs Node.js 20.6 or later");
  const names = /\b(from|import)(\s*)(["'])([^"'\n]+)\3/g;
  const code = CODE.replace(names, (_, word, space, quote, name) => `${word}${space}${quote}${resolveName(name)}${quote}`);
  return [new URL(`data:text/javascript,${encodeURIComponent(code + HOOK)}`), {}];
}

async function timed(start, given, limit) {
  const before = now();
  const worker = start();
  try {
    const value = await worker.call("look", given, limit);
    return [value, Number(now() - before)];
  } finally {
    await worker.end();
  }
}

// PSS and private memory in bytes of all processes of this session, of which this one is the leader; null: unreadable.
function memory() {
  const total = { Pss: 0, Private_Clean: 0, Private_Dirty: 0, Private_Hugetlb: 0 };
  for (const pid of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = fs.readFileSync(`/proc/${pid}/stat`, "latin1").split(")").pop().trim().split(" ");
      if (Number(fields[3]) !== process.pid || fields[0] === "Z") continue;
      for (const line of fs.readFileSync(`/proc/${pid}/smaps_rollup`, "latin1").split("\n")) {
        const [name, kilobytes] = line.split(/:\s+/);
        if (name in total) total[name] += parseInt(kilobytes, 10) * 1024;
      }
    } catch (error) {
      // It has ended, unless this kernel has no such file.
      if (!["ENOENT", "ESRCH"].includes(error.code) || Number(pid) === process.pid) return {};
    }
  }
  const { Pss, ...others } = total;
  return { memory_bytes: Pss, private_bytes: Object.values(others).reduce((sum, each) => sum + each) };
}

// How many turns of the loop take 20 ms here, once it is compiled.
function loopsOfTask() {
  const spent = (loops) => {
    const before = now();
    compute(loops);
    return Number(now() - before);
  };
  let loops = 1 << 20;
  spent(loops);
  while (spent(loops) < COMPUTED_NS) loops *= 2;
  return Math.round((loops * COMPUTED_NS) / Math.min(spent(loops), spent(loops)));
}

async function measurePool(start, data, isInline, say) {
  const before = now();
  const workers = [];
  try {
    for (let number = 0; number < (isInline ? 1 : WORKERS); number++) workers.push(start());
    const ready = workers.map((each) => each.call("keep", [data], LIMIT_MS));
    await ready[0];
    await workers[0].call("lookAtKept", [0], LIMIT_MS);
    say({ ...(isInline ? {} : { pool_ns: Number(now() - before) }), step: "all workers of the pool" });
    await Promise.all(ready);
    await Promise.all(workers.map((each) => each.call("lookAtKept", [100], LIMIT_MS)));
    say({ ...memory(), step: "the tasks of the pool" });
    const began_tasks = now();
    const calls = (each, at) => each.call("nothing", [at], LIMIT_MS);
    for (let at = 0; at < TASKS; at += workers.length) await Promise.all(workers.map((each) => calls(each, at)));
    say({ task_ns: Number(now() - began_tasks) / (Math.ceil(TASKS / workers.length) * workers.length) });
    const loops = loopsOfTask();
    const turns = () => Array.from({ length: WORKERS }, (_, at) => workers[at % workers.length].call("compute", [loops], LIMIT_MS));
    await Promise.all(turns());
    const began_computing = now();
    await Promise.all(turns());
    say({ compute_ns: Number(now() - began_computing), step: "the end of the pool" });
  } finally {
    await Promise.all(workers.map((each) => each.end()));
  }
}

async function measureTimes(method, say) {
  say({ step: "making the data" });
  const data = makeData();
  const wanted = look(data);
  say({ imports_ns: importNs, threads: fs.readdirSync("/proc/self/task").length, step: "the first worker" });
  const times = [];
  for (let turn = 0; turn <= LATER; turn++) {
    const [value, ns] = await timed(STARTS[method], [data], LIMIT_MS);
    if (value !== wanted) throw new FailedError("the worker saw other data");
    times.push(ns);
    say({ step: `worker ${turn + 2}` });
  }
  say({ first_ns: times[0], later_ns: times.slice(1).sort((a, b) => a - b)[LATER >> 1], step: "the pool" });
  await measurePool(STARTS[method], data, method === "inline", say);
}

const wanted = (value, expected, otherwise) => {
  if (value !== expected) throw new FailedError(otherwise || `without an error: ${value}`);
};

async function withTwoAtOneAddress(call, start) {
  const address = temporary();
  const other = start();
  try {
    await call("listenAt", [address]);
    await other.call("listenAt", [address], CASE_LIMIT_MS);
  } finally {
    await other.end();
    fs.rmSync(address, { force: true });
  }
}

// The program accepts a connection, which the worker answers.
async function withConnection(call) {
  const address = temporary();
  await listenAt(address);
  const accepted = new Promise((resolve) => server.once("connection", resolve));
  const client = require("net").connect(address);
  try {
    const answer = new Promise((resolve) => client.once("data", (data) => resolve(String(data))));
    await call("greet", [], await accepted);
    wanted(await Promise.race([answer, sleep(CASE_LIMIT_MS)]), "!", "the worker's answer did not arrive");
  } finally {
    client.destroy();
    server.close();
    fs.rmSync(address, { force: true });
  }
}

async function withDescriptor(call) {
  const file = temporary();
  const opened = [];
  try {
    // So high that the worker has no other file there.
    do opened.push(fs.openSync(file, "w+"));
    while (opened[opened.length - 1] < HIGH_DESCRIPTOR);
    await call("writeByte", [opened[opened.length - 1]]);
    wanted(fs.readFileSync(file, "latin1"), "!", "nothing arrived");
  } finally {
    opened.forEach((each) => fs.closeSync(each));
    fs.rmSync(file, { force: true });
  }
}

async function withFolder(call) {
  const folder = process.cwd();
  try {
    await call("changeFolder", ["/"]);
    wanted(process.cwd(), folder, "the folder of the whole program has changed");
  } finally {
    process.chdir(folder);
  }
}

const CASES = {
  function: async (call) => wanted(await call("callFunction", [() => 42]), 42),
  class: async (call) => wanted(await call("callMethod", [new Point(21)]), 42),
  state: async (call) => {
    globalThis.clonometerState = "changed";
    wanted(await call("readState", []), "changed", "without an error, the worker saw the value that the import gives");
  },
  buffer: async (call) => {
    const buffer = new SharedArrayBuffer(8);
    await call("writeBuffer", [buffer]);
    wanted(new Uint8Array(buffer)[0], 7, "without an error: what the worker has is no SharedArrayBuffer");
  },
  connection: withConnection,
  address: withTwoAtOneAddress,
  descriptor: withDescriptor,
  chdir: withFolder,
};

async function tryCases(method, say) {
  // A worker imports before it answers.
  const limit = CASE_LIMIT_MS + Math.round((3 * importNs) / 1e6);
  for (const [name, attempt] of Object.entries(CASES)) {
    say({ step: name });
    let worker = null;
    try {
      worker = STARTS[method]();
      await attempt((call, given, handle) => worker.call(call, given, limit, handle), STARTS[method]);
      say({ case: name, outcome: "works", words: null });
    } catch (error) {
      say({ case: name, outcome: "breaks", words: described(error) });
    }
    if (worker) await worker.end();
  }
}

async function main([method, what, descriptor]) {
  // What the user's module prints is no answer, and a worker must not keep the pipe open.
  const sink = fs.openSync(`/proc/self/fd/${descriptor}`, "w");
  fs.closeSync(Number(descriptor));
  const say = (values) => fs.writeSync(sink, `${JSON.stringify(values)}\n`);
  say({ step: "the start" });
  try {
    await (what === "times" ? measureTimes : tryCases)(method, say);
    say({ done: true });
  } catch (error) {
    say({ failed: error instanceof FailedError ? error.message.slice(0, 600) : described(error) });
  }
  process.exit(0);
}

globalThis.clonometerTrial = (resolver) => {
  importNs = Number(now() - began);
  resolveName = resolver || null;
  if (ROLE === WORKER || workerData === WORKER) serve();
  else main(process.argv.slice(-3));
};
