// The data: the overview is in the page, blobs are opened when they are needed.

const served = document.body.dataset.served === "true";
const DATA = JSON.parse(document.getElementById("overview").textContent);
const RIGHT = 0; // the place among the classes

const opened = new Map(); // of blobs, by number: a promise of their value
const KEPT = 40; // blobs that are kept open

// blob returns a promise of the value of a blob.
function blob(n) {
  let found = opened.get(n);
  if (!found) {
    found = openBlob(n);
    opened.set(n, found);
    found.catch(() => opened.delete(n));
    if (opened.size > KEPT) opened.delete(opened.keys().next().value);
  }
  return found;
}

async function openBlob(n) { return JSON.parse(await blobText(n)); }

async function blobText(n) {
  const bytes = served ? await download(n) : await fromFile(n);
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to open the data of the report; use one from 2023 or later");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

async function download(n) {
  const answer = await fetch("blob/" + n);
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for blob ${n}; is "assay view" still running?`);
  return answer.arrayBuffer();
}

async function fromFile(n) {
  if (!document.getElementById("blob-" + n) && document.readyState === "loading") {
    await new Promise((done) => addEventListener("DOMContentLoaded", done, { once: true })); // the rest is still being read
  }
  const node = document.getElementById("blob-" + n);
  if (!node) throw new Error(`blob ${n} is not in this file: it was cut off; write the report again`);
  const text = atob(node.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// A row is an item as the list shows it: its number, id, turn, the start of the
// query, the shape, where its detail is, and what each column did. Rows come
// from one of two sources with the same functions: the index in the file
// (embedded.js), or a server that has it (paged.js).
//
//   start()            a promise of being ready
//   lookup(id, turn)   a promise of a row, or of null
//   find(f, changed)   the list of the items that pass a filter
//
// changed is called when a list knows more. A list has
//
//   total, progress    items found so far; a text while it is not all, else ""
//   fault              what went wrong, if something did
//   row(at)            the row at a place, or null until it is there
//   place(item)        a promise of the place of an item, -1 if it is not in it
//   step(from, direction, wrong)  a promise of {at, row}: the next after an item
//                      that need not be in the list; row is null at the end
//   stop()             ends what still goes on
//   first              a promise of the first rows

// wordsOf splits a query; each word has to be found.
const wordsOf = (q) => q.split(/\s+/).filter((w) => w);

// pause waits a moment, so that a search does not begin at every key.
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

// detailOf returns a promise of the detail of a row.
async function detailOf(row) { return (await blob(DATA.blobs.details[row.blob]))[row.place]; }

let toolNames = null;
async function toolName(i) {
  toolNames ??= await blob(DATA.blobs.tool_names);
  return toolNames[i].n;
}

async function toolOf(i) {
  await toolName(i);
  const at = toolNames[i];
  return (await blob(DATA.blobs.tools[at.b]))[at.p];
}
