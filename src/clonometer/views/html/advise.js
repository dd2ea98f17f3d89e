"use strict";

/* Answers again for other work, memory and rate: the simulation of clonometer.advice, which draws the same requests. */
const advised = JSON.parse(document.getElementById("report-data").textContent);

/* mulberry32 (clonometer.advice.uniform). */
function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1) >>> 0;
    mixed = (mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61))) >>> 0;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const drawnRequests = new Map();

/* When requests come, in mean gaps, and which copy of a station they meet. */
function requestsOf(seed) {
  if (!drawnRequests.has(seed)) {
    const draw = uniform(seed);
    const came = [];
    const lot = [];
    let now = 0;
    for (let number = 0; number < advised.requests; number++) {
      now += -Math.log(1 - draw());
      came.push(now);
      lot.push(draw());
    }
    drawnRequests.set(seed, { came, lot });
  }
  return drawnRequests.get(seed);
}

/* Events in order of time, then of number: a binary heap. */
class Events {
  heap = [];
  number = 0;

  static before(a, b) {
    return a.when < b.when || (a.when === b.when && a.number < b.number);
  }
  push(when, request, used) {
    const { heap } = this;
    const event = { when, number: ++this.number, request, used };
    let place = heap.push(event) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!Events.before(event, heap[above])) break;
      heap[place] = heap[above];
      place = above;
    }
    heap[place] = event;
  }
  pop() {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (heap.length > 0) {
      let place = 0;
      for (;;) {
        let below = 2 * place + 1;
        if (below >= heap.length) break;
        if (below + 1 < heap.length && Events.before(heap[below + 1], heap[below])) below++;
        if (!Events.before(heap[below], last)) break;
        heap[place] = heap[below];
        place = below;
      }
      heap[place] = last;
    }
    return first;
  }
}

/* How long each request waits for its answer (clonometer.advice.queueing); the first tenth is left out. */
function latencies(server, rateHz, seed) {
  const { came: gaps, lot } = requestsOf(seed);
  const count = gaps.length;
  const came = gaps.map((each) => each * (1e9 / rateHz));
  const firsts = [0];
  for (const { copies } of server.stations) firsts.push(firsts.at(-1) + copies);
  const free = server.stations.flatMap(({ tasks, copies }) => Array(copies).fill(tasks || -1));
  const waiting = free.map(() => []);
  const [stage, group, left, answered, after] = [0, 0, 0, 0, 0].map(() => new Array(count).fill(0));
  const events = new Events();
  const ready = [];
  let idle = server.cpus;

  function dispatch(request, now, used) {
    const rest = server.slice - used;
    const runs = left[request] <= rest ? left[request] : Math.max(rest, 0);
    left[request] -= runs;
    events.push(now + runs, request, used + runs);
  }
  function becomesReady(request, now) {
    if (idle) {
      idle--;
      dispatch(request, now, 0);
    } else ready.push(request);
  }
  function enter(request, now) {
    const { station, cpu, work, block, then } = server.stages[stage[request]];
    const { copies } = server.stations[station];
    const place = firsts[station] + (copies > 1 ? Math.floor(lot[request] * copies) : 0);
    group[request] = place;
    left[request] = cpu + work + (block ? 0 : then);
    after[request] = block ? then : -1;
    if (free[place] === 0) {
      waiting[place].push(request);
      return;
    }
    if (free[place] > 0) free[place]--;
    becomesReady(request, now);
  }
  function leave(request, now) {
    const place = group[request];
    if (server.stages[stage[request]].answers) answered[request] = now;
    let successor = -1;
    if (waiting[place].length > 0) successor = waiting[place].shift();
    else if (free[place] >= 0) free[place]++;
    if (stage[request] + 1 < server.stages.length) {
      stage[request]++;
      enter(request, now);
    }
    return successor;
  }
  function sliceEnds(request, now, used) {
    if (left[request] > 1e-3) {
      if (ready.length > 0) {
        ready.push(request);
        dispatch(ready.shift(), now, 0);
      } else dispatch(request, now, 0);
      return;
    }
    const { block, hands } = server.stages[stage[request]];
    if (hands) {
      idle++;
      const others = ready.splice(0);
      const successor = leave(request, now);
      ready.push(...others);
      if (successor >= 0) becomesReady(successor, now);
      while (ready.length > 0 && idle) becomesReady(ready.shift(), now);
      return;
    }
    if (block && after[request] >= 0) events.push(now + block, request, -1);
    else {
      const successor = leave(request, now);
      if (successor >= 0) {
        dispatch(successor, now, used);
        return;
      }
    }
    if (ready.length > 0) dispatch(ready.shift(), now, 0);
    else idle++;
  }

  let following = 0;
  while (following < count || events.heap.length > 0) {
    if (following < count && (events.heap.length === 0 || came[following] <= events.heap[0].when)) {
      enter(following, came[following]);
      following++;
      continue;
    }
    const { when, request, used } = events.pop();
    if (used >= 0) sliceEnds(request, when, used);
    else if (after[request] > 1e-3) {
      left[request] = after[request];
      after[request] = -1;
      becomesReady(request, when);
    } else {
      const successor = leave(request, when);
      if (successor >= 0) becomesReady(successor, when);
    }
  }
  return answered.slice(Math.floor(count * 0.1)).map((when, place) => when - came[Math.floor(count * 0.1) + place]);
}

