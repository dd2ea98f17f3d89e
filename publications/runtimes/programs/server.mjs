// Answers each request with what `echo hi` prints; prints its port. Node.js, Deno and Bun run it.
import { spawn } from "node:child_process";
import http from "node:http";
import process from "node:process";

const server = http.createServer((_, answer) => spawn("echo", ["hi"]).stdout.pipe(answer));
server.listen(0, "localhost", () => console.log(server.address().port));
process.stdin.resume().once("end", () => process.exit());
