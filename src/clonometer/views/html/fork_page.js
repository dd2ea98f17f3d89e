/* The page about forks: its controls, its state in the address, and all that follows from both. */

const machine = JSON.parse(document.getElementById("fork-data").textContent);
const at = (id) => document.getElementById(id);
const doubled = (count) => [...Array(count).keys()].map((step) => Math.round(2 ** (step / 2)));
const THREADS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048];
const COPIED = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 85, 90, 95, 100].map((each) => each / 100);
const AREAS = doubled(33);
const FILES = doubled(33).map((count) => Math.max(3, count));
const MOST = { memory_bytes: 2 ** 36, threads: 32_768, areas: 65_536, open_files: 2 ** 20 };
const CHOICES = { pages: ["given", "huge", "small"], placement: ["given", "contiguous", "scattered"] };
/* Keys of the address, with the names of what they set. */
const COUNT_KEYS = { threads: "threads", areas: "areas", files: "open_files" };
const SHARE_KEYS = { rewritten: "rewritten", copied: "copied" };
const CHOICE_KEYS = { pages: "pages", frames: "placement" };
const DEFAULTS = { memory_bytes: 2 ** 30, pages: "given", threads: 1, areas: 1, open_files: 3, placement: "given", rewritten: 1, copied: 0.01 };
const ADDRESS_AFTER_MS = 250;
const SAY_AFTER_MS = 900;
const COPIED_FOR_MS = 2000;
const still = matchMedia("(prefers-reduced-motion: reduce)");

const unset = { ...DEFAULTS, memory_bytes: null, threads: null, areas: null, open_files: null };
const begun = machine.profile ? orNothing(() => profileOf(machine.profile), "The profile of this page") : null;
const fresh = (profile) => ({ mechanism: "fork", runtime: "", launch: 0, profile, shape: { ...(profile ? unset : DEFAULTS) } });
let state = fresh(begun);

const nearest = (values, wanted) =>
  values.reduce((best, value, index) => (Math.abs(Math.log((value + 1e-4) / (wanted + 1e-4))) < Math.abs(Math.log((values[best] + 1e-4) / (wanted + 1e-4))) ? index : best), 0);
const runtimeOf = ({ runtime }) => machine.runtimes.find((each) => each.name === runtime);
const launchOf = (of) => runtimeOf(of)?.launches[of.launch];

/* ------------------------------------------------------------------------------------------------------- the address */

function addressOf({ mechanism, runtime, launch, profile, shape }) {
  const words = new URLSearchParams();
  const base = profile ? unset : DEFAULTS;
  if (mechanism !== "fork") words.set("make", mechanism);
  if (shape.memory_bytes !== base.memory_bytes) words.set("memory", `${shape.memory_bytes / MIB}MiB`);
  for (const [key, name] of Object.entries(COUNT_KEYS)) if (shape[name] !== base[name]) words.set(key, shape[name]);
  for (const [key, name] of Object.entries(SHARE_KEYS)) if (shape[name] !== base[name]) words.set(key, percent(shape[name]).slice(0, -1));
  for (const [key, name] of Object.entries(CHOICE_KEYS)) if (shape[name] !== base[name]) words.set(key, shape[name]);
  if (runtime) words.set("in", runtime);
  if (runtime && launch) words.set("by", launch);
  if (profile && profile !== begun) {
    words.set("has", packed(profile.features));
    for (const end of ["least", "most"]) if (profile[end]) words.set(end, packed(profile[end]));
    if (profile.couldBeHuge) words.set("huge", profile.couldBeHuge);
    if (profile.name) words.set("name", profile.name);
  }
  return words.toString();
}

