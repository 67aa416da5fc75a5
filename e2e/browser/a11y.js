// Measures of accessibility, evaluated in the page by the tests.
({
  // parse reads a computed colour as [r, g, b, a].
  parse(text) {
    const parts = text.match(/[\d.]+%?/g);
    if (!/^rgba?\(/.test(text) || !parts) throw new Error("a colour that the test cannot read: " + text);
    const [r, g, b, a] = parts.map(Number);
    return [r, g, b, a ?? 1];
  },
  over([r, g, b, a], [r2, g2, b2]) {
    const mix = (x, y) => x * a + y * (1 - a);
    return [mix(r, r2), mix(g, g2), mix(b, b2), 1];
  },
  // luminance and ratio are as WCAG 2.2 defines relative luminance and contrast
  // ratio.
  luminance([r, g, b]) {
    const part = (x) => { x /= 255; return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  },
  ratio(a, b) {
    const [high, low] = [this.luminance(a), this.luminance(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  },
  // behind is the colour behind the content of an element: its own background
  // over those of its ancestors, over the canvas.
  behind(element) {
    const chain = [];
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") throw new Error("a background image, which the test cannot read");
      chain.push(this.parse(style.backgroundColor));
      if (chain.at(-1)[3] === 1) break;
    }
    let colour = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    for (const layer of chain.reverse()) colour = this.over(layer, colour);
    return colour;
  },
  opacity(element) {
    let all = 1;
    for (let e = element; e; e = e.parentElement) all *= Number(getComputedStyle(e).opacity);
    return all;
  },
  visible(element) { return element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0; },
  // contrast measures every text that is drawn, and placeholders.
  contrast() {
    const out = { measured: 0, least: 99, low: [] };
    const measure = (element, text, colour, style) => {
      const back = this.behind(element), front = this.parse(colour);
      front[3] *= this.opacity(element);
      const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
      const ratio = this.ratio(this.over(front, back), back);
      out.measured++;
      out.least = Math.min(out.least, ratio);
      if (ratio < (large ? 3 : 4.5)) out.low.push(`${ratio.toFixed(2)}: ${JSON.stringify(text.trim().slice(0, 40))} in ${element.tagName.toLowerCase()}.${element.className}, ${colour} on ${back.map(Math.round)}`);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || element.closest("script, style, noscript, option") || !this.visible(element)) continue;
      range.selectNodeContents(node);
      if (!range.getClientRects().length) continue;
      const style = getComputedStyle(element);
      measure(element, node.data, style.color, style);
    }
    for (const field of document.querySelectorAll("select, input")) {
      if (!this.visible(field)) continue;
      const style = getComputedStyle(field), hint = field.placeholder && !field.value;
      measure(field, field.value || field.placeholder || field.id, hint ? getComputedStyle(field, "::placeholder").color : style.color, style);
    }
    return out;
  },
  // edges measures the borders of controls, by which they are known for such.
  edges() {
    const low = [];
    for (const e of document.querySelectorAll("button, select, input")) {
      if (!this.visible(e)) continue;
      const outside = this.behind(e.parentElement), edge = this.over(this.parse(getComputedStyle(e).borderTopColor), outside);
      const ratio = this.ratio(edge, outside);
      if (ratio < 3) low.push(`${ratio.toFixed(2)}: the edge of ${e.id || e.textContent.slice(0, 30)}`);
    }
    return low;
  },
  // stops are the elements that Tab should go to, in the order of the document.
  stops() {
    const all = [...document.querySelectorAll("a[href], button, select, input, textarea, summary, [tabindex]")];
    return this.list = all.filter((e) => e.tabIndex >= 0 && !e.disabled && this.visible(e));
  },
  // focused says which stop has the focus, and how it looks.
  focused() {
    const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
    const outline = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
    const around = e.parentElement ? this.behind(e.parentElement) : [255, 255, 255, 1];
    let down = 0, across = 0; // where it is in boxes that scroll
    for (let p = e.parentElement; p && p !== document.documentElement; p = p.parentElement) [down, across] = [down + p.scrollTop, across + p.scrollLeft];
    return {
      at: this.list.indexOf(e), name: e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + " " + (e.getAttribute("aria-label") || e.textContent).trim().slice(0, 30),
      outline, ratio: outline ? this.ratio(this.parse(style.outlineColor), around) : 0,
      x: box.left + scrollX + across, y: box.top + scrollY + down, right: box.right + scrollX + across, bottom: box.bottom + scrollY + down,
      seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    };
  },
})