/* What memory adds to a fork's call, and to the end of its child: value, low and high. */
function forkMemory(bytes) {
  const { memory } = advised;
  if (memory.length < 2) return [[0, 0, 0], [0, 0, 0]];
  let index = memory.findIndex((point) => point.bytes >= bytes);
  index = index < 0 ? memory.length - 1 : index;
  const [before, after] = [memory[Math.max(0, index - 1)], memory[Math.max(1, index)]];
  const share = (bytes - before.bytes) / (after.bytes - before.bytes);
  return ["call", "exit"].map((name) => before[name].map((low, end) => Math.max(0, low + share * (after[name][end] - low))));
}

/* A term as far off as it was drawn (clonometer.advice.drawing). */
function drawn([value, low, high], deviation) {
  const end = deviation > 0 ? high : low;
  const share = Math.abs(deviation) / 1.96;
  return low > 0 ? value * (end / value) ** share : value + (end - value) * share;
}

/* What a request costs at a rate between the two that were measured (clonometer.advice.costs.busy_share). */
function costsAt(design, rateHz, draw) {
  const [slow, busy] = advised.rates;
  const share = Math.min(1, Math.max(0, Math.log(rateHz / slow) / Math.log(busy / slow)));
  const [low, high] = [design.slow[draw], design.busy[draw]];
  return Object.fromEntries(Object.keys(low).map((name) => [name, low[name] + share * (high[name] - low[name])]));
}

function serverOf(design, costs, wish, draw, memory) {
  const [call, exit] = design.copies ? memory.map((span, end) => drawn(span, advised.deviations[draw][end])) : [0, 0];
  const answering = (station) => ({
    station, cpu: costs.worker, then: costs.then, work: wish.work_ns, block: costs.block, answers: true,
  });
  let [stations, stages] = [[{ tasks: 1, copies: 1 }], [answering(0)]];
  if (design.shape === "loops") stations = [{ tasks: 1, copies: advised.cpus }];
  else if (design.shape === "pool" && !design.accepts) stations = [{ tasks: advised.workers, copies: 1 }];
  else if (design.shape !== "single") {
    stations = [{ tasks: 1, copies: 1 }, { tasks: design.shape === "task_each" ? 0 : advised.workers, copies: 1 }];
    stages = [{ station: 0, cpu: Math.max(costs.acceptor + call, 0), then: 0, work: 0, block: 0, answers: false, hands: design.hands }, answering(1)];
  }
  const after = Math.max(costs.after + exit, 0);
  if (after) stages.push({ station: stations.length - 1, cpu: after, then: 0, work: 0, block: 0, answers: false });
  return { stations, stages, cpus: advised.cpus, slice: advised.slice_ns };
}

