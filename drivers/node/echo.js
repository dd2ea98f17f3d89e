// A Worker or a process that waits for messages. It answers "when" with the time at which it has it, else the same.
"use strict";
const { parentPort } = require("worker_threads");

const port = parentPort || process;
const send = parentPort ? (answer) => parentPort.postMessage(answer) : (answer) => process.send(answer);
// JSON has no BigInt, and a number would round: so it travels as a text.
const answerTo = (message) => (message === "when" ? String(process.hrtime.bigint()) : message);

port.on("message", (message) => send(answerTo(message)));
if (process.argv[2] === "once") send(answerTo("when"));
// The driver has gone, or needs no more.
if (!parentPort) process.on("disconnect", () => process.exit());