/* What an address says, as far as it is sound: it may be anybody's. */
function stateOf(address) {
  const words = new URLSearchParams(address);
  const made = fresh((words.has("has") && orNothing(() => profileIn(words), "The profile in this address")) || begun);
  const number = (key, least, most) => {
    const value = Number(words.get(key));
    return words.has(key) && words.get(key).trim() && value >= least && value <= most ? value : null;
  };
  const memory = /^(\d{1,8}(?:\.\d{1,8})?)MiB$/.exec(words.get("memory") ?? "");
  if (memory) made.shape.memory_bytes = Math.min(Math.round(memory[1] * MIB), MOST.memory_bytes);
  for (const [key, name] of Object.entries(COUNT_KEYS)) made.shape[name] = Math.round(number(key, name === "open_files" ? 0 : 1, MOST[name]) ?? made.shape[name] ?? NaN) || made.shape[name];
  for (const [key, name] of Object.entries(SHARE_KEYS)) made.shape[name] = (number(key, 0, 100) ?? made.shape[name] * 100) / 100;
  for (const [key, name] of Object.entries(CHOICE_KEYS)) if (CHOICES[name].includes(words.get(key))) made.shape[name] = words.get(key);
  if (Object.hasOwn(SUBJECTS, words.get("make"))) made.mechanism = words.get("make");
  const runtime = machine.runtimes.find((each) => each.name === words.get("in"));
  if (runtime) {
    made.runtime = runtime.name;
    made.launch = Math.min(number("by", 0, 1000) ?? 0, runtime.launches.length - 1) | 0;
    made.mechanism = runtime.launches[made.launch].mechanism;
  }
  return made;
}

function profileIn(words) {
  const end = (name) => (words.has(name) ? unpacked(words.get(name)) : null);
  const couldBeHuge = Number(words.get("huge") ?? 0);
  if (!isCount(couldBeHuge)) throw new ProfileError("Its address is damaged.");
  return { name: words.has("name") ? nameOf(words.get("name")) : null, features: unpacked(words.get("has")), least: end("least"), most: end("most"), couldBeHuge };
}

/* What is read, or null where that is no profile, which the page then says. */
function orNothing(read, what) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    saysOfProfile(`${what} was left out. ${error.message}`, true);
    return null;
  }
}

let addressTimer = 0;
let ownAddress = "";
function keepAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(putAddress, ADDRESS_AFTER_MS);
}

function putAddress() {
  ownAddress = addressOf(state);
  history.replaceState(null, "", ownAddress ? `#${ownAddress}` : location.pathname + location.search);
}

/* ------------------------------------------------------------------------------------------------------ the controls */

function option(value, text, disabled = false) {
  const made = document.createElement("option");
  Object.assign(made, { value, textContent: text, disabled });
  return made;
}

const offered = (launch) => {
  const options = launch.options.filter(Boolean);
  const plain = launch.options.includes("");
  const words = options.length && !plain ? ` with ${options.slice(0, 2).join(" or ")}${options.length > 2 ? " and others" : ""}` : "";
  return `${launch.api}${words}${launch.versions ? `, ${launch.versions}` : ""}`;
};

function fillLaunches() {
  const runtime = runtimeOf(state);
  at("launch").replaceChildren(...(runtime ? runtime.launches.map((launch, index) => option(index, offered(launch))) : [option(0, "as chosen above")]));
  at("launch").disabled = !runtime;
}

