"use strict";

/* Zooms the tree of tasks. Each track knows its place as shares of the time; only which part is seen changes here. */
function zoomable(tree) {
  const wallNs = Number(tree.dataset.wall);
  const tools = tree.querySelector(".tree-tools");
  const ticks = [...tree.querySelectorAll(".tree-axis span")];
  const rows = [...tree.querySelectorAll("li[style]")];
  const place = (row, name) => Number(row.style.getPropertyValue(name));
  let from = 0;
  let zoom = 1;

  const inTime = (share) => {
    const ns = share * wallNs;
    const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([least]) => wallNs / zoom >= least) ?? [1, "ns"];
    const digits = Math.max(0, Math.min(6, Math.ceil(Math.log10(unit / (wallNs / zoom)) + 2)));
    return `${(ns / unit).toFixed(digits)} ${name}`;
  };
  const seen = document.createElement("output");
  const onlySeen = document.createElement("input");

  function draw() {
    zoom = Math.min(Math.max(zoom, 1), 1e7);
    from = Math.min(Math.max(from, 0), 1 - 1 / zoom);
    tree.style.setProperty("--zoom", zoom);
    tree.style.setProperty("--from", from);
    ticks.forEach((tick, step) => { tick.textContent = inTime(from + step / (ticks.length - 1) / zoom); });
    seen.textContent = `${inTime(from)} to ${inTime(from + 1 / zoom)}`;
    for (const row of rows) {
      const start = place(row, "--s");
      row.hidden = onlySeen.checked && (start > from + 1 / zoom || start + place(row, "--w") < from);
    }
    document.documentElement.dataset.drawn = "";
  }
  function zoomBy(factor, at = 0.5) {
    const share = from + at / zoom;
    zoom = Math.min(Math.max(zoom * factor, 1), 1e7);
    from = share - at / zoom;
    draw();
  }
  const move = (part) => { from += part / zoom; draw(); };
  const whole = () => { from = 0; zoom = 1; draw(); };
  function show(row) {
    const width = Math.max(place(row, "--w"), 2e-7) * 1.2;
    zoom = 1 / width;
    from = place(row, "--s") - width / 12;
    draw();
  }
  function nextMarked() {
    const marked = rows.filter((row) => row.classList.contains("marked") && !row.hidden);
    const now = marked.indexOf(document.activeElement?.closest("li"));
    const next = marked[(now + 1) % marked.length];
    next?.querySelector("summary").focus();
  }

  function button(text, label, act, parent = tools) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.title = label;
    made.addEventListener("click", act);
    parent.append(made);
  }
  button("+", "Zoom in", () => zoomBy(2));
  button("−", "Zoom out", () => zoomBy(0.5));
  button("←", "Earlier", () => move(-0.25));
  button("→", "Later", () => move(0.25));
  button("Whole", "Show the whole time", whole);
  if (rows.some((row) => row.classList.contains("marked"))) button("Next ▲", "Next of the most expensive tasks", nextMarked);
  const label = document.createElement("label");
  onlySeen.type = "checkbox";
  onlySeen.addEventListener("change", draw);
  label.append(onlySeen, " only tasks in this time");
  tools.append(label, seen);
  tools.hidden = false;

  tree.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target === onlySeen) return;
    const acts = { "+": () => zoomBy(2), "=": () => zoomBy(2), "-": () => zoomBy(0.5), 0: whole, ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  });
  tree.addEventListener("wheel", (event) => {
    const track = event.target.closest(".tree-track");
    if (!track || !event.ctrlKey) return;
    event.preventDefault();
    const { left, width } = track.getBoundingClientRect();
    zoomBy(event.deltaY < 0 ? 1.4 : 1 / 1.4, (event.clientX - left) / width);
  }, { passive: false });
  /* Only what is opened gets a button. */
  tree.addEventListener("toggle", (event) => {
    if (event.target.open && !event.target.querySelector("button")) button("Zoom to it", "Zoom to this track", () => show(event.target.closest("li")), event.target);
  }, true);
  addEventListener("resize", draw);
  draw();
}

for (const tree of document.querySelectorAll(".tree")) zoomable(tree);
