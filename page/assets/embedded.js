// The source of a report in one file: the index is in it, and search opens the
// items one blob after the other.

// INDEX is the list of all items, column by column.
const INDEX = { n: 0, blob: [], place: [], turn: [], id: [], ds: [], shape: [], q: [], tools: [], runs: DATA.columns.map(() => ({ SPA: [], FPA: [], c: [], m: [], tools: [] })) };

const asked = (c, i) => INDEX.runs[c].SPA[i] >= 0;
const isRight = (c, i) => INDEX.runs[c].SPA[i] === 1000;
const isWrong = (c, i) => asked(c, i) && !isRight(c, i);
const hasClass = (c, i, cls) => cls >= 0 && (INDEX.runs[c].m[i] & (1 << cls)) !== 0;

// TESTS are the choices of "Show", by their names.
const TESTS = {
  all: () => true,
  wrong: (i, f) => isWrong(f.run, i),
  right: (i, f) => isRight(f.run, i),
  malformed: (i, f) => hasClass(f.run, i, classNumber("malformed")) || hasClass(f.run, i, classNumber("unparsable")),
  missing: (i, f) => hasClass(f.run, i, classNumber("missing")),
  flipped: (i) => INDEX.runs.some((_, c) => isRight(c, i)) && INDEX.runs.some((_, c) => isWrong(c, i)),
  gained: (i, f) => isRight(f.run, i) && isWrong(f.against, i),
  lost: (i, f) => isWrong(f.run, i) && isRight(f.against, i),
  allwrong: (i) => INDEX.runs.every((_, c) => isWrong(c, i)),
};

// facets returns the items that pass f but for its words.
function facets(f) {
  const test = TESTS[f.status];
  const cls = classNumber(f.cls), shape = DATA.shapes.indexOf(f.shape), ds = DATA.datasets.indexOf(f.ds);
  const out = [];
  for (let i = 0; i < INDEX.n; i++) {
    if (shape >= 0 && INDEX.shape[i] !== shape || ds >= 0 && INDEX.ds[i] !== ds) continue;
    if (cls >= 0 && !hasClass(f.run, i, cls)) continue;
    if (test(i, f)) out.push(i);
  }
  return out;
}

// matcher returns what finds every word in a text. Case is ignored by simple
// folding, as the server of a report does.
function matcher(words) {
  const all = words.map((w) => new RegExp(w.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu"));
  return (text) => all.every((r) => r.test(text));
}

// startOf is what the index knows of the text of an item.
const starts = [];
const startOf = (i) => starts[i] ??= [INDEX.id[i], INDEX.q[i], INDEX.tools[i], ...INDEX.runs.map((r) => r.tools[i])].join("\n");

// textOf is what search looks at in a turn of a detail: the same as the server
// of a report keeps.
function textOf(d, turn) {
  const out = [d.id];
  const addTurn = (t) => {
    out.push(t.a);
    for (const c of (t.steps || []).flat()) out.push(c && c.n, c && c.t, c && c.r, ...((c && c.a) || []).flat());
  };
  const t = d.turns[turn];
  if (t) {
    out.push(t.q);
    addTurn(t);
    out.push(...(t.obs || []).flat());
  }
  for (const r of d.runs) {
    if (!r) continue;
    if (r.turns && r.turns[turn]) addTurn(r.turns[turn]);
    for (const x of r.req || []) if (x.turn === turn) out.push(x.text, x.reasoning);
  }
  return out.filter((x) => x).join("\n");
}

const SHOWN_EVERY = 150; // milliseconds between two showings of a search that goes on
const AHEAD = 4; // blobs that are opened ahead of the search

class EmbeddedList {
  constructor(f, changed) {
    this.filter = f;
    this.changed = changed;
    this.progress = "";
    const candidates = facets(f), words = wordsOf(f.q);
    const fits = matcher(words);
    this.items = words.length ? candidates.filter((i) => fits(startOf(i))) : candidates;
    if (words.length && this.items.length < candidates.length) this.search(candidates, words, fits);
  }
  get total() { return this.items.length; }
  row(at) { return rowOfIndex(this.items[at]); }
  async place(item) {
    const at = firstFrom(this.items, item);
    return this.items[at] === item ? at : -1;
  }
  async step(from, direction, wrong) {
    let at = firstFrom(this.items, from);
    if (direction > 0) at += from >= 0 && this.items[at] === from ? 1 : 0;
    else at = from < 0 ? this.items.length - 1 : at - 1;
    for (; at >= 0 && at < this.items.length; at += direction) {
      if (!wrong || isWrong(this.filter.run, this.items[at])) return { at, row: this.row(at) };
    }
    return { at: -1, row: null };
  }
  stop() { this.stopped = true; }

  // search looks into all of the text of those candidates that the index did
  // not settle. The items found so far can be seen meanwhile.
  async search(candidates, words, fits) {
    this.progress = "searching the texts …";
    await pause(120);
    const more = [];
    const settled = this.items;
    let last = performance.now(), seen = 0;
    const show = () => {
      this.items = merge(settled, more);
      this.changed();
      last = performance.now();
    };
    try {
      const groups = [...byBlob(candidates, settled)];
      const open = ([number]) => blobText(DATA.blobs.details[number]);
      const texts = groups.slice(0, AHEAD).map(open); // which open while others are searched
      for (let g = 0; g < groups.length; g++) {
        const items = groups[g][1], text = await texts[g];
        texts[g] = null;
        if (this.stopped) return;
        if (g + AHEAD < groups.length) texts.push(open(groups[g + AHEAD]));
        seen += items.length;
        if (mayHold(text, words)) {
          const details = JSON.parse(text);
          for (const i of items) if (fits(textOf(details[INDEX.place[i]], INDEX.turn[i]))) more.push(i);
        }
        if (this.stopped) return;
        if (performance.now() - last > SHOWN_EVERY) {
          this.progress = `searching the texts, ${Math.floor(100 * seen / (candidates.length - settled.length))} % …`;
          show();
        }
      }
    } catch (fault) {
      this.fault = fault.message;
    }
    this.progress = "";
    show();
  }
}

// firstFrom is the place of the first of the items, which ascend, that is not
// before item.
function firstFrom(items, item) {
  let low = 0, high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle] < item) low = middle + 1;
    else high = middle;
  }
  return low;
}

