// A worker thread is started and runs to its end. Prints the median in nanoseconds.
const { Worker, isMainThread } = require('node:worker_threads');

function runWorker() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(__filename);
    worker.on('error', reject);
    worker.on('exit', resolve);
  });
}

async function main(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint();
    await runWorker();
    times.push(Number(process.hrtime.bigint() - start));
  }
  const later = times.slice(Math.floor(count / 5)).sort((a, b) => a - b);
  console.log(later[Math.floor(later.length / 2)]);
}

if (isMainThread) main(Number(process.argv[2]));
