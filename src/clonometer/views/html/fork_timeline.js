/* The launch to scale in time, played at a pace that eyes can follow. */

const LANES = { parent: 30, child: 98 };
const BAR = 40;
const HEIGHT = 178;
const PLAY_MS = 9000;
const SLOWER = 3;
const STILL_MS = 1300;
const LEAST_PART = 400;

const niceStep = (least) => {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].find((each) => each * power >= least) * power;
};

class Timeline {
  /* ``words``: of each part its name, hue and meaning; ``shown(ns)`` is called with the time that is shown, null: all. */
  constructor(element, words, shown) {
    Object.assign(this, { element, words, shown, parts: [], whole: 1, now: null, frame: null });
  }

  /* ``call`` is how long the caller stands still. */
  set(parts, call) {
    this.parts = parts;
    this.call = call;
    this.whole = Math.max(...parts.map((part) => part.starts + part.lasts), 1);
    if (this.now !== null) this.now = Math.min(this.now, this.whole);
    this.draw();
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width || !this.parts.length) return;
    const scale = width / this.whole;
    const drawn = svg("svg", { class: "timeline", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": this.described() });
    for (const [lane, y] of Object.entries(LANES)) {
      svg("text", { class: "lane", x: 0, y: y - 9 }, drawn, lane);
      svg("rect", { class: "track", x: 0, y: y + BAR / 2 - 1, width, height: 2 }, drawn);
    }
    this.drawBirth(drawn, scale);
    this.drawCall(drawn, scale, width);
    const clip = svg("clipPath", { id: "until-now" }, svg("defs", {}, drawn));
    this.reached = svg("rect", { x: 0, y: 0, width, height: HEIGHT }, clip);
    this.later = svg("g", { class: "later" }, drawn);
    const done = svg("g", { "clip-path": "url(#until-now)" }, drawn);
    for (const part of this.parts) for (const group of [this.later, done]) this.bar(part, scale, group);
    this.cursor = svg("line", { class: "cursor", x1: 0, x2: 0, y1: LANES.parent - 8, y2: HEIGHT - 30 }, drawn);
    this.drawAxis(drawn, scale, width);
    this.element.replaceChildren(drawn);
    this.scale = scale;
    this.place();
  }

  bar(part, scale, group) {
    const { name, hue } = this.words[part.part];
    const [x, width, y] = [part.starts * scale, Math.max(1, part.lasts * scale), LANES[part.lane]];
    const bar = svg("rect", { class: `bar ${hue}`, x, y, width, height: BAR }, group);
    svg("title", {}, bar, `${name}: ${briefly(part.lasts)}`);
    if (width > 8.2 * name.length + 14) svg("text", { class: `on ${hue}`, x: x + 8, y: y + 25 }, group, name);
  }

  drawBirth(drawn, scale) {
    const first = this.parts.find((part) => part.lane === "child" && part.part !== "inside");
    if (first) svg("line", { class: "birth", x1: first.starts * scale, x2: first.starts * scale, y1: LANES.parent + BAR, y2: LANES.child }, drawn);
  }

  /* From when to when the caller stands still. */
  drawCall(drawn, scale, width) {
    const end = this.call * scale;
    svg("path", { class: "call", d: `M0.5 ${LANES.parent - 2}v-4H${Math.max(1, end - 0.5)}v4` }, drawn);
    const text = `the caller waits ${briefly(this.call)}`;
    // Beside the lane's name, and within a narrow screen.
    const [least, wide] = [56, 7.5 * text.length];
    const isEnd = end > Math.max(width / 2, least + wide);
    const x = isEnd ? end : Math.max(least, Math.min(end + 6, width - wide));
    svg("text", { class: "call", x, y: LANES.parent - 9, "text-anchor": isEnd ? "end" : "start" }, drawn, text);
  }

  drawAxis(drawn, scale, width) {
    const step = niceStep(this.whole / Math.max(2, Math.floor(width / 130)));
    for (let ns = 0; ns <= this.whole * 0.97; ns += step) {
      svg("line", { class: "tick", x1: ns * scale, x2: ns * scale, y1: HEIGHT - 32, y2: HEIGHT - 27 }, drawn);
      svg("text", { class: `tick ${ns ? (ns * scale > width - 24 ? "last" : "") : "first"}`, x: ns * scale, y: HEIGHT - 13 }, drawn, briefly(ns));
    }
  }

  described() {
    return `To scale: ${this.parts.map((part) => `${part.lane}, ${this.words[part.part].name} ${briefly(part.lasts)}`).join("; ")}.`;
  }

  place() {
    const at = this.now ?? this.whole;
    this.reached?.setAttribute("width", Math.max(0, at * this.scale));
    this.cursor?.setAttribute("visibility", this.now === null ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) this.cursor?.setAttribute(end, at * this.scale);
    this.shown(this.now);
  }

  seek(ns) {
    this.now = ns === null ? null : Math.min(Math.max(ns, 0), this.whole);
    this.place();
  }

  /* Ends of parts that can be told apart by eye, in order. */
  get stops() {
    const ends = this.parts.map((part) => part.starts + part.lasts).sort((one, other) => one - other);
    const least = this.whole / LEAST_PART;
    return ends.filter((end, index) => end - (ends[index - 1] ?? 0) >= least || end >= this.whole - least);
  }

  step() {
    this.pause();
    const now = this.now ?? 0;
    const next = this.now !== null && now >= this.whole ? 0 : this.stops.find((stop) => stop > now * (1 + 1e-9) + 1e-6);
    this.seek(next ?? this.whole);
  }

  get plays() {
    return this.frame !== null;
  }

  /* Where motion is not wanted, it goes from part to part. */
  play(isSlow, isStill, ended) {
    if (this.now === null || this.now >= this.whole) this.seek(0);
    const pace = isSlow ? SLOWER : 1;
    let last = null;
    const advance = (time) => {
      if (isStill) {
        if (last === null || time - last > STILL_MS * pace) {
          if (last !== null) this.seek(this.stops.find((stop) => stop > this.now + 1e-6) ?? this.whole);
          last = time;
        }
      } else {
        if (last !== null) this.seek(this.now + ((time - last) / (PLAY_MS * pace)) * this.whole);
        last = time;
      }
      this.frame = this.now < this.whole ? requestAnimationFrame(advance) : null;
      if (this.frame === null) ended();
    };
    this.frame = requestAnimationFrame(advance);
  }

  pause() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
  }
}

