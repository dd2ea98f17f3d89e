// What the driver itself costs: the readings of a launch, with nothing launched.
//
// Timed: from a reading of the clock to the last one of the parent, with one between, as every launch has them. It is part
// of each figure of this driver. Outside: storing the sample.
"use strict";
const { now } = require("./measure");

const NOTHING = "nothing is launched";

async function launch() {
  const before = now();
  const returned = now();
  return [before, returned, null, null, now()];
}

module.exports = {
  none: {
    family: "floor",
    summary: "the driver's own readings, with nothing launched",
    stages: ["call_returns_ns", "task_runs_ns", "image_runs_ns", "reaped_ns"],
    nulls: { task_runs_ns: NOTHING, image_runs_ns: NOTHING },
    api: "process.hrtime.bigint",
    prepare: () => ({ launch }),
  },
};
