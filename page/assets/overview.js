// The overview: coverage first, then scores, and what is behind them.

const CELLS = ["SH", "MH", "ST", "MT"];
const CELL_WORDS = { SH: "single-hop turns", MH: "multi-hop turns", ST: "single-turn conversations", MT: "multi-turn conversations", no_gold: "turns without a gold call", surplus: "turns beyond gold" };
const METRICS = ["SP", "FP", "SPA", "FPA"];

// table makes a table in a box that scrolls sideways. Rows are arrays whose
// first element is their heading; cells are strings or elements.
function table(caption, header, rows, textColumns) {
  const text = textColumns || 1;
  return el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": caption }, el("table", {},
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, header.map((h, i) => el("th", { scope: "col", class: i < text ? "t" : null }, h)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) => {
      if (cell instanceof HTMLTableCellElement) return cell;
      return i === 0 ? el("th", { scope: "row" }, cell) : el("td", { class: i < text ? "t" : null }, cell);
    }))))));
}

function meter(share, bad) {
  const bar = el("i");
  bar.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
  return el("span", { class: "meter" + (bad ? " bad" : ""), "aria-hidden": "true" }, bar);
}

function section(id, title, lead, ...children) {
  const shown = children.flat().filter((c) => c);
  return shown.length ? el("section", { "aria-labelledby": id }, el("h2", { id }, title), el("p", { class: "lead" }, lead), shown) : null;
}

function runName(run) {
  const twins = DATA.runs.filter((r) => r.model === run.model && r.setting === run.setting);
  return `${run.model}, ${run.setting}` + (twins.length > 1 ? `, seed ${run.seed}` : "");
}

function showOverview() {
  const root = document.getElementById("overview-view");
  root.replaceChildren(...[
    el("ul", { class: "cards" }, cards()),
    DATA.notes.map((n) => el("p", { class: "notice" }, n)),
    DATA.runs.flatMap((r) => (r.alarms || []).map((a) => el("p", { class: "notice" }, el("b", {}, `${runName(r)}: `), a))),
    coverage(), groups(), scores(), comparisons(), errors(), datasets(), breakdowns(), presets(), behind(),
  ].flat().filter((n) => n));
}

function cards() {
  const answered = sum(DATA.runs.map((r) => r.scores.coverage.answered)), planned = sum(DATA.runs.map((r) => r.scores.coverage.planned));
  const facts = [
    [number(DATA.records), "records"], [number(DATA.items), "items (turns)"], [number(DATA.runs.length), DATA.runs.length === 1 ? "run" : "runs"],
    [planned ? percent(answered / planned) + " %" : "n/a", "answered of planned"], [DATA.preset, "matching rules (preset)"],
  ];
  return facts.map(([value, label]) => el("li", {}, el("b", {}, value), el("span", {}, label)));
}

// LEVELS are the two tables that the paper prints: hops and conversations.
const LEVELS = [["Turns, by hops", ["SH", "MH"]], ["Conversations, by turns", ["ST", "MT"]]];

const heads = (cells) => METRICS.flatMap((m) => cells.map((c) => `${m} ${c}`));

function sum(list) { return list.reduce((a, b) => a + b, 0); }

function coverage() {
  const rows = DATA.runs.map((r) => {
    const c = r.scores.coverage;
    return [runName(r), number(c.planned), number(c.attempted), number(c.answered), number(c.parsed), number(c.scored), number(c.missing),
      el("td", {}, c.planned ? percent(c.answered / c.planned) : "n/a", c.planned ? meter(c.answered / c.planned) : null), r.state || ""];
  });
  const warnings = DATA.runs.flatMap((r) => (r.scores.warnings || []).map((w) => el("li", {}, `${runName(r)}: ${w}`)));
  return section("coverage", "Coverage", "How many cases were to be asked, and what became of them. A case without an answer counts as wrong, so low coverage means low scores.",
    table("Cases (records × repeats)", ["Run", "planned", "attempted", "answered", "parsed", "scored", "missing", "answered %", "state"], rows),
    warnings.length ? el("ul", { class: "notes" }, warnings) : null);
}

// groups are means over runs.
function groups() {
  if (!DATA.groups.some((g) => g.columns.some((c) => c.runs > 1))) return null;
  const rows = (cells) => DATA.groups.map((g) => [`${g.model}, ${g.setting}`, String(Math.max(...g.columns.map((c) => c.runs))),
    ...METRICS.flatMap((m) => cells.map((cell) => {
      const c = g.columns.find((x) => x.metric === m && x.cell === cell);
      if (!c || c.mean === null) return "n/a";
      return el("td", {}, percent(c.mean) + (c.sd !== null ? ` ± ${percent(c.sd)}` : ""), c.t_low !== null ? el("small", {}, span(c.t_low, c.t_high)) : null);
    }))]);
  return section("means", "Means over runs", `In percent: mean ± sample standard deviation over runs, and below it the ${level()} t interval of the mean. With few runs the interval is wide, even beyond 0 and 100: that is what so few runs prove.`,
    LEVELS.map(([title, cells]) => table(title, ["Model", "runs", ...heads(cells)], rows(cells))));
}