function utilisation(server, rateHz) {
  const all = server.stages.reduce((sum, { cpu, then, work }) => sum + cpu + then + work, 0);
  const shares = [(all * rateHz) / 1e9 / server.cpus];
  server.stations.forEach(({ tasks, copies }, number) => {
    const held = server.stages.filter(({ station }) => station === number);
    if (tasks) shares.push((held.reduce((sum, { cpu, then, work, block }) => sum + cpu + then + work + block, 0) * rateHz) / 1e9 / (tasks * copies));
  });
  return { cpu: all, most: Math.max(...shares) };
}

function spanOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, values.length - 1));
  return { value: mean, low: mean - 2.2 * deviation, high: mean + 2.2 * deviation };
}

/* No latency is below zero, however far draws lie apart. */
function latencyOf(values) {
  const span = spanOf(values);
  return { ...span, low: Math.max(0, span.low) };
}

const quantile = (ordered, share) => ordered[Math.min(ordered.length - 1, Math.floor(share * ordered.length))];

/* What a design does in each draw. */
function predicted(design, wish) {
  const memory = forkMemory(wish.memory_bytes);
  const outcomes = advised.deviations.map((_, draw) => {
    const costs = costsAt(design, wish.rate_hz, draw);
    const server = serverOf(design, costs, wish, draw, memory);
    const { cpu, most } = utilisation(server, wish.rate_hz);
    if (most > advised.most_utilisation) return { cpu, most, ordered: null };
    const taken = latencies(server, wish.rate_hz, advised.seed + draw);
    return { cpu, most, ordered: taken.map((ns) => Math.max(1, ns + costs.path)).sort((a, b) => a - b) };
  });
  const result = { design, cpu: spanOf(outcomes.map(({ cpu }) => cpu)), reason: design.unfit };
  if (outcomes.some(({ ordered }) => ordered === null)) {
    const most = wish.rate_hz / Math.max(...outcomes.map(({ most: share }) => share));
    return { ...result, reason: `cannot keep up: its most is about ${Math.round(most).toLocaleString("en")} requests a second` };
  }
  const by = (share) => outcomes.map(({ ordered }) => quantile(ordered, share));
  result.p50 = latencyOf(by(0.5));
  result.p99 = latencyOf(by(0.99));
  result.mean = spanOf(outcomes.map(({ ordered }) => ordered.reduce((sum, ns) => sum + ns, 0) / ordered.length)).value;
  result.figures = advised.order === "cpu" ? outcomes.map(({ cpu }) => cpu) : by({ p50: 0.5, p90: 0.9, p99: 0.99 }[advised.order]);
  result.figure = spanOf(result.figures).value;
  if (!result.reason && advised.limit && spanOf(by(advised.limit.share)).value > advised.limit.ns) {
    result.reason = `breaks the limit ${advised.limit.text}`;
  }
  return result;
}

/* All designs for a wish: those that qualify in order, with the rank of the one before where they are too close to that to call. */
function advise(wish) {
  const all = advised.designs.map((design) => predicted(design, wish));
  const ranked = all.filter(({ reason }) => !reason).sort((a, b) => a.figure - b.figure);
  let first = ranked[0];
  ranked.forEach((each, place) => {
    const before = place ? first : undefined;
    const ratio = before && spanOf(each.figures.map((ns, draw) => Math.log(ns / before.figures[draw])));
    each.close = Boolean(before) && (Math.exp(ratio.low) <= 1 || Math.abs(Math.exp(ratio.value) - 1) < advised.least_difference);
    each.rank = each.close ? before.rank : place + 1;
    first = each.close ? first : each;
  });
  return { ranked, others: all.filter(({ reason }) => reason) };
}