function setControls() {
  const { shape, profile } = state;
  const has = profile?.features;
  const memory = shape.memory_bytes ?? privateBytes(has);
  at("memory").value = placeOf(Math.min(memory, MOST.memory_bytes));
  at("memory").setAttribute("aria-valuetext", inBytes(memory));
  at("memory-text").textContent = inBytes(memory);
  for (const radio of document.querySelectorAll("[name=mechanism]")) radio.checked = radio.value === state.mechanism;
  at("runtime").value = state.runtime;
  fillLaunches();
  at("launch").value = state.launch;
  at("pages").value = shape.pages;
  at("pages").options[0].textContent = profile ? "as they are" : "4 KiB";
  at("pages").options[2].hidden = !profile;
  at("placement").value = shape.placement;
  at("placement").options[0].textContent = profile ? "as they are" : "not known";
  const set = (id, values, value, text) => {
    at(id).value = values ? nearest(values, value) : value * 100;
    at(id).setAttribute("aria-valuetext", text);
    at(`${id}-text`).textContent = text;
  };
  const threads = shape.threads ?? has.threads;
  set("threads", THREADS, threads, commas(threads));
  set("rewritten", null, shape.rewritten, percent(shape.rewritten));
  set("copied", COPIED, shape.copied, percent(shape.copied));
  const areas = profile ? has.anon_areas : shape.areas;
  set("areas", AREAS, areas, commas(areas));
  at("areas").disabled = Boolean(profile);
  const files = shape.open_files ?? has.open_files;
  set("files", FILES, files, commas(files));
  at("forget").hidden = !profile;
}

const SETS = {
  memory: (place) => { state.shape.memory_bytes = SIZES[stepAt(Number(place))]; },
  threads: (place) => { state.shape.threads = THREADS[place]; },
  rewritten: (value) => { state.shape.rewritten = value / 100; },
  copied: (place) => { state.shape.copied = COPIED[place]; },
  areas: (place) => { state.shape.areas = AREAS[place]; },
  files: (place) => { state.shape.open_files = FILES[place]; },
  pages: (value) => { state.shape.pages = value; },
  placement: (value) => { state.shape.placement = value; },
  runtime: (value) => Object.assign(state, { runtime: value, launch: 0, mechanism: machine.runtimes.find((each) => each.name === value)?.launches[0].mechanism ?? state.mechanism }),
  launch: (value) => Object.assign(state, { launch: Number(value), mechanism: runtimeOf(state).launches[value].mechanism }),
};

/* --------------------------------------------------------------------------------------------------------- the answer */

const timeline = new Timeline(at("timeline"), machine.words, showTime);
const grid = new PagesGrid(at("pages-grid"));
let answer = null;

function predict() {
  const f = shaped(state.shape, state.profile);
  const launch = predictLaunch(state.mechanism, f, state.shape, machine);
  const compared = predictLaunch(OTHERS[state.mechanism][0], f, state.shape, machine);
  return { f, launch, compared };
}

function update() {
  answer = predict();
  setControls();
  const { f, launch, compared } = answer;
  const call = launchOf(state);
  const told = { process: state.profile ? state.profile.name ?? "your process" : null, call: call?.api.split(", ")[0] ?? null };
  at("answer").textContent = unbroken(answerSentence(state.mechanism, f, launch, compared, told));
  at("meanwhile").textContent = unbroken(meanwhileSentence(state.mechanism, f, launch));
  at("path-note").textContent = call ? `The kernel sees: ${call.kernel}.` : "";
  showBeyond(f);
  drawCurve(at("curve"), state, machine, machine.points);
  timeline.set(launch.parts, launch.call.median);
  fillParts(launch);
  fillOthers(f);
  sayLater();
  document.documentElement.dataset.drawn = "";
}

let sayTimer = 0;
function sayLater() {
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => { if (at("said").textContent !== at("answer").textContent) at("said").textContent = at("answer").textContent; }, SAY_AFTER_MS);
}

/* Terms of which the process has more than was measured. */
function showBeyond(f) {
  const model = machine.calibration.models["fork.first"];
  const most = Object.fromEntries([...model.terms, SCATTERED].map((term, index) => [term, model.most[index]]));
  const beyond = Object.entries(termCounts(f)).filter(([term, count]) => machine.most_bytes && count > 2 * (most[term] ?? 0) && count > 1).map(([term]) => term);
  const words = beyond.map((term) => `${commas(most[term] ?? 0)} ${term}`).join(", ");
  at("range-note").textContent = beyond.length ? `Extrapolated: measured up to ${words}.` : "";
}

