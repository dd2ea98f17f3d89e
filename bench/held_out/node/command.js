// /bin/true is run and waited for. Prints the median in nanoseconds.
const { spawn } = require('node:child_process');

function run(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(command);
    child.on('error', reject);
    child.on('close', resolve);
  });
}

async function main(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint();
    const status = await run('/bin/true');
    times.push(Number(process.hrtime.bigint() - start));
    if (status !== 0) throw new Error(`status ${status}`);
  }
  const later = times.slice(Math.floor(count / 5)).sort((a, b) => a - b);
  console.log(later[Math.floor(later.length / 2)]);
}

main(Number(process.argv[2]));