/* Memory in all (clonometer.advice.predicting). */
function memoryOf({ design, mean }, wish) {
  if (design.task_bytes === null) return null;
  const pages = Math.ceil(advised.written_bytes / 4096) * 4096;
  if (design.shape === "single") return wish.memory_bytes;
  if (design.shape === "task_each") {
    const tables = design.copies ? wish.memory_bytes / 512 : 0;
    return wish.memory_bytes + ((wish.rate_hz * mean) / 1e9) * (design.task_bytes + (design.processes ? pages : 0) + tables);
  }
  const tasks = design.shape === "loops" ? advised.cpus : advised.workers;
  return wish.memory_bytes + tasks * (design.task_bytes + (design.processes ? pages + wish.memory_bytes / 512 : 0));
}

function inUnits(value, units) {
  const [size, name] = units.find(([least]) => value >= least) ?? units.at(-1);
  return `${Number((value / size).toPrecision(3))} ${name}`;
}
/* MB or GB for what is a whole number of them, as it was stated (clonometer.units.approximate_bytes). */
const whole = (bytes) => [[1e9, "GB"], [1e6, "MB"]].filter(([size]) => bytes >= size && bytes % size === 0).slice(0, 1);
const TEXTS = {
  ns: (ns) => inUnits(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]),
  bytes: (bytes) => inUnits(bytes, [...whole(bytes), [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]]),
  hz: (hz) => `${Number(hz.toPrecision(3)).toLocaleString("en")}/s`,
};

/* The sliders, on logarithmic scales, and the table that they change. */
function explorer(element) {
  const sliders = [...element.querySelectorAll("input[type=range]")];
  const [status, body] = [element.querySelector("[role=status]"), element.querySelector("tbody")];
  const STEPS = 1000;
  const valueOf = (slider) => {
    const { low, high, stated } = slider.dataset;
    if (slider.value === slider.dataset.start) return Number(stated);
    return Number(low) * (high / low) ** (slider.value / STEPS);
  };
  const cell = (row, text, head, kind = "td") => {
    const made = document.createElement(kind);
    made.textContent = text;
    if (kind === "th") made.scope = "row";
    else made.dataset.head = head;
    row.append(made);
  };
  function show() {
    const wish = Object.fromEntries(sliders.map((slider) => [slider.name, valueOf(slider)]));
    for (const slider of sliders) {
      const text = TEXTS[slider.dataset.unit](valueOf(slider));
      slider.previousElementSibling.textContent = text;
      slider.setAttribute("aria-valuetext", text);
    }
    const { ranked, others } = advise(wish);
    body.replaceChildren();
    for (const each of [...ranked, ...others]) {
      const row = body.insertRow();
      const bytes = each.reason ? null : memoryOf(each, wish);
      cell(row, each.design.name, "", "th");
      cell(row, each.reason ? "-" : String(each.rank), "rank");
      cell(row, each.p50 ? TEXTS.ns(each.p50.value) : "-", "p50");
      cell(row, each.p99 ? TEXTS.ns(each.p99.value) : "-", "p99");
      cell(row, TEXTS.ns(each.cpu.value), "CPU a request");
      cell(row, bytes === null ? "-" : TEXTS.bytes(bytes), "memory");
      cell(row, each.reason || `a crash ends ${each.design.crash}`, "note");
    }
    const first = ranked.filter(({ rank }) => rank === 1).map(({ design }) => design.name);
    status.textContent = first.length === 0 ? "No design satisfies this."
      : first.length === 1 ? `First: ${first[0]}.` : `Too close to call: ${first.join(", ")}.`;
    element.answer = { wish, ranked, others };
  }
  for (const slider of sliders) {
    const { low, high, stated } = slider.dataset;
    const share = Math.log(Math.max(Number(stated), Number(low)) / low) / Math.log(high / low);
    slider.value = Math.round(Math.min(1, share) * STEPS);
    slider.dataset.start = slider.value;
    slider.addEventListener("input", show);
  }
  element.querySelector("button").addEventListener("click", () => {
    for (const slider of sliders) slider.value = slider.dataset.start;
    show();
  });
  element.answerFor = advise;
  element.hidden = false;
  show();
}

document.querySelectorAll(".explorer").forEach(explorer);
