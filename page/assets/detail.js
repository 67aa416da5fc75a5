// One item: the query, the tools on offer, and gold beside each run.

const OUTCOME = { abstained: "no call was made", malformed: "no attempt at a call parsed", missing: "there is no answer" };

let shown = -1; // the item that the right side shows, or is about to

async function showDetail(row) {
  shown = row.item;
  const box = $("detail");
  let d;
  try {
    d = await detailOf(row);
  } catch (fault) {
    box.replaceChildren(el("p", { class: "notice" }, fault.message));
    return;
  }
  if (!current || row.item !== current.item) return; // another one was chosen meanwhile
  const turn = row.turn;
  const t = d.turns[turn] || {};
  box.replaceChildren(
    moveButtons(),
    el("h2", {}, d.id),
    el("p", { class: "facts" }, [d.ds, d.turns.length > 1 ? `turn ${turn + 1} of ${d.turns.length}` : "", DATA.shapes[row.shape]].filter((x) => x).map((x) => el("span", {}, x))),
    ...before(d, turn),
    el("h3", {}, "Query"), el("div", { class: "box" }, longText(t.q || "(none)")),
    ...offers(d, turn),
    el("h3", {}, "Gold and predicted calls"), el("div", { class: "runs" }, inOrder(d.runs).map(([r, c]) => runBox(d, r, c, row))),
    ...gold(t), ...more(d));
  box.scrollTop = 0;
  document.title = `${d.id} · ${DATA.title || "Report"}`;
}

// inOrder returns the runs that were asked with their columns, the chosen first.
function inOrder(runs) {
  const all = runs.map((r, c) => [r, c]).filter(([r]) => r);
  return [...all.filter(([, c]) => c === filter.run), ...all.filter(([, c]) => c !== filter.run)];
}

function moveButtons() {
  const button = (label, key, act) => {
    const b = el("button", { type: "button", "aria-keyshortcuts": key }, label);
    b.addEventListener("click", act);
    return b;
  };
  return el("div", { class: "move" }, button("‹ Previous", "k", () => step(-1)), button("Next ›", "j", () => step(1)), button("Next wrong »", "n", () => step(1, true)));
}

// before shows the earlier turns of a conversation.
function before(d, turn) {
  if (turn === 0) return [];
  return [el("details", {}, el("summary", {}, `Earlier turns (${turn})`), d.turns.slice(0, turn).map((t, k) => el("div", { class: "box" },
    el("b", {}, `Turn ${k + 1}`), longText(t.q || ""), (t.steps || []).flat().map((c) => callText(c)), longText(t.a || ""))))];
}

// callText writes a call as text.
function callText(c) {
  if (c.r !== undefined) return el("div", {}, el("span", { class: "badge bad" }, "did not parse"), longText(c.r, "code"));
  return longText(c.n + " " + (c.a ? "{" + c.a.map(([k, v]) => `${JSON.stringify(k)}: ${v}`).join(", ") + "}" : c.t || "{}"), "code");
}

function runBox(d, r, c, row) {
  const turn = row.turn;
  const item = r.items.find((x) => x.turn === turn);
  const [, look, text] = verdict(c, row);
  const cls = row.runs[c].c;
  const conversation = d.turns.length > 1 && r.items.find((x) => x.turn === -1);
  const head = el("h4", {}, DATA.columns[c].label, el("span", { class: "badge " + look }, text === "wrong" && cls > RIGHT ? `wrong: ${words(DATA.classes[cls].name)}` : text),
    item && item.cell !== "surplus" ? el("span", { class: "scores" }, METRICS.map((m) => `${m} ${decimals(item[m])}`).join("  "),
      conversation ? `  ·  conversation SPA ${decimals(conversation.SPA)}` : "") : null);
  const golds = ((d.turns[turn] || {}).steps || []).flat(), preds = (((r.turns || [])[turn] || {}).steps || []).flat();
  const body = [];
  if (item && item.outcome && !golds.length && item.outcome === "abstained") body.push(el("p", { class: "why" }, "Gold has no call here, and none was made."));
  else if (item && item.outcome) body.push(el("p", { class: "why" }, el("b", {}, `${words(item.outcome)}: `), OUTCOME[item.outcome] || ""));
  const lines = item && item.lines && item.lines.length ? item.lines : alone(golds, preds);
  lines.forEach((line) => body.push(pairTable(line, golds, preds)));
  body.push(...answerOf(r, turn), ...rawOf(r, turn));
  return el("section", { class: "run", "aria-label": DATA.columns[c].label }, head, el("div", {}, body));
}

