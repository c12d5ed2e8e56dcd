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

// The address after "#" names an element, or holds the choices of the filters: #derived=HONEST&text=pavlik.
const choices = () => location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : null;

// A form of filters: every element with data-text is shown if it holds all words and equals every choice; the output counts rows.
each("form[data-filters]", (form) => {
  const count = form.querySelector("output");
  const filter = () => {
    const { text, ...chosen } = Object.fromEntries(new FormData(form)), words = text.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0, rows = 0;
    each("[data-text]", (item) => {
      item.hidden = !words.every((word) => item.dataset.text.includes(word)) || Object.entries(chosen).some(([name, value]) => value && item.dataset[name] !== value);
      rows += item.tagName === "TR";
      shown += !item.hidden && item.tagName === "TR";
    });
    count.textContent = shown < rows ? `${shown} of ${count.dataset.all}` : count.dataset.all;
  };
  const fields = () => [...form.elements].filter((field) => field.name);
  const write = () => {
    filter();
    const given = new URLSearchParams(fields().filter((field) => field.value).map((field) => [field.name, field.value]));
    history.replaceState(null, "", `#${given}`);
  };
  const read = (given) => {
    fields().forEach((field) => { field.value = given.get(field.name) ?? ""; if (field.selectedIndex < 0) field.value = ""; });
    filter();
    (form.closest("section") ?? form).scrollIntoView();
  };
  const follow = () => choices() && read(choices());
  form.addEventListener("input", write);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(write));
  addEventListener("hashchange", follow);
  filter();
  follow();
});

// A button that copies the text of the element that it names; without access to the clipboard it selects the text.
each("button[data-copy]", (button) => {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      button.textContent = "Selected";
    }
  });
});

// A link to something inside closed details opens them; a link to all that they hold shows their summary, too.
const open = () => {
  const target = choices() ? null : document.getElementById(decodeURIComponent(location.hash.slice(1))), box = target && target.closest("details");
  if (box) { box.hidden = false; box.open = true; (target.previousElementSibling?.tagName === "SUMMARY" ? box : target).scrollIntoView(); }
};
addEventListener("hashchange", open);
open();