function row(cells) {
  const made = document.createElement("tr");
  cells.forEach(([text, kind, hue], index) => {
    const cell = document.createElement(index ? "td" : "th");
    if (!index) cell.scope = "row";
    if (kind) cell.className = kind;
    if (hue) cell.append(Object.assign(document.createElement("span"), { className: `key ${hue}` }));
    cell.append(text);
    made.append(cell);
  });
  return made;
}

const counted = (count) => (count ? commas(Math.round(count)) : "");

function fillParts(launch) {
  const rows = launch.parts.map((part) => {
    const { name, hue, meaning } = machine.words[part.part];
    return row([[`${part.lane === "child" ? "child " : ""}${name}`, "", hue], [briefly(part.lasts), "number"], [counted(part.count), "number"], [meaning, "long"]]);
  });
  at("parts").tBodies[0].replaceChildren(...rows);
}

function fillOthers(f) {
  const rows = machine.ways.map((way) => {
    const shape = { ...state.shape, ...way.shape };
    const changed = way.shape.pages ? shaped(shape, state.profile) : f;
    const cost = costOfWay(way, changed, shape);
    if (!cost) return row([[way.name], ["not measured", "number"], ["", "number interval"], [way.waits, "long"]]);
    return row([[way.name], [briefly(cost.median), "number"], [`${briefly(cost.low)} to ${briefly(cost.high)}`, "number interval"], [way.waits, "long"]]);
  });
  at("others").tBodies[0].replaceChildren(...rows);
}

function costOfWay(way, f, shape) {
  const cost = predictLaunch(way.mechanism, f, shape, machine)?.call;
  return cost && way.until_exit ? plus(cost, costOf(f, machine.calibration.models.exit, machine.scales.waits)) : cost;
}

/* --------------------------------------------------------------------------------------------------------- the player */

function showTime(now) {
  if (!answer) return;
  const { launch, f } = answer;
  const lent = ["posix_spawn", "thread"].includes(state.mechanism);
  const progress = memoryAtTime(launch.parts, now, state.mechanism === "fork" ? state.shape.copied : 0);
  grid.show({ ...progress, lent });
  const whole = privateBytes(f);
  const inChild = Math.max(0, progress.shared - progress.freed);
  at("pages-legend").replaceChildren(...legendOf(lent, whole, inChild, progress.copied));
  at("pages-grid").setAttribute("aria-label", at("pages-legend").textContent);
  at("seek").value = Math.round(1000 * ((now ?? timeline.whole) / timeline.whole));
  const current = now === null ? [] : launch.parts.filter((part) => part.starts <= now && now < part.starts + part.lasts);
  at("now").textContent = now === null ? briefly(timeline.whole) : `${briefly(now)} of ${briefly(timeline.whole)}`;
  [...at("parts").tBodies[0].rows].forEach((each, index) => each.classList.toggle("now", current.includes(launch.parts[index])));
}

function legendOf(lent, whole, inChild, copied) {
  const entry = (kind, text) => {
    const made = document.createElement("li");
    made.append(Object.assign(document.createElement("span"), { className: `key ${kind}` }), text);
    return made;
  };
  if (lent) return [entry("lent", `used by both: ${inBytes(whole)}, nothing is copied`)];
  const tables = answer.launch.pageTables * (whole ? inChild : 1);
  return [
    entry("alone", `the parent's alone: ${inBytes(whole * (1 - inChild))}`),
    entry("shared", `shared, only page tables were copied (${inBytes(tables)}): ${inBytes(whole * Math.max(0, inChild - copied))}`),
    entry("copied", `copied on write: ${inBytes(whole * Math.min(copied, inChild))}`),
  ];
}

function setPlay(plays) {
  at("play").textContent = plays ? "Pause" : "Play";
  at("play").setAttribute("aria-pressed", plays);
}

