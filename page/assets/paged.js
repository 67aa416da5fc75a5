// The source of a served report: the server filters, searches and steps, and
// rows are asked for page by page.

const PAGE = 100; // rows of a page
const PAGES_KEPT = 40;

// ask returns what the server says, as JSON.
async function ask(what, parameters, signal) {
  let answer;
  try {
    answer = await fetch(`api/${what}?${new URLSearchParams(parameters)}`, { signal });
  } catch (fault) {
    if (signal && signal.aborted) throw fault;
    throw new Error('the server does not answer; is "assay view" still running?');
  }
  if (!answer.ok) throw new Error(`the server answers: ${(await answer.text()).trim()}`);
  return answer.json();
}

class PagedList {
  constructor(f, changed) {
    this.filter = f;
    this.changed = changed;
    this.abort = new AbortController();
    this.pages = new Map(); // rows by the place of the first, or null while they are asked for
    this.total = 0;
    this.progress = f.q ? "searching …" : "filtering …";
    this.first = this.begin();
  }
  async begin() {
    if (this.filter.q) await pause(120);
    if (!this.abort.signal.aborted) await this.fetch(0);
  }
  async fetch(offset) {
    this.pages.set(offset, null);
    try {
      const got = await ask("items", { ...this.filter, offset, limit: PAGE - offset % PAGE }, this.abort.signal);
      this.total = got.total;
      this.pages.set(offset, got.rows);
      while (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
    } catch (fault) {
      if (this.abort.signal.aborted) return; // another list is shown by now
      this.pages.delete(offset);
      this.fault = fault.message;
    }
    this.progress = "";
    this.changed();
  }
  // row asks for a page when a row of it is wanted. A page of long rows can be
  // shorter than it was asked for, and then the rest is a page of its own.
  row(at) {
    let offset = at - at % PAGE;
    for (let rows = this.pages.get(offset); rows && rows.length; rows = this.pages.get(offset)) {
      if (at < offset + rows.length) return rows[at - offset];
      offset += rows.length;
    }
    if (!this.pages.has(offset) && !this.fault) this.fetch(offset);
    return null;
  }
  async place(item) { return (await ask("place", { ...this.filter, item }, this.abort.signal)).at; }
  step(from, direction, wrong) { return ask("step", { ...this.filter, from, back: direction < 0 ? 1 : 0, wrong: wrong ? 1 : 0 }, this.abort.signal); }
  stop() { this.abort.abort(); }
}

const paged = {
  async start() {},
  async lookup(id, turn) { return (await ask("item", { id, turn })).row; },
  find: (f, changed) => new PagedList(f, changed),
};
