// The address, the keys, and the start.

// encodeState writes a filter and the row of an item as what follows "#".
function encodeState(f, row) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(f)) if (value !== NO_FILTER[key]) parts.set(key, value);
  if (!row) return "items" + (parts.size ? "&" + parts : "");
  return "item=" + encodeURIComponent(row.id) + (row.turn ? `&turn=${row.turn}` : "") + (parts.size ? "&" + parts : "");
}

// decodeState reads it. What the report does not know is left out.
function decodeState(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const f = { ...NO_FILTER };
  const known = { status: DATA.statuses.map((s) => s.name), cls: DATA.classes.map((c) => c.name), shape: DATA.shapes, ds: DATA.datasets };
  for (const key of Object.keys(f)) {
    if (!parts.has(key)) continue;
    const value = parts.get(key);
    if (typeof f[key] === "number") f[key] = clampColumn(value);
    else if (key === "q") f.q = value.slice(0, LONGEST_QUERY);
    else if (known[key].includes(value)) f[key] = value;
  }
  const turn = Number(parts.get("turn") || 0);
  return { items: parts.has("items") || parts.has("item"), wanted: parts.get("item"), turn: Number.isInteger(turn) && turn >= 0 && turn < 2 ** 31 ? turn : 0, filter: f };
}

function clampColumn(text) {
  const n = Number(text);
  return Number.isInteger(n) && n >= 0 && n < DATA.columns.length ? n : 0;
}

// follow shows what the address says.
let follows = 0; // an earlier one that still waits gives up
async function follow() {
  const mine = ++follows;
  const state = decodeState(location.hash);
  $("overview-view").hidden = state.items;
  $("items-view").hidden = !state.items;
  for (const [id, here] of [["tab-overview", !state.items], ["tab-items", state.items]]) {
    if (here) $(id).setAttribute("aria-current", "page");
    else $(id).removeAttribute("aria-current");
  }
  if (!state.items) {
    if (!$("overview-view").childElementCount) showOverview();
    document.title = DATA.title || "Report";
    return;
  }
  const same = JSON.stringify(state.filter) === JSON.stringify(filter);
  filter = state.filter;
  showFilter();
  if (!ready) return; // start comes back here
  if (!same || !items) applyFilter();
  if (state.wanted === null) current = null;
  else if (!current || current.id !== state.wanted || current.turn !== state.turn) {
    current = null;
    let row;
    try {
      row = await source.lookup(state.wanted, state.turn);
    } catch (fault) {
      $("detail").replaceChildren(el("p", { class: "notice" }, fault.message));
    }
    if (mine !== follows) return;
    if (row === null) $("detail").replaceChildren(el("p", { class: "notice" }, "This report has no item ", el("b", {}, state.wanted), "."));
    current = row || null;
    if (!current) shown = -1;
  }
  reveal();
  if (current && current.item !== shown) await showDetail(current);
}

function changeFilter() {
  readFilter();
  showFilter();
  history.replaceState(null, "", "#" + encodeState(filter, current));
  applyFilter();
  if (current) showDetail(current); // the chosen run comes first
}

const KEYS = {
  j: () => step(1), k: () => step(-1), n: () => step(1, true), p: () => step(-1, true),
  ArrowDown: () => step(1), ArrowUp: () => step(-1),
  o: () => { location.hash = "overview"; }, i: () => { location.hash = encodeState(filter, current); },
  "?": () => $("help").showModal(),
  "/": () => { if ($("items-view").hidden) location.hash = encodeState(filter, current); requestAnimationFrame(() => $("f-search").focus()); },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const target = event.target;
  if (target.matches("input, select, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const arrows = event.key.startsWith("Arrow");
  const act = KEYS[event.key];
  if (!act || arrows && target !== $("list")) return;
  if ($("items-view").hidden && "jknp".includes(event.key)) return;
  event.preventDefault();
  act();
}

async function start() {
  document.body.dataset.script = performance.now().toFixed(1);
  $("subtitle").textContent = `${number(DATA.runs.length)} ${DATA.runs.length === 1 ? "run" : "runs"}, ${number(DATA.items)} items, preset ${DATA.preset}`;
  if (DATA.columns.length < 2) NO_FILTER.against = 0;
  fillFilters();
  $("filters").addEventListener("input", changeFilter);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("f-clear").addEventListener("click", () => { filter = { ...NO_FILTER, run: filter.run }; showFilter(); changeFilter(); });
  $("list").addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  $("help-button").addEventListener("click", () => $("help").showModal());
  addEventListener("resize", () => { if (!$("items-view").hidden) drawRows(); });
  addEventListener("hashchange", follow);
  addEventListener("keydown", onKey);
  document.querySelectorAll("nav a").forEach((a) => a.addEventListener("click", (event) => {
    if (a.id !== "tab-items" || !ready) return;
    event.preventDefault(); // back to the item and the filters that were left
    location.hash = encodeState(filter, current);
  }));
  follow();
  await source.start();
  ready = true;
  await follow();
  if (items) await items.first;
  document.body.dataset.ready = performance.now().toFixed(1); // for tests of speed
}

start().catch((fault) => {
  $("fault").textContent = fault.message;
  $("fault").hidden = false;
});