function level() { return `${Number((100 * DATA.level).toFixed(3))} %`; }

function scores() {
  const rows = (cells) => DATA.runs.map((r) => [runName(r), ...METRICS.flatMap((m) => cells.map((cell) => {
    const at = r.scores.cells[cell];
    if (!at.n) return "n/a";
    const c = (r.columns || []).find((x) => x.metric === m && x.cell === cell);
    const interval = c && (c.bca || c.t);
    return el("td", {}, percent(at[m]), interval ? el("small", {}, span(interval.low, interval.high)) : null);
  }))]);
  const sizes = DATA.runs.map((r) => [runName(r), ...CELLS.map((c) => number(r.scores.cells[c].n)), number(r.scores.no_gold.n), number(r.scores.no_gold.abstained)]);
  const bounded = DATA.runs.filter((r) => r.scores.bounds);
  const bounds = (cells) => bounded.map((r) => [runName(r), ...METRICS.flatMap((m) => cells.map((c) => span(r.scores.bounds.low[c][m], r.scores.bounds.high[c][m]) || "n/a"))]);
  return section("scores", "Scores of each run", `In percent, with the ${level()} interval over records (BCa bootstrap) below. SP: the right tools; SPA: and the right arguments; FPA: arguments may differ in wording. SH and MH are turns with one and with several gold calls; ST and MT conversations of one and of several turns.`,
    LEVELS.map(([title, cells]) => table(title, ["Run", ...heads(cells)], rows(cells))),
    bounded.length ? LEVELS.map(([title, cells]) => table(`Bounds: all missing cases wrong, and all of them right. ${title}`, ["Run", ...heads(cells)], bounds(cells))) : null,
    table("Number of instances", ["Run", ...CELLS, "no gold call", "of these abstained"], sizes));
}

function pValue(p) { return p === null || p === undefined ? "n/a" : p < 0.001 ? "< 0.001" : p.toFixed(3); }

function comparisons() {
  return section("comparisons", "Comparison of systems", "Item by item on the same items. A p below 0.05 after Holm's correction for all tests of a table says that the difference is hardly chance. Gained are items that A got right (SPA is 1) and B did not; lost the other way round.",
    DATA.pairs.map((p) => {
      const name = (s) => `${s.model}, ${s.setting}`;
      const rows = p.columns.filter((c) => !c.dataset).map((c) => [`${c.metric} ${c.cell}`, number(c.instances), percent(c.mean_a), percent(c.mean_b), signed(c.difference),
        c.bca ? `${signed(c.bca.low)} to ${signed(c.bca.high)}` : "n/a", pValue(c.test.p), pValue(c.p_holm), number(c.better), number(c.worse)]);
      const flips = p.flip_counts.filter((f) => f.n).map((f) => `${CELL_WORDS[f.cell] || f.cell}: ${number(f.gained)} gained, ${number(f.lost)} lost, ${number(f.unstable)} unstable of ${number(f.n)}`);
      return [el("h3", {}, `A ${name(p.a)} against B ${name(p.b)}`),
        el("ul", { class: "notes" }, flips.map((f) => el("li", {}, f)), (p.notes || []).map((n) => el("li", {}, n))),
        el("p", {}, flipLink(p, "gained"), " · ", flipLink(p, "lost")),
        el("details", {}, el("summary", {}, "Differences, intervals and tests"),
          table("In percent; A − B", ["Metric", "n", "A", "B", "A − B", "interval", "p", "p (Holm)", "A better", "A worse"], rows))];
    }).flat());
}

function flipLink(pair, what) {
  const column = (side) => DATA.columns.findIndex((c) => side.runs.includes(DATA.runs[c.run].name));
  const state = { run: column(pair.a), against: column(pair.b), status: what };
  return el("a", { href: "#" + encodeState({ ...NO_FILTER, ...state }, null) }, `Items that A ${what}` + (pair.a.runs.length + pair.b.runs.length > 2 ? " (first runs)" : ""));
}

function signed(f) { return f === null || f === undefined ? "n/a" : (f > 0 ? "+" : "") + percent(f); }

