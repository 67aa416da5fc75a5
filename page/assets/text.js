// Text from models and data sets becomes text nodes here and nowhere else.

// INVISIBLE are characters that change how text looks without being seen:
// controls, changes of direction, joiners, tags. Line breaks and tabs stay.
const INVISIBLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

// LONG is how many characters of a text are shown at first.
const LONG = 6000;

// el makes an element. Attributes are set by name; children are elements, or
// strings that become visible text.
function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === "") continue;
    if (child instanceof Node) node.append(child);
    else appendVisible(node, String(child));
  }
  return node;
}

// appendVisible appends s as text, with invisible characters as code points.
function appendVisible(node, s) {
  let from = 0;
  for (const found of s.matchAll(INVISIBLE)) {
    if (found.index > from) node.append(s.slice(from, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const mark = document.createElement("span");
    mark.className = "ctl";
    mark.title = "a character that cannot be seen";
    mark.textContent = "U+" + code;
    node.append(mark);
    from = found.index + found[0].length;
  }
  if (from < s.length) node.append(s.slice(from));
}

// longText returns a block of text, cut if it is long, with a button that shows
// more of it.
function longText(s, className) {
  const block = el("div", { class: "text " + (className || ""), dir: "auto" });
  const append = (from, to) => {
    // A cut between the halves of one character would show two broken ones.
    if (to < s.length && s.charCodeAt(to - 1) >= 0xd800 && s.charCodeAt(to - 1) < 0xdc00) to--;
    appendVisible(block, s.slice(from, to));
    if (to >= s.length) return;
    const rest = s.length - to;
    const more = el("button", { type: "button", class: "more" }, `… ${number(rest)} characters more: show ${rest > 20 * LONG ? number(20 * LONG) : "all"}`);
    more.addEventListener("click", () => { more.remove(); append(to, Math.min(s.length, to + 20 * LONG)); });
    block.append(more);
  };
  append(0, Math.min(s.length, LONG));
  return block;
}

function number(n) { return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ","); }

// percent writes a fraction with one decimal, as the tables do.
function percent(f) { return f === null || f === undefined ? "n/a" : (100 * f).toFixed(1); }

function span(low, high) { return low === null || low === undefined ? "" : `${percent(low)} to ${percent(high)}`; }

// words writes the name of a class or metric for people.
function words(s) { return String(s).replaceAll("_", s === "FPA_arg" ? "-" : " "); }
