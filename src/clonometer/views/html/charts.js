/* What is drawn, and the library that draws it, are stored compressed. Where the library is not there, or a browser cannot
   unpack it, nothing is drawn: the page says so, and its tables have every figure. */
async function unpacked(name) {
  const packed = Uint8Array.from(atob(document.getElementById(name).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function sayTooOld() {
  document.body.classList.add("no-charts");
  const words = "This browser is too old to draw the charts of this page (2023 or later can). The tables have every figure.";
  const said = Object.assign(document.createElement("p"), { className: "banner", textContent: words });
  said.setAttribute("role", "status");
  document.querySelector("main").prepend(said);
}

async function loadLibrary() {
  if (document.getElementById("chart-library")) new Function(await unpacked("chart-library"))();
}

if (!window.DecompressionStream) sayTooOld();
const report = window.DecompressionStream ? JSON.parse(await unpacked("chart-data")) : { charts: [], switched: [] };
const library = window.DecompressionStream && loadLibrary();

/* Charts. Colours of text and lines are currentColor, so they follow light, dark and print by themselves. */

const views = new Map();

async function draw(element, spec) {
  await library;
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
  for (const chart of report.charts) {
    const element = document.getElementById(chart.id);
    if (element.clientWidth && isDue(element)) await draw(element, structuredClone(chart.spec));
  }
}

/* Charts of which the reader chooses the lines: points are laid out here because each is stored once, compactly. */

function chosenLines(figure, choice) {
  const isShown = (line) => figure.switches.every(({ name }, place) => line.shown[place].includes(choice[name]));
  return figure.lines.filter(isShown);
}

function pointsOf(line, x, y) {
  const { shown, ...shared } = line;
  return line[x].map((value, place) => ({ ...shared, [x]: value, [y]: line[y][place] }));
}

function switchedSpec(figure, lines, choice) {
  const spec = structuredClone(figure.spec);
  const { encoding } = spec;
  const points = lines.flatMap((line) => pointsOf(line, encoding.x.field, encoding.y.field));
  const colours = new Map(lines.map(({ label, colour }) => [label, colour]));
  const [labels, range] = [[...colours.keys()], [...colours.values()]];
  // Lines of one mechanism have its colour, and differ by their dashes.
  const dashes = range.map((colour, place) => {
    const before = range.slice(0, place).filter((other) => other === colour).length;
    return report.dashes[before % report.dashes.length];
  });
  spec.data = { values: points };
  encoding.color.scale = { domain: labels, range };
  encoding.strokeDash.scale = { domain: labels, range: dashes };
  encoding.x = figure.axes[figure.axis_by.map((name) => choice[name]).join(" ")];
  // What all lines have in common needs no legend.
  const { field } = encoding.strokeWidth;
  if (new Set(lines.map((line) => line[field])).size < 2) encoding.strokeWidth.legend = null;
  return spec;
}

async function drawSwitched(figure) {
  const element = document.getElementById(figure.id);
  const caption = document.getElementById(`${figure.id}-caption`);
  const choice = Object.fromEntries(new FormData(document.getElementById(`${figure.id}-choices`)));
  const lines = chosenLines(figure, choice);
  if (lines.length === 0) {
    views.get(element)?.finalize();
    views.delete(element);
    element.replaceChildren();
    caption.textContent = "Nothing was measured for this choice.";
    return;
  }
  await draw(element, switchedSpec(figure, lines, choice));
  const names = [...new Set(lines.map((line) => line.label))].join("; ");
  caption.textContent = `Shown: ${names}.`;
  element.setAttribute("aria-label", `${figure.alt}. ${caption.textContent}`);
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

const drawAll = async () => {
  await drawCharts();
  for (const figure of report.switched) await drawSwitched(figure);
  document.documentElement.dataset.drawn = "yes";
};
for (const figure of report.switched) {
  document.getElementById(`${figure.id}-choices`).addEventListener("input", () => drawSwitched(figure));
}
redrawOnChange(drawAll);
document.addEventListener("toggle", () => drawCharts((element) => !views.has(element)), true);
await drawAll();
