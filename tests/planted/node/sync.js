// Asks git for a version, and waits.
"use strict";
const { spawnSync } = require("node:child_process");
const [count, megabytes] = process.argv.slice(2).map(Number);

const catalogue = Array.from({ length: megabytes }, (_, number) => Buffer.alloc(1 << 20, number + 1));

function ask(number) {
  const { status } = spawnSync("/bin/true", [String(number)], { stdio: "ignore" });
  if (status !== 0) throw new Error("failed");
}

async function main() {
  const began = process.hrtime.bigint();
  for (let number = 0; number < count; number++) {
    await ask(number);
  }
  console.log(String(process.hrtime.bigint() - began));
  process.exitCode = catalogue.length > 0 ? 0 : 1;
}

main();
