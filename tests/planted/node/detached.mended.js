// Starts workers that outlive it.
"use strict";
const path = require("node:path");
const { fork } = require("node:child_process");
const [count, megabytes] = process.argv.slice(2).map(Number);
// Started before the memory grows: it launches for this program.
const launcher = fork(path.join(__dirname, "launcher.js"));
const catalogue = Array.from({ length: megabytes }, (_, number) => Buffer.alloc(1 << 20, number + 1));

function asked(file, words, options) {
  return new Promise((resolve) => {
    launcher.once("message", resolve);
    launcher.send({ file, words, options });
  });
}

async function main() {
  const began = process.hrtime.bigint();
  for (let number = 0; number < count; number++) {
    await asked("/bin/true", [String(number)], { detached: true, stdio: "ignore" });
  }
  console.log(String(process.hrtime.bigint() - began));
  launcher.disconnect();
  process.exitCode = catalogue.length > 0 ? 0 : 1;
}

main();
