// A command: each API, and options that change how the kernel is asked for it (the book of launch paths).
//
// Timed: from before the call until it has returned, until the new program's entry, its main and its main's end (of our
// targets, which leave their timestamps in the file of descriptor 0), until the event `exit`, or `close` where its output
// is read. Outside: building the list of words. The event loop stands still from before the call until another callback
// that was due has run.
"use strict";
const { spawn, spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const { now } = require("./measure");

const STAGES = ["call_returns_ns", "task_runs_ns", "image_entered_ns", "image_runs_ns", "image_ends_ns", "reaped_ns"];
const BEFORE_EXEC = { task_runs_ns: "before the exec the child runs only the runtime's code" };
const ONE_CALL = { ...BEFORE_EXEC, call_returns_ns: "one call starts the program and waits for it" };
const INHERIT = ["inherit", "inherit", "inherit"];
const STAMPS_AT = 16;
const page = Buffer.alloc(24);

// The timestamps that the program left, null for each where it is not ours or left none since `before`.
function imageOf(request, before) {
  if (!request.isTarget || fs.readSync(0, page, 0, page.length, STAMPS_AT) < page.length) return [null, null, null];
  const stamps = [0, 8, 16].map((at) => page.readBigInt64LE(at));
  return stamps[0] >= before ? stamps : [null, null, null];
}

// A program that could not be executed is a launch that failed; what one answers is its own affair.
function failure(error, status) {
  if (error) return error;
  return status === 127 ? { errno: os.constants.errno.ENOENT } : null;
}

function prepareSpawn(request, options, event) {
  const given = { env: request.environment, ...options };
  const launch = () =>
    new Promise((resolve, reject) => {
      let turned = null;
      const before = now();
      // Due at once: when it runs, the loop has been standing still for as long.
      setImmediate(() => (turned = now()));
      const child = spawn(request.file, request.words, given);
      const returned = now();
      child.once("error", reject);
      if (child.stdout) child.stdout.resume();
      if (child.stderr) child.stderr.resume();
      child.once(event, (status) => {
        const ended = now();
        const error = failure(null, status);
        if (error) reject(error);
        else resolve([before, returned, null, ...imageOf(request, before), ended, turned === null ? ended : turned]);
      });
    });
  return { launch };
}

function prepareSync(request) {
  const given = { env: request.environment, stdio: INHERIT };
  const launch = async () => {
    const before = now();
    const done = spawnSync(request.file, request.words, given);
    const ended = now();
    const error = failure(done.error, done.status);
    if (error) throw error;
    return [before, null, null, ...imageOf(request, before), ended, ended];
  };
  return { launch };
}

function command(what, path, options, event = "exit") {
  return {
    family: "runtime_command",
    summary: `child_process.spawn ${what}, its event ${event}`,
    stages: [...STAGES, "loop_blocked_ns"],
    axes: ["program", "env_bytes"],
    nulls: BEFORE_EXEC,
    api: `child_process.spawn ${what}`,
    path,
    prepare: (request) => prepareSpawn(request, options, event),
  };
}

module.exports = {
  command: command("with stdio inherited", "stdio", { stdio: INHERIT }),
  command_pipes: command("with its output in pipes", "spawn", { stdio: ["inherit", "pipe", "pipe"] }, "close"),
  command_shell: command("with shell: true", "shell", { stdio: INHERIT, shell: true }),
  command_session: command("with detached: true", "detached", { stdio: INHERIT, detached: true }),
  command_sync: {
    ...command("", "spawnSync", {}),
    summary: "child_process.spawnSync of a program",
    api: "child_process.spawnSync",
    nulls: ONE_CALL,
    prepare: prepareSync,
  },
};
