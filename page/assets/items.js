// The list of items: filters, search, and a list that draws only what is seen.

const NO_FILTER = { run: 0, against: 1, status: "all", cls: "", shape: "", ds: "", q: "" };
const ROW = 54; // the height of a row in pixels, as in the style sheet
const TALLEST = 12e6; // pixels; browsers cannot scroll through more than some millions
const LONGEST_QUERY = 300; // characters

const source = served ? paged : embedded;

let ready = false; // the source is
let filter = { ...NO_FILTER };
let items = null; // the list of the items that pass the filter
let current = null; // the row of the item that is shown

const $ = (id) => document.getElementById(id);

const classNumber = (name) => DATA.classes.findIndex((c) => c.name === name);

// right says whether column c got the item of a row right; undefined if it was
// not asked. In a turn without a gold call to make no call is right.
function right(c, row) {
  const spa = row.runs[c].SPA;
  return spa < 0 ? undefined : spa === 1000;
}

function fillFilters() {
  const fill = (id, options, any) => $(id).replaceChildren(...(any ? [el("option", { value: "" }, any)] : []), ...options.map(([value, label]) => el("option", { value }, label)));
  const columns = DATA.columns.map((c, i) => [i, c.label]);
  fill("f-run", columns);
  fill("f-against", columns);
  const alone = DATA.columns.length < 2;
  fill("f-status", DATA.statuses.filter((s) => !alone || !s.several).map((s) => [s.name, s.doc]));
  fill("f-class", DATA.classes.filter((c) => c.name !== "right").map((c) => [c.name, words(c.name)]), "any");
  fill("f-shape", DATA.shapes.map((s) => [s, s]), "any");
  fill("f-dataset", DATA.datasets.map((s) => [s, s]), "any");
}

// showFilter writes the filter into the form.
function showFilter() {
  const values = { "f-run": filter.run, "f-against": filter.against, "f-status": filter.status, "f-class": filter.cls, "f-shape": filter.shape, "f-dataset": filter.ds, "f-search": filter.q };
  for (const [id, value] of Object.entries(values)) if ($(id).value !== String(value)) $(id).value = String(value);
  $("f-against-label").hidden = !DATA.statuses.find((s) => s.name === filter.status).against;
}

function readFilter() {
  filter = { run: Number($("f-run").value), against: Number($("f-against").value), status: $("f-status").value, cls: $("f-class").value, shape: $("f-shape").value, ds: $("f-dataset").value, q: $("f-search").value };
  if (filter.against === filter.run) filter.against = filter.run === 0 ? Math.min(1, DATA.columns.length - 1) : 0;
}

// applyFilter finds the items anew and draws the list.
function applyFilter() {
  const from = performance.now();
  if (items) items.stop();
  const list = items = source.find(filter, () => { if (list === items) drawList(); });
  $("list").scrollTop = 0;
  drawList();
  reveal();
  document.body.dataset.filterMs = (performance.now() - from).toFixed(1); // for tests of speed
}

// drawList draws what the list has by now.
function drawList() {
  const n = items.total;
  const count = n === DATA.items ? `${number(n)} items` : `${number(n)} of ${number(DATA.items)} items`;
  $("count").textContent = items.fault || (items.progress ? (n ? `${count}, ` : "") + items.progress : count);
  $("rows").style.height = `${Math.min(n * ROW, TALLEST)}px`;
  drawRows();
}

// stretch is how many pixels of the list a pixel of its scroll bar is.
function stretch() {
  const window = $("list").clientHeight;
  return Math.max(1, (items.total * ROW - window) / (TALLEST - window));
}

function drawRows() {
  if (!items) return;
  const list = $("list");
  const top = list.scrollTop * stretch();
  const first = Math.max(0, Math.floor(top / ROW) - 5);
  const last = Math.min(items.total, Math.ceil((top + list.clientHeight) / ROW) + 5);
  const rows = [];
  for (let at = first; at < last; at++) {
    const node = rowNode(at, items.row(at));
    node.style.top = `${at * ROW - top + list.scrollTop}px`;
    rows.push(node);
  }
  $("rows").replaceChildren(...rows);
  const chosen = rows.find((r) => r.getAttribute("aria-selected") === "true");
  if (chosen) list.setAttribute("aria-activedescendant", chosen.id);
  else list.removeAttribute("aria-activedescendant");
  $("empty").hidden = items.total > 0 || items.progress !== "" || Boolean(items.fault);
  $("empty").textContent = DATA.items ? "No item passes these filters." : "There are no items.";
}

function rowNode(at, row) {
  const facts = { class: "row", role: "option", id: `row-${at}`, "aria-posinset": at + 1, "aria-setsize": items.total };
  if (!row) return el("div", { ...facts, "aria-selected": "false", "aria-busy": "true" }, el("div", { class: "m" }, "…"));
  const cls = row.runs[filter.run] ? row.runs[filter.run].c : -1;
  const node = el("div", { ...facts, "aria-selected": String(current !== null && row.item === current.item) },
    el("div", { class: "q", dir: "auto" }, row.q.replace(/\s+/g, " ") || "(no query)"),
    el("div", { class: "m" }, dots(row), el("span", {}, cls > RIGHT ? words(DATA.classes[cls].name) : cls === RIGHT ? "right" : "not asked"), el("span", { class: "id" }, itemName(row))));
  node.addEventListener("click", () => choose(row));
  return node;
}

function itemName(row) { return row.id + (row.turn > 0 ? `, turn ${row.turn + 1}` : ""); }

// dots show what each run did, in the order of the runs.
function dots(row) {
  return el("span", { class: "dots" }, row.runs.slice(0, 8).map((_, c) => {
    const [mark, look, text] = verdict(c, row);
    return el("span", { class: "dot " + look, title: `${DATA.columns[c].label}: ${text}`, role: "img", "aria-label": `${DATA.columns[c].label}: ${text}` }, mark);
  }));
}

function verdict(c, row) {
  if (right(c, row) === undefined) return ["–", "none", "not asked"];
  if (right(c, row)) return ["✓", "good", "right"];
  if (row.runs[c].FPA === 1000) return ["≈", "near", "right but for wording"];
  return ["✗", "bad", "wrong"];
}

// reveal brings the current item into view, if it is in the list.
async function reveal(known) {
  const list = items;
  if (!current || !list) return drawRows();
  const at = known ?? await list.place(current.item).catch(() => -1); // a list that was stopped is of no interest
  if (list !== items) return;
  if (at >= 0) scrollTo(at);
  drawRows();
}

function scrollTo(at) {
  const list = $("list"), by = stretch();
  if (at * ROW < list.scrollTop * by) list.scrollTop = at * ROW / by;
  else if ((at + 1) * ROW > list.scrollTop * by + list.clientHeight) list.scrollTop = ((at + 1) * ROW - list.clientHeight) / by;
}

// step goes to the next item in a direction, or to the next wrong one. Steps
// wait for each other, so that a key held down goes through the list.
let steps = Promise.resolve();
function step(direction, wrong) {
  steps = steps.then(async () => {
    const list = items;
    if (!list) return;
    const { at, row } = await list.step(current ? current.item : -1, direction, wrong);
    if (list !== items) return;
    if (row) choose(row, at);
    else $("count").textContent = direction > 0 ? "no further item in this list" : "no earlier item in this list";
  }).catch((fault) => { if (fault.name !== "AbortError") $("count").textContent = fault.message; });
}

// choose shows an item and writes it into the address.
function choose(row, at) {
  current = row;
  location.hash = encodeState(filter, row);
  reveal(at);
}
