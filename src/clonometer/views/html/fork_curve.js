/* Time by memory, above the slider that sets the memory. */

const MIB = 2 ** 20;
const STEPS = 65;
const KNOB = 8;

/* Sizes that the slider stops at: nothing, then four for each doubling from 1 MiB to 64 GiB. */
const SIZES = [...Array(STEPS + 1).keys()].map((step) => (step < 1 ? 0 : MIB * 2 ** Math.floor((step - 1) / 4) * (1 + ((step - 1) % 4) / 4)));
/* Their places are logarithmic, as those of the curve. */
const placeOf = (bytes) => (bytes < MIB ? bytes / MIB : 1 + 4 * Math.log2(bytes / MIB));
const stepAt = (place) => SIZES.reduce((best, size, step) => (Math.abs(placeOf(size) - place) < Math.abs(placeOf(SIZES[best]) - place) ? step : best), 0);

const SVG = "http://www.w3.org/2000/svg";
function svg(tag, attributes, parent, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

const LINES = [
  { kind: "fork", name: "fork", mechanism: "fork", pages: "given" },
  { kind: "huge", name: "fork, huge pages", mechanism: "fork", pages: "huge" },
  { kind: "spawn", name: "posix_spawn", mechanism: "posix_spawn", pages: "given" },
  { kind: "thread", name: "thread", mechanism: "thread", pages: "given" },
];

/* The median alone. */
function medianOf(mechanism, shape, profile, machine) {
  const f = shaped(shape, profile);
  const { models } = machine.calibration;
  const ns = (name, scale) => (models[name] ? dot(designRow(f, models[name]), models[name].each_ns) * scale.factor : null);
  const { cold, waits } = machine.scales;
  if (mechanism in CALLS) return ns(CALLS[mechanism], cold);
  const call = shape.rewritten * ns("fork.first", cold) + (1 - shape.rewritten) * ns("fork.unwritten", cold);
  return mechanism === "fork_exec" ? call + ns("exec", waits) : call;
}

function drawCurve(element, state, machine, measured) {
  const { width, height } = element.getBoundingClientRect();
  if (!width) return;
  const below = 20;
  const x = (place) => KNOB + (place / STEPS) * (width - 2 * KNOB);
  const now = state.shape.memory_bytes ?? (state.profile ? privateBytes(state.profile.features) : 0);
  const withExec = state.mechanism === "fork_exec";
  const { profile } = state;
  const couldBeHuge = !profile || profile.couldBeHuge > 0 || profile.features.huge_pages > 0;
  const lines = LINES.filter((line) => couldBeHuge || line.pages !== "huge").map((line) => {
    const mechanism = line.mechanism === "fork" && withExec ? "fork_exec" : line.mechanism;
    const pages = line.pages === "given" && state.profile ? state.shape.pages : line.pages;
    const at = (bytes) => medianOf(mechanism, { ...state.shape, memory_bytes: bytes, pages }, state.profile, machine);
    /* What no huge page fills is in small ones, which is another story than this line's. */
    const sizes = SIZES.filter((size) => pages !== "huge" || size % HUGE_BYTES === 0);
    return { ...line, name: withExec ? line.name.replace("fork", "fork and exec") : line.name, at, points: sizes.map((size) => [placeOf(size), at(size)]) };
  }).filter((line) => line.points.every(([, ns]) => ns > 0));
  const all = [...lines.flatMap((line) => line.points.map(([, ns]) => ns)), ...measured.map((point) => point.median_ns)];
  const [low, high] = [Math.log10(Math.min(...all)) - 0.15, Math.log10(Math.max(...all)) + 0.15];
  const y = (ns) => (1 - (Math.log10(ns) - low) / (high - low)) * (height - below);
  element.replaceChildren();
  element.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const paths = lines.flatMap((line) => between(line.points.map(([place, ns]) => [x(place), y(ns)])));
  drawGrid(element, { x, y, low, high, width, height, below, most: machine.most_bytes, paths });
  for (const line of lines) {
    const chosen = line.kind === chosenLine(state) ? " chosen" : "";
    svg("path", { class: `${line.kind}${chosen}`, d: `M${line.points.map(([place, ns]) => `${x(place).toFixed(1)} ${y(ns).toFixed(1)}`).join("L")}` }, element);
  }
  for (const point of measured) {
    const kind = point.is_huge ? "huge" : { fork: "fork", posix_spawn: "spawn", thread: "thread" }[point.mechanism];
    const dotted = svg("circle", { class: `measured ${kind}`, cx: x(placeOf(point.memory_bytes)), cy: y(point.median_ns), r: 4 }, element);
    svg("title", {}, dotted, `measured: ${briefly(point.median_ns)}`);
  }
  element.append(...element.querySelectorAll(".halo"));
  const at = x(Math.min(placeOf(now), STEPS));
  svg("line", { class: "at", x1: at, x2: at, y1: 0, y2: height - below }, element);
  nameLines(element, lines.map((line) => ({ ...line, ns: line.at(now), top: y(line.at(now)), left: at })), { width, height: height - below, paths });
  element.setAttribute("aria-label", `Time by memory. At ${inBytes(now)}: ${lines.map((line) => `${line.name} ${briefly(line.at(now))}`).join(", ")}.`);
}

function chosenLine({ mechanism, shape }) {
  if (mechanism === "thread") return "thread";
  if (mechanism === "posix_spawn") return "spawn";
  return shape.pages === "huge" ? "huge" : "fork";
}

/* Points of a curve, close enough that no word fits between two of them. */
function between(points) {
  const parts = [0, 0.25, 0.5, 0.75];
  return points.slice(1).flatMap(([right, last], index) => {
    const [left, first] = points[index];
    return parts.map((part) => [left + part * (right - left), first + part * (last - first)]);
  });
}

const LETTER = 7.2;
const LINE = 15;
const boxOf = (words, left, base) => ({ left, right: left + LETTER * words.length, top: base - 11, bottom: base + 3 });
const isIn = (box) => ([across, down]) => across >= box.left && across <= box.right && down >= box.top && down <= box.bottom;

function drawGrid(element, { x, y, low, high, width, height, below, most, paths }) {
  if (most) svg("rect", { class: "beyond", x: x(placeOf(most)), y: 0, width: Math.max(0, width - x(placeOf(most))), height: height - below }, element);
  for (let power = Math.ceil(low); power <= high; power += 1) {
    svg("line", { class: "grid", x1: 0, x2: width, y1: y(10 ** power), y2: y(10 ** power) }, element);
    const words = briefly(10 ** power);
    const crossed = (base) => paths.filter(isIn(boxOf(words, 0, base))).length + (base > height - below ? Infinity : 0);
    /* Above its line, or on it where a curve is in the way. */
    const [above, on] = [y(10 ** power) - 4, y(10 ** power) + 4];
    svg("text", { class: "halo", x: 0, y: crossed(on) < crossed(above) ? on : above }, element, words);
  }
  const sizes = [1, 16, 256, 4096, 65_536].map((size) => size * MIB);
  for (const [index, size] of sizes.entries()) {
    const anchor = index === sizes.length - 1 ? "end" : index ? "middle" : "start";
    svg("text", { x: x(placeOf(size)), y: height - 4, "text-anchor": anchor }, element, inBytes(size));
  }
  if (most && width - x(placeOf(most)) > 90) svg("text", { x: x(placeOf(most)) + 6, y: 14 }, element, "extrapolated");
}

/* A name at each line where the slider stands, with its time; none covers another, and they stand in the lines' order. */
function nameLines(element, lines, { width, height, paths }) {
  const rising = [...lines].sort((one, other) => one.top - other.top);
  let last = -Infinity;
  for (const [index, line] of rising.entries()) {
    svg("circle", { class: line.kind, cx: line.left, cy: line.top, r: 5 }, element);
    const toLeft = line.left > width * 0.6;
    const words = `${line.name} ${briefly(line.ns)}`;
    const left = toLeft ? line.left - 10 - LETTER * words.length : line.left + 10;
    const crossed = (base) => paths.filter(isIn(boxOf(words, left, base))).length;
    const [above, below] = [line.top - 8, line.top + 17].map((base) => Math.max(base, last + LINE, 12));
    /* Below its line only where no other name has to give way for it. */
    const next = rising[index + 1]?.top ?? height;
    last = Math.min(height - 4, below + LINE < next && crossed(below) < crossed(above) ? below : above);
    svg("text", { class: `name ${line.kind}`, x: line.left + (toLeft ? -10 : 10), y: last, "text-anchor": toLeft ? "end" : "start" }, element, words);
  }
}
