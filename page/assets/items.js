// The list of items: filters, search, and a list that draws only what is seen.

const NO_FILTER = { run: 0, against: 1, status: "all", cls: "", shape: "", ds: "", q: "" };
const ROW = 54; // the height of a row in pixels, as in the style sheet

const STATUS = {
  all: "all items", wrong: "wrong", right: "right", malformed: "malformed or unparsable", missing: "missing",
  flipped: "flipped: the runs disagree", gained: "gained: right here, wrong in the other", lost: "lost: wrong here, right in the other", allwrong: "wrong in every run",
};

let filter = { ...NO_FILTER };
let found = []; // the items that pass the filter, in order
let current = -1; // the item that is shown, a place in INDEX

const $ = (id) => document.getElementById(id);

// right says whether column c got item i right; undefined if it was not asked.
// In a turn without a gold call to make no call is right.
function right(c, i) {
  const spa = INDEX.runs[c].SPA[i];
  return spa < 0 ? undefined : spa === 1000;
}

function hasClass(c, i, cls) { return cls >= 0 && (INDEX.runs[c].m[i] & (1 << cls)) !== 0; }

const classNumber = (name) => DATA.classes.findIndex((c) => c.name === name);

const TESTS = {
  all: () => true,
  wrong: (i, f) => right(f.run, i) === false,
  right: (i, f) => right(f.run, i) === true,
  malformed: (i, f) => hasClass(f.run, i, classNumber("malformed")) || hasClass(f.run, i, classNumber("unparsable")),
  missing: (i, f) => hasClass(f.run, i, MISSING),
  flipped: (i) => {
    const all = INDEX.runs.map((_, c) => right(c, i));
    return all.includes(true) && all.includes(false);
  },
  gained: (i, f) => right(f.run, i) === true && right(f.against, i) === false,
  lost: (i, f) => right(f.run, i) === false && right(f.against, i) === true,
  allwrong: (i) => INDEX.runs.every((_, c) => right(c, i) === false),
};

// select returns the items that pass f. Search looks for every word in the
// start of the query, the id, and the names of tools in gold and predictions.
function select(f) {
  const test = TESTS[f.status] || TESTS.all;
  const needles = f.q.toLowerCase().split(/\s+/).filter((w) => w);
  const cls = classNumber(f.cls), shape = DATA.shapes.indexOf(f.shape), ds = DATA.datasets.indexOf(f.ds);
  const out = [];
  for (let i = 0; i < INDEX.n; i++) {
    if (shape >= 0 && INDEX.shape[i] !== shape || ds >= 0 && INDEX.ds[i] !== ds) continue;
    if (cls >= 0 && !hasClass(f.run, i, cls)) continue;
    if (!test(i, f)) continue;
    if (needles.length) {
      const text = searchText(i);
      if (!needles.every((w) => text.includes(w))) continue;
    }
    out.push(i);
  }
  return out;
}

const searchTexts = [];
function searchText(i) {
  return searchTexts[i] ??= [INDEX.q[i], INDEX.id[i], INDEX.tools[i], ...INDEX.runs.map((r) => r.tools[i])].join("\n").toLowerCase();
}

function fillFilters() {
  const fill = (id, options, any) => $(id).replaceChildren(...(any ? [el("option", { value: "" }, any)] : []), ...options.map(([value, label]) => el("option", { value }, label)));
  const columns = DATA.columns.map((c, i) => [i, c.label]);
  fill("f-run", columns);
  fill("f-against", columns);
  const alone = DATA.columns.length < 2;
  fill("f-status", Object.entries(STATUS).filter(([name]) => !alone || !["flipped", "gained", "lost", "allwrong"].includes(name)));
  fill("f-class", DATA.classes.filter((c) => c.name !== "right").map((c) => [c.name, words(c.name)]), "any");
  fill("f-shape", DATA.shapes.map((s) => [s, s]), "any");
  fill("f-dataset", DATA.datasets.map((s) => [s, s]), "any");
}

// showFilter writes the filter into the form.
function showFilter() {
  const values = { "f-run": filter.run, "f-against": filter.against, "f-status": filter.status, "f-class": filter.cls, "f-shape": filter.shape, "f-dataset": filter.ds, "f-search": filter.q };
  for (const [id, value] of Object.entries(values)) if ($(id).value !== String(value)) $(id).value = String(value);
  $("f-against-label").hidden = !["gained", "lost"].includes(filter.status);
}

