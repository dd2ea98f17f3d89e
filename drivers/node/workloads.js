// All workloads by their ids: the name of the driver, a dot, and what is wanted.
//
// `prepare(request)` gives `launch`, an async function whose array has when it began and its stages, and `close`, which
// tidies up. `api` is what is called, `path` the line of the book of launch paths that it is.
"use strict";

const DEFAULTS = { axes: [], nulls: {}, contains: null, path: null };

function allWorkloads(name) {
  const workloads = new Map();
  const groups = ["./threads", "./calls", "./commands", "./exchanges", "./floor"].map(require);
  for (const group of groups) {
    for (const [word, workload] of Object.entries(group)) {
      const axes = ["placement", "parent_bytes", "heap_kind", ...(workload.axes || [])];
      workloads.set(`${name}.${word}`, { ...DEFAULTS, ...workload, axes, id: `${name}.${word}` });
    }
  }
  return workloads;
}

module.exports = { allWorkloads };
