"use strict";
const each = (selector, act) => document.querySelectorAll(selector).forEach(act);

// Tables with sorting headings: numbers, given by data-sort, from the largest down first; text from A; no value last.
each("table[data-sortable]", (table) => {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const value = (row, column) => { const cell = row.cells[column]; return "sort" in cell.dataset ? parseFloat(cell.dataset.sort) : cell.textContent.trim(); };
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const rows = [...body.rows], text = rows.length > 0 && !("sort" in rows[0].cells[column].dataset);
    const now = head.getAttribute("aria-sort"), down = now === "none" ? !text : now === "ascending";
    heads.forEach((other) => other.hasAttribute("aria-sort") && other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const order = (a, b) => text ? a.localeCompare(b) : a - b;
    rows.map((row) => [value(row, column), row]).sort(([a], [b]) => Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || (down ? order(b, a) : order(a, b)))
      .forEach(([, row]) => body.append(row));
  }));
});

// A form of filters: every element with data-text is shown if it holds all words and equals every choice; the output counts rows.
each("form[data-filters]", (form) => {
  const count = form.querySelector("output");
  const filter = () => {
    const { text, ...choices } = Object.fromEntries(new FormData(form)), words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    each("[data-text]", (item) => {
      item.hidden = !words.every((word) => item.dataset.text.includes(word)) || Object.entries(choices).some(([name, value]) => value && item.dataset[name] !== value);
      shown += !item.hidden && item.tagName === "TR";
    });
    count.textContent = `${shown} of ${count.dataset.all}`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
});

// A link to something inside closed details opens them.
const open = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1))), box = target && target.closest("details");
  if (box) { box.hidden = false; box.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", open);
open();
