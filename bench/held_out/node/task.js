// An async function is called and awaited. Prints the median in nanoseconds.
let ran = 0;

async function job() {
  ran += 1;
}

async function main(count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = process.hrtime.bigint();
    await job();
    times.push(Number(process.hrtime.bigint() - start));
  }
  if (ran !== count) throw new Error('a call did not run');
  const later = times.slice(Math.floor(count / 5)).sort((a, b) => a - b);
  console.log(later[Math.floor(later.length / 2)]);
}

main(Number(process.argv[2]));
