// Runs a tool in another folder.
"use strict";
const { spawn } = require("node:child_process");
const [count, megabytes] = process.argv.slice(2).map(Number);

const catalogue = Array.from({ length: megabytes }, (_, number) => Buffer.alloc(1 << 20, number + 1));

function start(number) {
  return new Promise((resolve) => {
    const child = spawn("/bin/true", [String(number)], { cwd: "/", stdio: "ignore" });
    child.on("close", resolve);
  });
}

async function main() {
  const began = process.hrtime.bigint();
  for (let number = 0; number < count; number++) {
    await start(number);
  }
  console.log(String(process.hrtime.bigint() - began));
  process.exitCode = catalogue.length > 0 ? 0 : 1;
}

main();