at("play").addEventListener("click", () => {
  if (timeline.plays) timeline.pause();
  else timeline.play(at("slow").checked, still.matches, () => setPlay(false));
  setPlay(timeline.plays);
});
at("step").addEventListener("click", () => { timeline.step(); setPlay(false); });
at("seek").addEventListener("input", () => {
  timeline.pause();
  setPlay(false);
  timeline.seek((at("seek").value / 1000) * timeline.whole);
});

/* ---------------------------------------------------------------------------------------------------------- a profile */

function saysOfProfile(text, isBad) {
  at("profile-note").textContent = text;
  at("profile-note").classList.toggle("bad", isBad);
}

async function takeProfile(file) {
  if (!file) return;
  try {
    const profile = await readProfile(file);
    state = { ...fresh(profile), mechanism: state.mechanism, runtime: state.runtime, launch: state.launch };
    saysOfProfile(`This is ${profile.name ?? "your process"}: ${inBytes(privateBytes(profile.features))}, ${commas(profile.features.threads)} threads. The link to this page now has it.`, false);
    changed();
    at("answer").scrollIntoView({ behavior: still.matches ? "auto" : "smooth", block: "center" });
  } catch (error) {
    if (!(error instanceof ProfileError)) throw error;
    saysOfProfile(`${nameOf(file.name) ?? "The file"} was not taken. ${error.message} 'clonometer predict --save-profile' writes one.`, true);
  }
}

at("profile").addEventListener("change", () => takeProfile(at("profile").files[0]));
at("forget").addEventListener("click", () => {
  state = { ...fresh(null), mechanism: state.mechanism, runtime: state.runtime, launch: state.launch };
  at("profile").value = "";
  saysOfProfile("Or drop it anywhere on this page.", false);
  changed();
  at("profile").focus();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.documentElement.classList.toggle("dragging", kind === "dragover");
    if (kind === "drop") takeProfile(event.dataTransfer.files[0]);
  });
}

/* ------------------------------------------------------------------------------------------------------------ sharing */

at("copy-link").addEventListener("click", async ({ target }) => {
  clearTimeout(addressTimer);
  putAddress();
  try {
    await navigator.clipboard.writeText(location.href);
    target.textContent = "Copied";
  } catch {
    target.textContent = "Copy the address above";
  }
  setTimeout(() => { target.textContent = "Copy link"; }, COPIED_FOR_MS);
});

/* --------------------------------------------------------------------------------------------------------------- start */

function changed() {
  keepAddress();
  update();
}

at("controls").addEventListener("input", ({ target }) => {
  if (target.name === "mechanism") Object.assign(state, { mechanism: target.value, runtime: "", launch: 0 });
  else if (target.id in SETS) SETS[target.id](target.value);
  changed();
});
/* Keys go from size to size. */
at("memory").addEventListener("keydown", (event) => {
  const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 4, PageDown: -4, Home: -STEPS, End: STEPS }[event.key];
  if (!steps || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const step = stepAt(Number(at("memory").value)) + steps;
  state.shape.memory_bytes = SIZES[Math.min(Math.max(step, 0), STEPS)];
  changed();
});
at("controls").addEventListener("submit", (event) => event.preventDefault());

function begin() {
  at("runtime").replaceChildren(option("", "any language"), ...machine.runtimes.map((each) => option(each.name, each.title)));
  for (const radio of document.querySelectorAll("[name=mechanism]")) radio.disabled = radio.value in CALLS && !machine.calibration.models[CALLS[radio.value]];
  document.documentElement.dataset.drawn = "";
  state = stateOf(location.hash.slice(1));
  if (!predict().launch) state.mechanism = "fork";
  update();
}

addEventListener("hashchange", () => {
  if (location.hash.slice(1) === ownAddress) return;
  state = stateOf(location.hash.slice(1));
  update();
});
addEventListener("resize", () => { update(); });
globalThis.clonometerPage = { evaluate: (questions) => evaluate(questions, machine), now: () => answer, profileOf, timeline };
begin();
