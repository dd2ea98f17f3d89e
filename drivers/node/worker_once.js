// What a Worker that is measured runs.
"use strict";
const { workerData } = require("worker_threads");

const now = process.hrtime.bigint;

function spin(duration) {
  const end = now() + BigInt(duration);
  while (now() < end);
}

if (workerData.beforeStamp > 0) spin(workerData.beforeStamp);
if (workerData.isStamped) workerData.stamp[0] = now();
if (workerData.beforeEnd > 0) spin(workerData.beforeEnd);
