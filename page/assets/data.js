// The data: the overview is in the page, blobs are opened when they are needed.

const served = document.body.dataset.served === "true";
const DATA = JSON.parse(document.getElementById("overview").textContent);
const RIGHT = 0, MISSING = DATA.classes.findIndex((c) => c.name === "missing");

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

async function openBlob(n) {
  const bytes = served ? await download(n) : await embedded(n);
  if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old to open the data of the report; use one from 2023 or later");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function download(n) {
  const answer = await fetch("blob/" + n);
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for blob ${n}; is "assay view" still running?`);
  return answer.arrayBuffer();
}

async function embedded(n) {
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

// INDEX is the list of all items, column by column.
const INDEX = { n: 0, blob: [], place: [], turn: [], id: [], ds: [], cell: [], shape: [], q: [], tools: [], runs: DATA.columns.map(() => ({ SP: [], FP: [], SPA: [], FPA: [], c: [], m: [], tools: [] })) };

// loadIndex fills INDEX.
async function loadIndex() {
  for (const part of await Promise.all(DATA.blobs.index.map(openBlob))) {
    for (const key of ["blob", "place", "turn", "id", "ds", "cell", "shape", "q", "tools"]) append(INDEX[key], part[key]);
    INDEX.runs.forEach((run, i) => { for (const key of Object.keys(run)) append(run[key], part.runs[i][key]); });
  }
  INDEX.n = INDEX.id.length;
  INDEX.done = true;
}

function append(list, more) { for (const x of more || []) list.push(x); }

// detailOf returns a promise of the detail of an item.
async function detailOf(item) {
  return (await blob(DATA.blobs.details[INDEX.blob[item]]))[INDEX.place[item]];
}

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
