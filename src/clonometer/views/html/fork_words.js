/* What the page says (clonometer.views.fork_words). */

const UNITS_NS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const UNITS_BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]];
const commas = (number) => number.toLocaleString("en-US", { maximumFractionDigits: 20 });

/* To two digits, as a sentence that is read in passing needs it. */
function briefly(ns) {
  const size = Number(ns.toPrecision(2));
  const [unit, name] = UNITS_NS.find(([least]) => size >= least) ?? [1, "ns"];
  return `${commas(Number((size / unit).toPrecision(10)))} ${name}`;
}

function inBytes(bytes) {
  const [unit, name] = UNITS_BYTES.find(([least]) => bytes >= least) ?? [1, "B"];
  const size = bytes / unit;
  return size >= 999.5 ? `${commas(Math.round(size))} ${name}` : `${Number(size.toPrecision(3))} ${name}`;
}

/* A figure and its unit stay on a line. */
const unbroken = (text) => text.replace(/(\d) (ns|µs|ms|s|B|[KMGT]iB)\b/g, "$1\u00a0$2");

const percent = (share) => `${Number((share * 100).toPrecision(3))}%`;

const SUBJECTS = {
  fork: (process, time) => `fork() in ${process} takes ${time}.`,
  fork_exec: (process, time) => `Starting a program by fork() and exec() from ${process} takes ${time}.`,
  posix_spawn: (process, time) => `Starting a program by posix_spawn() from ${process} takes ${time}.`,
  thread: (process, time) => `Creating a thread in ${process} takes ${time}.`,
};
const OTHERS = {
  fork: ["thread", (time) => `A thread takes ${time}.`],
  fork_exec: ["posix_spawn", (time) => `posix_spawn() takes ${time}.`],
  posix_spawn: ["fork_exec", (time) => `fork() and exec() take ${time}.`],
  thread: ["fork", (time) => `fork() takes ${time}.`],
};
const MEANWHILE = {
  fork_exec: "The caller waits until the child has executed its program, which first frees the copied memory.",
  posix_spawn: "The caller waits until the child has executed its program. No memory is copied.",
  thread: "A thread shares the memory: nothing is copied.",
};
/* Of a call in a runtime, after its name. */
const BY_CALL = {
  fork: "It forks.",
  fork_exec: "It forks, and waits for exec.",
  posix_spawn: "It copies no memory.",
  thread: "It makes a thread.",
};

function processWords(f, name) {
  const huge = f.huge_pages * PAGES_OF_HUGE > f.anon_pages ? " in huge pages" : "";
  const threads = f.threads <= 1 ? "" : ` and ${commas(f.threads)} threads`;
  return `${name ?? "a process"} with ${inBytes(privateBytes(f))}${huge}${threads}`;
}

function answerSentence(mechanism, f, launch, compared, { process = null, call = null } = {}) {
  const words = processWords(f, process);
  const time = briefly(launch.call.median);
  const answer = call ? `${call} in ${words} takes ${time}. ${BY_CALL[mechanism]}` : SUBJECTS[mechanism](words, time);
  return compared ? `${answer} ${OTHERS[mechanism][1](briefly(compared.call.median))}` : answer;
}

function meanwhileSentence(mechanism, f, launch) {
  const spread = `Nine in ten take ${briefly(launch.call.low)} to ${briefly(launch.call.high)}.`;
  if (mechanism !== "fork") return `${spread} ${MEANWHILE[mechanism]}`;
  if (f.threads <= 1) return `${spread} The process stands still for all of it.`;
  return `${spread} The caller stands still, and so does any other thread that maps memory or touches a new page.`;
}
