/* The process that the controls describe, as counts (clonometer.prediction.fork_shape). */

const SMALL_PROGRAM = {
  ...NOTHING, anon_areas: 11, anon_pages: 27, anon_tables: 3, empty_areas: 3, file_areas: 21, shared_areas: 1, open_files: 3, threads: 1,
};
const SCALED = ["anon_pages", "anon_tables", "placed_pages", "scattered_pages", "huge_pages", "hugetlb_pages", "swapped_pages"];
const rounded = (number) => Math.floor(number + 0.5);

const privateBytes = (f) =>
  smallPages(f) * PAGE_BYTES + f.huge_pages * HUGE_BYTES + f.hugetlb_pages * f.hugetlb_page_bytes;

function madeFeatures(shape) {
  const pages = Math.floor((shape.memory_bytes ?? 0) / PAGE_BYTES);
  const further = (shape.threads ?? 1) - 1;
  const huge = shape.pages === "huge" ? Math.floor(pages / PAGES_OF_HUGE) : 0;
  const small = pages - huge * PAGES_OF_HUGE;
  const areas = Math.min(shape.areas ?? 1, small + huge);
  const base = SMALL_PROGRAM;
  return {
    ...base,
    anon_areas: base.anon_areas + areas + further,
    anon_pages: base.anon_pages + small + further,
    anon_tables: base.anon_tables + Math.ceil(small / PAGES_OF_HUGE) + further,
    empty_areas: base.empty_areas + further,
    huge_pages: huge,
    open_files: shape.open_files ?? base.open_files,
    threads: 1 + further,
  };
}

function withHugePages(f, couldBeHuge) {
  const huge = Math.min(couldBeHuge, Math.floor(f.anon_pages / PAGES_OF_HUGE));
  const small = f.anon_pages - huge * PAGES_OF_HUGE;
  return {
    ...f,
    anon_pages: small,
    huge_pages: f.huge_pages + huge,
    anon_tables: Math.max(0, Math.min(small, f.anon_tables - huge)),
  };
}

const withoutHugePages = (f) => ({
  ...f, anon_pages: f.anon_pages + f.huge_pages * PAGES_OF_HUGE, huge_pages: 0, anon_tables: f.anon_tables + f.huge_pages,
});

function changedFeatures(features, couldBeHuge, shape) {
  let f = features;
  const whole = privateBytes(f);
  if (shape.memory_bytes !== null && whole) {
    const ratio = shape.memory_bytes / whole;
    f = { ...f, ...Object.fromEntries(SCALED.map((name) => [name, rounded(f[name] * ratio)])) };
    couldBeHuge = rounded(couldBeHuge * ratio);
  }
  if (shape.pages === "huge") f = withHugePages(f, couldBeHuge);
  else if (shape.pages === "small") f = withoutHugePages(f);
  return { ...f, threads: shape.threads ?? f.threads, open_files: shape.open_files ?? f.open_files };
}

/* ``profile``: null, or its features and how many huge pages its small ones would fill. */
function shaped(shape, profile) {
  const f = profile ? changedFeatures(profile.features, profile.couldBeHuge, shape) : madeFeatures(shape);
  if (shape.placement === "given") return f;
  return { ...f, placed_pages: f.anon_pages, scattered_pages: shape.placement === "scattered" ? f.anon_pages : 0 };
}
