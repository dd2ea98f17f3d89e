// Launches what it is sent: the words of a command, and the options.
"use strict";
const { spawn } = require("node:child_process");

process.on("message", ({ file, words, options }) => {
  spawn(file, words, options).on("close", (code) => process.send(code));
});
