// The driver of Node.js: performs one cell's launches through the standard library (docs/protocol.md).
//
// It is started as `node driver.js NAME` and the words of the protocol, by clonometer-tether, which has checked the
// descriptor, chosen the CPU and made descriptor 0 the file where targets leave their timestamps.
"use strict";
const fs = require("fs");
const { encode } = require("./answer");
const { describe } = require("./catalogue");
const { measure } = require("./measure");
const { readRequest, Refusal, Skip } = require("./request");
const { allWorkloads } = require("./workloads");

async function main(name, words) {
  const workloads = allWorkloads(name);
  if (words.length === 1 && words[0] === "--describe") {
    fs.writeSync(1, JSON.stringify(describe(name, workloads)) + "\n");
    return 0;
  }
  let request = null;
  let blocks = [];
  let status = "ok";
  let reason = null;
  try {
    request = readRequest(words.slice(2), workloads);
    blocks = await measure(request);
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Skip || error instanceof RangeError)) throw error;
    // V8 refuses arrays beyond its abilities by a RangeError.
    status = error instanceof Refusal ? "failed" : "skipped";
    reason = error.message;
  }
  try {
    send(Number(words[1]), encode(name, request, blocks, status, reason));
  } catch (error) {
    fs.writeSync(2, `driver-node: the answer could not be sent: ${error.message}\n`);
    return 1;
  }
  return status === "failed" ? 1 : 0;
}

function send(descriptor, content) {
  for (let sent = 0; sent < content.length; ) {
    try {
      sent += fs.writeSync(descriptor, content, sent);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

main(process.argv[2], process.argv.slice(3)).then(
  (status) => process.exit(status),
  (error) => {
    fs.writeSync(2, `driver-node: ${error.stack}\n`);
    process.exit(1);
  },
);