function decimals(f) { return Number.isInteger(f) ? String(f) : f.toFixed(3); }

// alone are lines of calls that nothing was compared with.
function alone(golds, preds) {
  return [...golds.map((_, g) => ({ g, p: -1 })), ...preds.map((_, p) => ({ g: -1, p }))];
}

// pairTable shows a gold call beside the predicted one, argument by argument.
function pairTable(line, golds, preds) {
  const g = golds[line.g], p = preds[line.p];
  const args = line.args || [...((g && g.a) || []).map(([k, v]) => ({ k, g: v })), ...((p && p.a) || []).map(([k, v]) => ({ k, p: v }))];
  const rows = args.map((a) => {
    const same = a.s || "";
    const mark = { yes: "✓ ", close: "≈ ", no: "✗ " }[same] || "";
    const rule = a.rule === "rouge" && same === "no" ? "differs, and is not close" : a.rule && a.rule !== "identical" ? words(a.rule) : same === "no" ? "differs" : same === "yes" ? "equal" : "";
    return el("tr", { class: same }, el("th", { scope: "row" }, a.k, a.pk ? el("small", {}, `predicted as ${a.pk}`) : null), valueCell(a.g), valueCell(a.p),
      el("td", { title: a.why }, same ? el("span", { class: "mark" }, mark) : null, rule, a.why && same !== "yes" ? el("small", {}, a.why) : null));
  });
  for (const [side, c] of [["g", g], ["p", p]]) {
    if (c && (c.r !== undefined || c.t)) rows.push(el("tr", { class: "no" }, el("th", { scope: "row" }, c.r !== undefined ? "text" : "arguments"), side === "g" ? textCell(c.r ?? c.t) : el("td"), side === "p" ? textCell(c.r ?? c.t) : el("td"), el("td", {}, c.r !== undefined ? "did not parse" : "")));
  }
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: 4, class: "absent" }, "no arguments")));
  const about = g && p ? `Gold call ${line.g + 1} beside predicted call ${line.p + 1}` : g ? `Gold call ${line.g + 1}, not predicted` : `Predicted call ${line.p + 1}, not in gold`;
  return el("div", { class: "pair" }, el("table", { "aria-label": about }, el("colgroup", {}, el("col", { class: "k" }), el("col", { class: "v" }), el("col", { class: "v" }), el("col", { class: "r" })),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Argument"), el("th", { scope: "col" }, "Gold ", callName(g)), el("th", { scope: "col" }, "Predicted ", callName(p)), el("th", { scope: "col" }, "Rule"))),
    el("tbody", {}, rows)), decision(line));
}

function callName(c) {
  if (!c) return el("span", { class: "absent" }, "no call");
  return c.r !== undefined ? el("span", { class: "absent" }, "unparsable text") : el("b", {}, c.n || "(no name)");
}

function valueCell(v) { return v === undefined ? el("td", { class: "v absent" }, "absent") : textCell(v); }
function textCell(v) { return el("td", { class: "v" }, longText(v, "code")); }

// decision says what decided a line.
function decision(line) {
  if (!line.class || line.class === "right") return line.rule && line.rule !== "identical" ? el("p", { class: "why" }, `Equal by the rule "${words(line.rule)}". `, line.why || "") : null;
  return el("p", { class: "why" }, el("b", {}, `${words(line.class)}: `), line.why || "", line.rule ? ` (rule: ${words(line.rule)}${line.path ? ` at ${line.path}` : ""}${line.flex ? "; counts for FPA" : ""})` : "");
}

