"use strict";

/* What a call costs a process: the steps of clonometer.model.predictor, with the calibration that the page carries. */

const PAGE_BYTES = 4096;
const PAGES_OF_HUGE = 512;
const HUGE_BYTES = PAGE_BYTES * PAGES_OF_HUGE;
const NINE_IN_TEN = 1.6449;
const SCATTERED = "scattered pages";
/* Part of the pages that is taken to be scattered where no frame was seen. */
const UNSEEN_PART = 0.5;
const FIELDS = [
  "anon_areas", "anon_pages", "anon_tables", "placed_pages", "scattered_pages", "empty_areas", "file_areas", "file_pages",
  "shared_areas", "shared_pages", "dontfork_areas", "dontfork_pages", "wipeonfork_areas", "wipeonfork_pages",
  "locked_pages", "huge_pages", "hugetlb_pages", "hugetlb_page_bytes", "swapped_pages", "uffd_areas",
  "page_table_bytes", "open_files", "threads",
];
const NOTHING = Object.fromEntries(FIELDS.map((name) => [name, 0]));

const smallPages = (f) => f.anon_pages + f.swapped_pages;
const scatteredPages = (f) =>
  f.placed_pages ? (smallPages(f) * f.scattered_pages) / f.placed_pages : UNSEEN_PART * smallPages(f);

function termCounts(f) {
  return {
    base: 1,
    "small pages": smallPages(f),
    "page tables": f.anon_tables,
    "written areas": f.anon_areas,
    "empty areas": f.empty_areas + f.wipeonfork_areas,
    "file and shared areas": f.file_areas + f.shared_areas,
    "areas kept from children": f.dontfork_areas,
    "huge pages": f.huge_pages,
    "hugetlb pages": f.hugetlb_pages,
    "open files": f.open_files,
    "further threads": Math.max(0, f.threads - 1),
    "having threads": f.threads > 1 ? 1 : 0,
    "userfaultfd areas": f.uffd_areas,
    [SCATTERED]: scatteredPages(f),
  };
}

function touchedBytes(f) {
  const areas =
    2 * f.anon_areas + f.empty_areas + f.wipeonfork_areas + f.dontfork_areas + f.file_areas + f.shared_areas;
  return 64 * smallPages(f) + 2 * PAGE_BYTES * f.anon_tables + 500 * areas;
}

/* Weights of a scattered page's times at the knots: linear in the logarithm of what is touched. */
function tents(touched, knots) {
  if (!knots.length) return [];
  const logs = knots.map(Math.log);
  const place = Math.min(Math.max(Math.log(Math.max(touched, 1)), logs[0]), logs[logs.length - 1]);
  const right = Math.max(1, logs.findIndex((log) => log >= place));
  if (logs.length === 1) return [1];
  const part = (place - logs[right - 1]) / (logs[right] - logs[right - 1]);
  return logs.map((_, index) => (index === right - 1 ? 1 - part : index === right ? part : 0));
}

const dot = (left, right) => left.reduce((sum, value, index) => sum + value * right[index], 0);

function designRow(f, model) {
  const counts = termCounts(f);
  return [
    ...model.terms.map((term) => counts[term]),
    ...tents(touchedBytes(f), model.knots).map((weight) => weight * counts[SCATTERED]),
  ];
}

function scatteredNs(f, model) {
  return dot(tents(touchedBytes(f), model.knots), model.each_ns.slice(model.terms.length));
}

/* How far the fits to processes that were drawn again lie apart: a standard deviation of the logarithm. */
function ofCoefficients(row, model) {
  const logs = model.draws_ns.map((draw) => dot(row, draw)).filter((ns) => ns > 0).map(Math.log);
  if (logs.length < 2) return 0;
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  return Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1));
}

/* A call: its median, and between which times nine in ten single calls lie, in ns. */
function costOf(f, model, scale) {
  const row = designRow(f, model);
  const median = dot(row, model.each_ns) * scale.factor;
  if (!(median > 0)) return { low: 0, median: 0, high: 0 };
  const frames = f.placed_pages ? 0 : (smallPages(f) * scatteredNs(f, model)) / Math.sqrt(12);
  const deviations = [ofCoefficients(row, model), model.misfit, model.scatter, scale.spread, (frames * scale.factor) / median];
  const ratio = Math.exp(NINE_IN_TEN * Math.hypot(...deviations));
  return { low: median / ratio, median, high: median * ratio };
}

/* The part of each term in a call's median; they add up to it. */
function termCosts(f, model, scale) {
  const counts = termCounts(f);
  const costs = Object.fromEntries(model.terms.map((term, index) => [term, counts[term] * model.each_ns[index] * scale.factor]));
  costs[SCATTERED] = counts[SCATTERED] * scatteredNs(f, model) * scale.factor;
  return costs;
}

const plus = (call, wait) => ({ low: call.low + wait.low, median: call.median + wait.median, high: call.high + wait.high });
const mixed = (first, unwritten, share) =>
  Object.fromEntries(["low", "median", "high"].map((end) => [end, share * first[end] + (1 - share) * unwritten[end]]));

/* Page tables that a forked child needs, in bytes. */
function pageTablesBytes(f) {
  const tables = f.anon_tables + f.huge_pages;
  return tables ? PAGE_BYTES * (tables + Math.ceil(tables / PAGES_OF_HUGE) + 2) : 0;
}

/* What copying on write costs if every page is written to (clonometer.prediction.copying). */
function copyingAtWorst(f, firstWrites, scale) {
  const small = f.anon_pages;
  const bytes = (small + f.huge_pages * PAGES_OF_HUGE) * PAGE_BYTES + f.hugetlb_pages * f.hugetlb_page_bytes;
  const each = (name) => (firstWrites[name] ? firstWrites[name].median_ns * scale.factor : null);
  const page = each("parent_small");
  const huge = each("parent_huge_all") ?? (page === null ? null : page * PAGES_OF_HUGE);
  return { bytes, ns: page === null ? null : small * page + f.huge_pages * (huge ?? 0) };
}
