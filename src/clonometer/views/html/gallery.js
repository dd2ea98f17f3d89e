"use strict";

const { machines, like } = JSON.parse(document.getElementById("gallery-data").textContent);
const form = document.getElementById("search");
const body = document.querySelector("#list tbody");
const rows = new Map([...body.rows].map((row) => [row.dataset.id, row]));
const count = document.getElementById("count");
let model = null;

/* How alike two machines are: the processor counts most, then kernel and hypervisor, mitigations, the number of CPUs. */
function likeness(facts) {
  const same = (key) => (facts[key] != null && facts[key] === model[key] ? 1 : 0);
  const release = (text) => String(text ?? "").split(".").slice(0, 2).join(".");
  const kernel = release(facts["kernel.release"]) === release(model["kernel.release"]) ? 1 : 0;
  const cpus = Math.abs(Math.log2((facts["cpu.online"] || 1) / (model["cpu.online"] || 1)));
  return 4 * same("cpu.model") + same("cpu.vendor") + 2 * same("cpu.arch") + 2 * kernel + same("kernel.release")
    + 2 * same("virt.hypervisor") + 2 * same("mitigations.summary") - Math.min(cpus, 4) / 2;
}

function show() {
  const wish = new FormData(form);
  const words = String(wish.get("words")).toLowerCase().split(/\s+/).filter(Boolean);
  const shown = machines.filter((machine) => {
    const text = [machine.name, machine.kernel, machine.hypervisor, machine.mitigations, machine.facts["cpu.model"]].join(" ").toLowerCase();
    return words.every((word) => text.includes(word))
      && ["kernel", "mitigations"].every((name) => !wish.get(name) || wish.get(name) === machine[name]);
  });
  if (model) shown.sort((a, b) => likeness(b.facts) - likeness(a.facts));
  const ids = new Set(shown.map((machine) => machine.id));
  for (const [id, row] of rows) row.hidden = !ids.has(id);
  body.append(...shown.map((machine) => rows.get(machine.id)));
  count.textContent = `${shown.length} shown${model ? ", the most alike first" : ""}. Your summary stays in this browser: nothing is sent.`;
}

function likeMachine(id) {
  const machine = machines.find((each) => each.id === id);
  if (machine) model = machine.facts;
  show();
}

form.addEventListener("input", (event) => {
  if (event.target.name !== "mine") show();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.elements.mine.addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  try {
    const { facts } = JSON.parse(await file.text());
    model = Object.fromEntries(like.map((key) => [key, facts[key] ?? null]));
    show();
  } catch {
    count.textContent = "That file is not a published summary: clonometer publish RUN --anonymous makes one.";
  }
});
body.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) likeMachine(button.closest("tr").dataset.id);
});
const asked = /^#like=([0-9a-f]+)$/.exec(location.hash);
if (asked) likeMachine(asked[1]);