function readFilter() {
  filter = { run: Number($("f-run").value), against: Number($("f-against").value), status: $("f-status").value, cls: $("f-class").value, shape: $("f-shape").value, ds: $("f-dataset").value, q: $("f-search").value };
  if (filter.against === filter.run) filter.against = filter.run === 0 ? Math.min(1, DATA.columns.length - 1) : 0;
}

// applyFilter finds the items anew and draws the list.
function applyFilter() {
  const from = performance.now();
  found = select(filter);
  const share = found.length === INDEX.n ? `${number(INDEX.n)} items` : `${number(found.length)} of ${number(INDEX.n)} items`;
  $("count").textContent = share;
  $("rows").style.height = `${found.length * ROW}px`;
  $("list").scrollTop = 0;
  drawRows();
  reveal();
  document.body.dataset.filterMs = (performance.now() - from).toFixed(1); // for tests of speed
}

function drawRows() {
  const list = $("list");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const last = Math.min(found.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 5);
  const rows = [];
  for (let at = first; at < last; at++) rows.push(rowOf(at));
  $("rows").replaceChildren(...rows);
  const chosen = rows.find((r) => r.getAttribute("aria-selected") === "true");
  if (chosen) list.setAttribute("aria-activedescendant", chosen.id);
  else list.removeAttribute("aria-activedescendant");
  if (!found.length) $("rows").replaceChildren(el("p", { class: "hint" }, INDEX.n ? "No item passes these filters." : "There are no items."));
}

function rowOf(at) {
  const i = found[at];
  const cls = INDEX.runs[filter.run] ? INDEX.runs[filter.run].c[i] : -1;
  const row = el("div", { class: "row", role: "option", id: `row-${at}`, "aria-selected": String(i === current), "aria-posinset": at + 1, "aria-setsize": found.length },
    el("div", { class: "q", dir: "auto" }, INDEX.q[i].replace(/\s+/g, " ") || "(no query)"),
    el("div", { class: "m" }, dots(i), el("span", {}, cls > RIGHT ? words(DATA.classes[cls].name) : cls === RIGHT ? "right" : "not asked"), el("span", { class: "id" }, itemName(i))));
  row.style.top = `${at * ROW}px`;
  row.addEventListener("click", () => choose(i));
  return row;
}

function itemName(i) { return INDEX.id[i] + (INDEX.turn[i] > 0 ? `, turn ${INDEX.turn[i] + 1}` : ""); }

// dots show what each run did, in the order of the runs.
function dots(i) {
  return el("span", { class: "dots" }, INDEX.runs.slice(0, 8).map((_, c) => {
    const [mark, look, text] = verdict(c, i);
    return el("span", { class: "dot " + look, title: `${DATA.columns[c].label}: ${text}`, role: "img", "aria-label": `${DATA.columns[c].label}: ${text}` }, mark);
  }));
}

function verdict(c, i) {
  if (right(c, i) === undefined) return ["–", "none", "not asked"];
  if (right(c, i)) return ["✓", "good", "right"];
  if (INDEX.runs[c].FPA[i] === 1000) return ["≈", "near", "right but for wording"];
  return ["✗", "bad", "wrong"];
}

// reveal brings the current item into view, if it is in the list.
function reveal() {
  const at = found.indexOf(current);
  if (at < 0) return;
  const list = $("list");
  if (at * ROW < list.scrollTop) list.scrollTop = at * ROW;
  else if ((at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * ROW - list.clientHeight;
  drawRows();
}

// step goes to the next item in a direction that fits, around the current one.
function step(direction, fits) {
  let at = found.indexOf(current);
  if (at < 0) at = direction > 0 ? -1 : found.length;
  for (at += direction; at >= 0 && at < found.length; at += direction) {
    if (!fits || fits(found[at])) return choose(found[at]);
  }
  $("count").textContent = direction > 0 ? "no further item in this list" : "no earlier item in this list";
}

// choose shows an item and writes it into the address.
function choose(i) {
  current = i;
  location.hash = encodeState(filter, i);
}
