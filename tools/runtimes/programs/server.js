// Answers each request with what `echo hi` prints; prints its port.
"use strict";
const { spawn } = require("child_process");
const http = require("http");

const server = http.createServer((_, answer) => spawn("echo", ["hi"]).stdout.pipe(answer));
server.listen(0, "localhost", () => console.log(server.address().port));
process.stdin.resume().once("end", () => process.exit());
