// The address, the keys, and the start.

// encodeState writes a filter and an item as what follows "#".
function encodeState(f, item) {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(f)) if (value !== NO_FILTER[key]) parts.set(key, value);
  if (item === null || item < 0) return "items" + (parts.size ? "&" + parts : "");
  parts.delete("item");
  return "item=" + encodeURIComponent(INDEX.id[item]) + (INDEX.turn[item] ? `&turn=${INDEX.turn[item]}` : "") + (parts.size ? "&" + parts : "");
}

function decodeState(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const f = { ...NO_FILTER };
  for (const key of Object.keys(f)) if (parts.has(key)) f[key] = typeof f[key] === "number" ? clampColumn(parts.get(key)) : parts.get(key);
  if (!(f.status in STATUS)) f.status = "all";
  let item = -1;
  if (parts.has("item")) {
    const turn = Number(parts.get("turn") || 0);
    for (let i = 0; i < INDEX.n && item < 0; i++) if (INDEX.id[i] === parts.get("item") && INDEX.turn[i] === turn) item = i;
  }
  return { items: parts.has("items") || parts.has("item"), wanted: parts.get("item"), item, filter: f };
}

function clampColumn(text) {
  const n = Number(text);
  return Number.isInteger(n) && n >= 0 && n < DATA.columns.length ? n : 0;
}

// follow shows what the address says.
function follow() {
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
  current = state.item;
  showFilter();
  if (!INDEX.done) return; // start comes back here
  if (!same || !$("rows").childElementCount) applyFilter();
  else reveal();
  if (current >= 0 && current !== shown) showDetail(current);
  if (state.wanted !== null && current < 0) {
    shown = -1;
    $("detail").replaceChildren(el("p", { class: "notice" }, "This report has no item ", el("b", {}, state.wanted), "."));
  }
}

function changeFilter() {
  readFilter();
  showFilter();
  history.replaceState(null, "", "#" + encodeState(filter, current < 0 ? null : current));
  applyFilter();
  if (current >= 0) showDetail(current); // the chosen run comes first
}

const KEYS = {
  j: () => step(1), k: () => step(-1), n: () => step(1, isWrong), p: () => step(-1, isWrong),
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
    if (a.id !== "tab-items" || INDEX.n === 0) return;
    event.preventDefault(); // back to the item and the filters that were left
    location.hash = encodeState(filter, current);
  }));
  follow();
  await loadIndex();
  $("rows").replaceChildren();
  follow();
  document.body.dataset.ready = performance.now().toFixed(1); // for tests of speed
}

start().catch((fault) => {
  $("fault").textContent = fault.message;
  $("fault").hidden = false;
});
