/* Long tables that can be filtered and sorted. */

function setUpTable(table, form, count) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  const texts = rows.map((row) => `${row.title} ${row.textContent}`.toLowerCase());
  const note = count.dataset.note && `; ${count.dataset.note}`;
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
    count.textContent = `${shown === rows.length ? "" : `${shown} of `}${rows.length} rows${note}.`;
  };

  const sort = (column, kind, descending) => {
    const key = (row) => {
      const cell = row.cells[column];
      return kind === "number" ? (cell.dataset.v === undefined ? null : Number(cell.dataset.v)) : cell.textContent;
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

for (const table of document.querySelectorAll("table.searchable")) {
  const beside = (name) => document.getElementById(table.id.replace(/table$/, name));
  setUpTable(table, beside("filters"), beside("count"));
}
