const report = JSON.parse(document.getElementById("report-data").textContent);

/* Charts. Colours of text and lines are currentColor, so they follow light, dark and print by themselves. */

const views = new Map();

async function draw(element, spec) {
  if (!window.vegaEmbed) return; // a page without charts says so
  views.get(element)?.finalize();
  fit(spec, element.clientWidth);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const options = {
    actions: false,
    config: report.theme,
    defaultStyle: false,
    mode: "vega-lite",
    renderer: "svg",
    tooltip: { theme: dark ? "dark" : "light" },
  };
  views.set(element, await vegaEmbed(element, spec, options));
}

/* What is folded has no width: it is drawn once it is opened. */
async function drawCharts(isDue = () => true) {
  for (const chart of [...report.charts, ...report.explained]) {
    const element = document.getElementById(chart.id);
    if (element.clientWidth && isDue(element)) await draw(element, structuredClone(chart.spec));
  }
}

/* Distributions: the reader chooses, the points are laid out here because each is stored once, compactly. */

function chosenSeries(choice) {
  const condition = (one) =>
    choice.condition === "all" || (choice.condition === "plain" ? one.plain : !one.plain && one.condition === choice.condition);
  return report.ecdf.series.filter(
    (one) =>
      one.family === choice.family &&
      one.stage === choice.stage &&
      one.placement === choice.placement &&
      (choice.temperature === "all" || one.temperature === choice.temperature) &&
      condition(one),
  );
}

function ecdfPoints(series) {
  const points = [];
  for (const one of series) {
    const shared = { label: one.label, temperature: one.temperature };
    let risen = false;
    one.time_ns.forEach((time_ns, place) => {
      if (time_ns <= 0) return;
      if (!risen) points.push({ ...shared, time_ns, share: 0 });
      risen = true;
      points.push({ ...shared, time_ns, share: one.share[place] });
    });
  }
  return points;
}

function ecdfSpec(points, series, choice) {
  const spec = structuredClone(report.ecdf.spec);
  const colours = new Map(series.map(({ label, colour }) => [label, colour]));
  const [labels, range] = [[...colours.keys()], [...colours.values()]];
  // Lines of one mechanism have its colour, and differ by their dashes.
  const dashes = range.map((colour, place) => {
    const before = range.slice(0, place).filter((other) => other === colour).length;
    return report.dashes[before % report.dashes.length];
  });
  spec.data = { values: points };
  spec.encoding.color.scale = { domain: labels, range };
  spec.encoding.strokeDash.scale = { domain: labels, range: dashes };
  spec.encoding.x = report.ecdf.axes[choice.family][choice.condition];
  if (new Set(points.map((point) => point.temperature)).size < 2) spec.encoding.strokeWidth.legend = null;
  return spec;
}

async function drawEcdf(form) {
  const element = document.getElementById("ecdf");
  const caption = document.getElementById("ecdf-caption");
  const choice = Object.fromEntries(new FormData(form));
  const series = chosenSeries(choice);
  const points = ecdfPoints(series);
  if (points.length === 0) {
    views.get(element)?.finalize();
    views.delete(element);
    element.replaceChildren();
    caption.textContent = "Nothing was measured for this choice.";
    return;
  }
  await draw(element, ecdfSpec(points, series, choice));
  const names = [...new Set(series.map((one) => one.label))].join("; ");
  caption.textContent = `Shown: ${names}.`;
  element.setAttribute("aria-label", `Distributions of launch times. ${caption.textContent}`);
}

/* The table of all cells: filter and sort. */

function setUpTable(table, form) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const texts = rows.map((row) => `${row.title} ${row.textContent}`.toLowerCase());
  const count = document.getElementById("cell-count");
  // So many rows would say their headings for a third of the page's bytes.
  for (const row of rows) for (const cell of [...row.cells].slice(1)) cell.dataset.head = titles[cell.cellIndex];

  const filter = () => {
    const { text = "", ...exact } = Object.fromEntries(new FormData(form));
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, place) => {
      const keep =
        words.every((word) => texts[place].includes(word)) &&
        Object.entries(exact).every(([name, value]) => !value || row.cells[titles.indexOf(name)].textContent === value);
      row.hidden = !keep;
      shown += keep ? 1 : 0;
    });
    count.textContent = shown === rows.length ? `${rows.length} rows; times in µs.` : `${shown} of ${rows.length} rows; times in µs.`;
  };

  const sort = (column, kind, descending) => {
    const key = (row) => {
      const cell = row.cells[column];
      return kind === "number" ? (cell.dataset.v === "" ? null : Number(cell.dataset.v)) : cell.textContent;
    };
    const compare = (a, b) => {
      const [left, right] = [key(a), key(b)];
      if (left === null || right === null) return (left === null) - (right === null);
      const order = kind === "number" ? left - right : left.localeCompare(right, "en", { numeric: true });
      return descending ? -order : order;
    };
    body.append(...[...rows].sort(compare));
  };

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of table.tHead.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(head.cellIndex, button.dataset.kind, descending);
    });
  }
  filter();
}

function setUpCopy(button, code) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
  });
}

/* A width that changes moves legends, so charts are drawn anew, once the window has come to rest; what appears beside
   the pointer is light or dark from the drawing on. */

function redrawOnChange(redraw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  let timer = 0;
  let width = document.documentElement.clientWidth;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (document.documentElement.clientWidth !== width) {
        width = document.documentElement.clientWidth;
        redraw();
      }
    }, 150);
  });
}

const table = document.getElementById("cell-table");
if (table) setUpTable(table, document.getElementById("cell-filters"));
const copy = document.getElementById("copy");
if (copy) setUpCopy(copy, document.getElementById("command"));

const choices = document.getElementById("ecdf-choices");
const drawAll = async () => {
  await drawCharts();
  if (choices) await drawEcdf(choices);
  document.documentElement.dataset.drawn = "yes";
};
if (choices) choices.addEventListener("input", () => drawEcdf(choices));
redrawOnChange(drawAll);
document.addEventListener("toggle", () => drawCharts((element) => !views.has(element)), true);
await drawAll();