// errors adds up single-hop and multi-hop turns, and turns without gold calls.
function errors() {
  const cells = ["SH", "MH", "no_gold"];
  const total = (r, name) => sum(cells.map((c) => {
    const t = r.errors[c];
    if (name === "abstained") return c === "no_gold" ? 0 : t.abstained;
    if (name === "malformed" || name === "missing") return t[name];
    return sum(t.classes.filter((x) => x.class === name).map((x) => x.n));
  }));
  const rows = DATA.classes.filter((c) => c.name !== "right").map((c) => ({ c, counts: DATA.runs.map((r) => total(r, c.name)) })).filter((x) => sum(x.counts) > 0);
  if (!rows.length) return null;
  const most = Math.max(...rows.flatMap((x) => x.counts));
  return section("errors", "Errors", "What went wrong in turns. Abstained, malformed and missing count turns; the others count calls, each by the first argument that decides. A number leads to its items.",
    table("Number of errors by class", ["Error", ...DATA.runs.map(runName), "what it is"],
      rows.map((x) => [words(x.c.name), ...x.counts.map((n, i) => el("td", {}, n ? el("a", { href: "#" + encodeState({ ...NO_FILTER, run: firstColumn(i), cls: x.c.name }, null) }, number(n)) : "0", meter(n / most, true))),
        el("td", { class: "t" }, x.c.doc)])));
}

function firstColumn(run) { return DATA.columns.findIndex((c) => c.run === run); }

function datasets() {
  const names = [...new Set(DATA.runs.flatMap((r) => Object.keys(r.scores.datasets)))].sort();
  if (!names.length) return null;
  const parts = METRICS.filter((m) => m === "SPA" || m === "SP").reverse().map((m) => table(`${m} in percent; n below`, ["Data set", ...DATA.runs.flatMap((r) => CELLS.slice(0, 2).map((c) => el("span", {}, runName(r), el("small", {}, c))))],
    names.map((name) => [name, ...DATA.runs.flatMap((r) => CELLS.slice(0, 2).map((c) => {
      const at = (r.scores.datasets[name] || {})[c];
      return at && at.n ? el("td", {}, percent(at[m]), el("small", {}, `n ${number(at.n)}`), meter(at[m])) : "n/a";
    }))])));
  return section("datasets", "By data set", "Single-hop (SH) and multi-hop (MH) turns of each benchmark. A score of few items says little.", parts);
}

const TRAITS = {
  similarity: "how much alike the most similar other tool is", candidates: "tools on offer", position: "place of the right tool in the list",
  arguments: "arguments of the longest gold call", hops: "gold calls in the turn", strategy: "single, parallel or serial calls",
};

function breakdowns() {
  const traits = [...new Set(DATA.runs.flatMap((r) => r.breakdowns.filter((b) => b.bins.length > 1).map((b) => b.by)))];
  return section("breakdowns", "By shape and difficulty", "SPA in percent of the turns with a gold call, by one trait of them.", traits.map((by) => {
    const labels = [];
    for (const r of DATA.runs) for (const bin of (r.breakdowns.find((b) => b.by === by) || { bins: [] }).bins) if (!labels.includes(bin.label)) labels.push(bin.label);
    return el("details", { open: by === "strategy" || by === "hops" }, el("summary", {}, `By ${TRAITS[by] || by}`),
      table(`SPA by ${TRAITS[by] || by}`, [by, ...DATA.runs.map(runName)], labels.map((label) => [label, ...DATA.runs.map((r) => {
        const bin = (r.breakdowns.find((b) => b.by === by) || { bins: [] }).bins.find((b) => b.label === label);
        return bin ? el("td", {}, percent(bin.SPA), el("small", {}, `n ${number(bin.n)}`), meter(bin.SPA)) : "n/a";
      })])));
  }));
}

function presets() {
  const runs = DATA.runs.filter((r) => (r.presets || []).length > 1);
  return section("presets", "Under other matching rules", "The same predictions under the rules of other benchmarks: is a gain real, or a matter of the matcher?", runs.map((r) => el("details", { open: runs.length === 1 }, el("summary", {}, runName(r)),
    table("SPA in percent by preset", ["Preset", ...CELLS], r.presets.map((p) => [p.preset, ...CELLS.map((c) => (p.cells[c].n ? percent(p.cells[c].SPA) : "n/a"))])),
    (r.cross || []).some((p) => p.only_a + p.only_b) ? table("Turns on which two presets disagree", ["Presets", "turns", "differ", "only the first", "only the second"],
      r.cross.filter((p) => p.only_a + p.only_b).map((p) => [`${p.a} and ${p.b}`, number(p.n), number(p.only_a + p.only_b), number(p.only_a), number(p.only_b)])) : null)));
}

function behind() {
  return section("behind", "How the runs were made", "The settings behind the numbers.", DATA.runs.filter((r) => r.asked).map((r) => el("details", {}, el("summary", {}, runName(r), " ", el("span", { class: "hint" }, r.name)),
    table("Settings", ["Setting", "Value"], r.asked.map(([k, v]) => [k, v]), 2))));
}
