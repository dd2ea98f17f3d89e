// The same launches timed by tinybench: prints the mean ns per launch of each of 30 runs, since it sorts the samples of one.
import { Bench } from "tinybench";
import loops from "./loops.js";

const [what, launches] = process.argv.slice(2);
const fixed = { time: 0, iterations: launches / loops.PARTS, warmupTime: 0, warmupIterations: loops.WARMUP[what] };
const bench = new Bench({ ...fixed, timestampProvider: "hrtimeNow", throws: true });
bench.add(what, loops[what], { async: true });
const parts = [];
for (let part = 0; part < loops.PARTS; part++) {
  const [task] = await bench.run();
  parts.push(task.result.latency.mean * 1e6);
}
console.log(parts.join(" "));