function answerOf(r, turn) {
  const answer = ((r.turns || [])[turn] || {}).a;
  return answer ? [el("details", {}, el("summary", {}, "Predicted answer"), el("div", { class: "box" }, longText(answer)))] : [];
}

// rawOf shows the replies as they came.
function rawOf(r, turn) {
  const requests = (r.req || []).filter((x) => x.turn === turn);
  if (!requests.length) return [];
  return [el("details", { class: "raws" }, el("summary", {}, `Raw text of the model (${requests.length} ${requests.length === 1 ? "reply" : "replies"})`), requests.map((x) => el("div", { class: "box" },
    el("p", { class: "facts" }, [`parsed as ${x.class || "?"}`, x.rung ? `by ${words(x.rung)}` : "", x.repairs ? `repaired: ${x.repairs.join(", ")}` : "", x.finish ? `finish ${x.finish}` : "", x.prompt_tokens ? `${number(x.prompt_tokens)} + ${number(x.completion_tokens || 0)} tokens` : "", x.repeated ? "repeats an earlier call, so it ended the turn" : ""].filter((y) => y).map((y) => el("span", {}, y))),
    x.reasoning ? el("details", {}, el("summary", {}, "Thoughts"), longText(x.reasoning, "raw")) : null,
    longText(x.text || "(empty)", "raw"))))];
}

// offers are the tools that the model could call, with those of gold marked.
function offers(d, turn) {
  const golds = new Set(((d.turns[turn] || {}).steps || []).flat().map((c) => c.n));
  return d.offers.map((list, k) => {
    const box = el("ul", { class: "tools" });
    const runs = d.runs.flatMap((r, c) => (r && r.offer === k ? [DATA.columns[c].label] : []));
    const all = el("details", {}, el("summary", {}, `Tools on offer: ${list.length}`, d.offers.length > 1 ? el("span", { class: "hint" }, ` to ${runs.join("; ")}`) : ""), box);
    all.addEventListener("toggle", async () => {
      if (!all.open || box.childElementCount) return;
      const names = await Promise.all(list.map(toolName));
      box.replaceChildren(...list.map((i, at) => toolItem(i, names[at], golds.has(names[at]))));
    });
    return all;
  });
}

function toolItem(i, name, isGold) {
  const one = el("details", {}, el("summary", {}, name, isGold ? " (gold)" : ""));
  one.addEventListener("toggle", async () => {
    if (!one.open || one.childElementCount > 1) return;
    const t = await toolOf(i);
    one.append(el("div", { class: "box" }, longText(t.d || "(no description)"), t.p ? longText(pretty(t.p), "code") : null, t.c || t.o ? el("p", { class: "facts" }, [t.c, t.o].filter((x) => x).map((x) => el("span", {}, x))) : null));
  });
  return el("li", { class: isGold ? "gold" : null }, one);
}

function pretty(json) {
  try { return JSON.stringify(JSON.parse(json), null, 1); } catch { return json; }
}

// gold shows what the data set has beside the calls.
function gold(t) {
  const seen = (t.obs || []).flat().filter((o) => o);
  const out = [];
  if (seen.length) out.push(el("details", {}, el("summary", {}, `Results of the gold calls (${seen.length})`), seen.map((o) => el("div", { class: "box" }, longText(o, "code")))));
  if (t.a) out.push(el("details", {}, el("summary", {}, "Gold answer"), el("div", { class: "box" }, longText(t.a))));
  return out;
}

function more(d) {
  const out = [];
  if (d.system) out.push(el("details", {}, el("summary", {}, "System text of the data set"), el("div", { class: "box" }, longText(d.system))));
  if (d.meta) out.push(el("details", {}, el("summary", {}, "What else the data set says"), el("div", { class: "box" }, longText(pretty(d.meta), "code"))));
  return out;
}