/* How far the page entries are copied, pages are copied on write, and the child's are freed, at a time. */
function memoryAtTime(parts, now, copied) {
  const entries = new Set(["page tables", "small pages", SCATTERED, "huge pages", "hugetlb pages"]);
  const progress = (wanted) => {
    const those = parts.filter((part) => wanted(part.part));
    if (!those.length) return 0;
    const [begin, end] = [Math.min(...those.map((part) => part.starts)), Math.max(...those.map((part) => part.starts + part.lasts))];
    return now === null ? 1 : Math.min(1, Math.max(0, (now - begin) / (end - begin)));
  };
  const frees = now === null ? 0 : progress((part) => part === "frees");
  return { shared: progress((part) => entries.has(part)), copied: copied * progress((part) => part === "copies"), freed: frees };
}

const CELLS = 512;
/* A fixed order in which squares are written to, spread over all of them as by chance (Knuth: multiplicative hashing). */
const scattered = (cell) => Math.imul(cell + 1, 2654435761) >>> 0;
const WRITTEN_ORDER = [...Array(CELLS).keys()].sort((one, other) => (scattered(one) % 65_521) - (scattered(other) % 65_521));

class PagesGrid {
  constructor(element) {
    this.element = element;
    this.columns = 0;
  }

  layout() {
    const width = this.element.parentElement.clientWidth;
    const columns = width > 700 ? 64 : 32;
    if (columns === this.columns) return;
    this.columns = columns;
    const rows = CELLS / columns;
    this.element.setAttribute("viewBox", `0 0 ${columns * 16} ${rows * 16}`);
    this.element.replaceChildren();
    this.cells = [...Array(CELLS).keys()].map((cell) =>
      svg("rect", { x: (cell % columns) * 16 + 1.5, y: Math.floor(cell / columns) * 16 + 1.5, width: 13, height: 13, rx: 2 }, this.element),
    );
  }

  show({ shared, copied, freed, lent }) {
    this.layout();
    const [sharedCells, freedCells, copiedCells] = [shared, freed, copied].map((part) => Math.round(part * CELLS));
    const isCopied = new Set(WRITTEN_ORDER.slice(0, copied > 0 ? Math.max(1, copiedCells) : 0));
    this.cells.forEach((cell, index) => {
      const inChild = index < sharedCells && index >= freedCells;
      const kind = lent ? "lent" : inChild ? (isCopied.has(index) ? "copied" : "shared") : "";
      if (cell.getAttribute("class") !== kind) cell.setAttribute("class", kind);
    });
  }
}