// merge joins two lists that ascend.
function merge(a, b) {
  const out = [];
  let i = 0;
  for (const x of b) {
    while (i < a.length && a[i] < x) out.push(a[i++]);
    out.push(x);
  }
  while (i < a.length) out.push(a[i++]);
  return out;
}

// byBlob groups the candidates that are not settled by the blob of their
// details.
function byBlob(candidates, settled) {
  const groups = new Map();
  let at = 0;
  for (const i of candidates) {
    while (at < settled.length && settled[at] < i) at++;
    if (settled[at] === i) continue;
    const group = groups.get(INDEX.blob[i]);
    if (group) group.push(i);
    else groups.set(INDEX.blob[i], [i]);
  }
  return groups;
}

// mayHold says whether the words can be in what a text of JSON holds: they are
// looked for as JSON writes them. Characters that can be written in several
// ways are not looked for.
function mayHold(json, words) {
  const sure = words.filter((w) => !/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]|\p{Surrogate}/u.test(w));
  return matcher(sure.map((w) => JSON.stringify(w).slice(1, -1)))(json);
}

function rowOfIndex(i) {
  return {
    item: i, id: INDEX.id[i], turn: INDEX.turn[i], q: INDEX.q[i], shape: INDEX.shape[i], blob: INDEX.blob[i], place: INDEX.place[i],
    runs: INDEX.runs.map((r) => ({ SPA: r.SPA[i], FPA: r.FPA[i], c: r.c[i], m: r.m[i] })),
  };
}

const embedded = {
  async start() {
    const append = (list, more) => { for (const x of more || []) list.push(x); };
    for (const part of await Promise.all(DATA.blobs.index.map(openBlob))) {
      for (const key of ["blob", "place", "turn", "id", "ds", "shape", "q", "tools"]) append(INDEX[key], part[key]);
      INDEX.runs.forEach((run, i) => { for (const key of Object.keys(run)) append(run[key], part.runs[i][key]); });
    }
    INDEX.n = INDEX.id.length;
  },
  async lookup(id, turn) {
    for (let i = 0; i < INDEX.n; i++) if (INDEX.id[i] === id && INDEX.turn[i] === turn) return rowOfIndex(i);
    return null;
  },
  find: (f, changed) => new EmbeddedList(f, changed),
};
