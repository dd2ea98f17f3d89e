/* A launch and its parts (clonometer.prediction.fork_timeline). ``machine`` is what the page carries. */

const CALL_ORDER = [
  "base", "open files", "areas kept from children", "written areas", "empty areas", "file and shared areas",
  "userfaultfd areas", "page tables", "small pages", SCATTERED, "huge pages", "hugetlb pages", "having threads", "further threads",
];
const CALLS = { posix_spawn: "posix_spawn", thread: "pthread" };

function predictLaunch(mechanism, f, shape, machine) {
  const { models, first_writes: firstWrites } = machine.calibration;
  const { cold, waits } = machine.scales;
  if (mechanism in CALLS) {
    const model = models[CALLS[mechanism]];
    if (!model) return null;
    const parts = simpleParts(mechanism, f, model, machine);
    return { call: costOf(f, model, cold), parts, pageTables: 0, copiedBytes: 0, copyingNs: 0 };
  }
  const [first, unwritten] = ["fork.first", "fork.unwritten"].map((name) => costOf(f, models[name], cold));
  const call = mixed(first, unwritten, shape.rewritten);
  const parts = callParts(f, forkTerms(f, shape, models, cold));
  if (mechanism === "fork_exec") {
    parts.push(...execParts(call.median, f, machine));
    return { call: plus(call, costOf(f, models.exec, waits)), parts, pageTables: pageTablesBytes(f), copiedBytes: 0, copyingNs: 0 };
  }
  const worst = copyingAtWorst(f, firstWrites, cold);
  const copyingNs = worst.ns === null ? null : shape.copied * worst.ns;
  parts.push(...lifeParts(call.median, copyingNs ?? 0, f, machine));
  return { call, parts, pageTables: pageTablesBytes(f), copiedBytes: Math.round(shape.copied * worst.bytes), copyingNs };
}

function forkTerms(f, shape, models, scale) {
  const [first, unwritten] = ["fork.first", "fork.unwritten"].map((name) => termCosts(f, models[name], scale));
  const part = (costs, term) => costs[term] ?? 0;
  return Object.fromEntries(
    CALL_ORDER.map((term) => [term, shape.rewritten * part(first, term) + (1 - shape.rewritten) * part(unwritten, term)]),
  );
}

function callParts(f, terms) {
  const counts = termCounts(f);
  const parts = [];
  let now = 0;
  for (const term of CALL_ORDER) {
    const lasts = terms[term] ?? 0;
    if (lasts > 0) {
      parts.push({ lane: "parent", part: term, starts: now, lasts, count: counts[term] });
      now += lasts;
    }
  }
  return parts;
}

/* A wait after a call: what it takes in any process, and what the memory that was copied adds. */
function waitOf(f, model, scale) {
  const { base, ...others } = termCosts(f, model, scale);
  return [base, Object.values(others).reduce((sum, ns) => sum + ns, 0)];
}

function startsOf(name, f, machine) {
  const model = machine.calibration.models[name];
  return model ? costOf(f, model, machine.scales.waits).median : null;
}

function inTurn(begins, parts) {
  const made = [];
  for (const [part, lasts] of parts) {
    if (lasts > 0) {
      made.push({ lane: "child", part, starts: begins, lasts, count: 0 });
      begins += lasts;
    }
  }
  return made;
}

function execParts(call, f, machine) {
  const [base, frees] = waitOf(f, machine.calibration.models.exec, machine.scales.waits);
  const starts = Math.min(base, startsOf("fork.starts", f, machine) ?? 0);
  const waits = { lane: "parent", part: "waits", starts: call, lasts: base + frees, count: 0 };
  return [waits, ...inTurn(call, [["starts", starts], ["frees", frees], ["executes", base - starts]])];
}

function lifeParts(call, copying, f, machine) {
  const [base, frees] = waitOf(f, machine.calibration.models.exit, machine.scales.waits);
  const starts = Math.min(base, startsOf("fork.starts", f, machine) ?? 0);
  const copies = copying > 0 ? [{ lane: "parent", part: "copies", starts: call, lasts: copying, count: 0 }] : [];
  const lives = Math.max(0, copying - starts);
  return [...copies, ...inTurn(call, [["starts", starts], ["lives", lives], ["frees", frees], ["ends", base - starts]])];
}

function simpleParts(mechanism, f, model, machine) {
  const parts = callParts(f, termCosts(f, model, machine.scales.cold));
  const call = parts.reduce((sum, part) => sum + part.lasts, 0);
  if (mechanism === "posix_spawn") return [...parts, { lane: "child", part: "inside", starts: 0, lasts: call, count: 0 }];
  const starts = startsOf("pthread.starts", f, machine);
  return starts ? [...parts, { lane: "child", part: "starts", starts: call, lasts: starts, count: 0 }] : parts;
}

/* What predict answers for a process: its calls, and what a caller waits for (clonometer.prediction.judge). */
function judged(profile, shape, machine) {
  const { models } = machine.calibration;
  const { cold, hot, waits } = machine.scales;
  const ends = shape.memory_bytes === null && shape.pages === "given" ? [profile?.least, profile?.most].filter(Boolean) : [];
  const whole = shaped(shape, profile);
  const span = (cost) => {
    const [now, ...others] = [whole, ...ends].map(cost);
    return { low: Math.min(now.low, ...others.map((each) => each.low)), median: now.median, high: Math.max(now.high, ...others.map((each) => each.high)) };
  };
  const of = (name, scale) => span((f) => costOf(f, models[name], scale));
  const after = (wait) => span((f) => plus(costOf(f, models["fork.first"], cold), costOf(f, models[wait], waits)));
  return {
    first: of("fork.first", cold),
    unwritten: of("fork.unwritten", cold),
    firstHot: of("fork.first_hot", hot),
    unwrittenHot: of("fork.unwritten_hot", hot),
    untilExit: after("exit"),
    untilExec: after("exec"),
  };
}

/* For tests: the same questions as to the model in Python, all in a single call. */
function evaluate(questions, machine) {
  return questions.map(({ mechanism, shape, profile }) => {
    const f = shaped(shape, profile);
    const copying = copyingAtWorst(f, machine.calibration.first_writes, machine.scales.cold);
    return { features: f, launch: predictLaunch(mechanism, f, shape, machine), judged: judged(profile, shape, machine), copying };
  });
}
