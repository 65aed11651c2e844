"use strict";
// Figures under a pointer, a finger and the keyboard: values at once, series that the legend toggles,
// a head that is marked in all figures, files. Without a script every mark has its <title> instead.
(() => {
  const NEAR = { mouse: 10, pen: 16, touch: 24 }; // pixels around a small mark in which it answers
  const SMALL = ".hits > *, .points:not(.crowd) > .mark";
  const STOPS = SMALL + ", .bars > .mark, .cells > .mark, .violin > .mark, .rule > .mark";
  const figures = document.querySelectorAll("svg.figure");

  // ---- What a mark says ----

  // A <title> would be shown by the browser as well, later and beside: it is taken out when its
  // element is first asked, and kept.
  const titles = new WeakMap();
  function textOf(element) {
    const title = Array.prototype.find.call(element.children, (child) => child.localName === "title");
    if (title) {
      titles.set(element, title.textContent);
      title.remove();
    }
    return titles.get(element);
  }

  const isOff = (element) => element.closest(".off") !== null;
  const stopsOf = (svg, which) => Array.from(svg.querySelectorAll(which)).filter((mark) => !isOff(mark));

  // Middles in the figure's own units; measured once.
  const middles = new WeakMap();
  function middleOf(mark) {
    if (!middles.has(mark)) {
      const box = mark.getBBox();
      middles.set(mark, { x: box.x + box.width / 2, y: box.y + box.height / 2 });
    }
    return middles.get(mark);
  }

  function nearest(svg, event) {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.x) * scale, y = (event.clientY - box.y) * scale;
    let found = null, least = (NEAR[event.pointerType] || NEAR.mouse) * scale;
    for (const mark of stopsOf(svg, SMALL)) {
      const at = middleOf(mark), distance = Math.hypot(at.x - x, at.y - y);
      if (distance <= least) [found, least] = [mark, distance];
    }
    return found;
  }

  // The mark that a pointer means: an entry of the legend, a point close by, or what lies below it.
  function markAt(event) {
    const svg = event.target.closest("svg.figure");
    if (!svg) return null;
    const entry = event.target.closest(".entry");
    if (entry) return entry;
    const near = nearest(svg, event);
    if (near) return near;
    for (let at = event.target; at !== svg; at = at.parentNode) if (textOf(at)) return at;
    return null;
  }

  // ---- Tooltip and highlight: of what is pointed at, else of what was pinned by a tap ----

  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);

  let hovered = null, pinned = null, shown = null;

  // Beside the mark, above it where there is room, within the window's width.
  function place(mark, event) {
    const box = mark.getBoundingClientRect();
    const large = event && !mark.matches(SMALL);
    const x = large ? event.clientX : box.x + box.width / 2, above = large ? event.clientY : box.top;
    const below = large ? event.clientY : box.bottom;
    tip.style.left = tip.style.top = "0";
    const left = Math.min(Math.max(x - tip.offsetWidth / 2, 4), root.clientWidth - tip.offsetWidth - 4);
    const top = above - tip.offsetHeight - 10 > 0 ? above - tip.offsetHeight - 10 : below + 14;
    tip.style.left = `${Math.max(left, 0) + scrollX}px`;
    tip.style.top = `${top + scrollY}px`;
  }

  const root = document.documentElement;
  let lit = null, litMarks = [];
  function lightHead(head) {
    if (head === lit) return;
    for (const mark of litMarks) {
      mark.classList.remove("lit");
      mark.closest("svg.figure, table")?.classList.remove("has-lit");
    }
    lit = head;
    litMarks = head === null ? [] : Array.from(document.querySelectorAll(`[data-head="${CSS.escape(head)}"]`));
    for (const mark of litMarks) {
      mark.classList.add("lit");
      mark.closest("svg.figure, table")?.classList.add("has-lit");
    }
  }

  function show(event) {
    const mark = hovered || pinned;
    const text = mark && textOf(mark.matches(".entry") ? mark.querySelector("text") : mark);
    if (shown !== mark) {
      shown?.classList.remove("at");
      mark?.classList.add("at");
      shown = mark;
    }
    lightHead(mark?.closest("[data-head]")?.dataset.head ?? pinned?.closest("[data-head]")?.dataset.head ?? null);
    tip.hidden = !text;
    if (!text) return;
    if (tip.textContent !== text) tip.textContent = text;
    place(mark, event);
  }

  function hover(mark, event) {
    if (mark === hovered && !mark) return;
    hovered = mark;
    show(event);
  }

  function pin(mark, event) {
    pinned = mark;
    hovered = null;
    show(event);
  }

  // A finger that moves scrolls; it shows values by a tap.
  document.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") hover(markAt(event), event);
  });
  root.addEventListener("pointerleave", () => hover(null));
  document.addEventListener("click", (event) => {
    const mark = markAt(event), entry = mark?.matches(".entry") ? mark : null;
    if (entry) toggle(entry);
    pin(entry ? null : mark, event);
  });
  // A figure that is moved within its box takes its tooltip along.
  document.addEventListener("scroll", (event) => event.target !== document && show(), true);

  // ---- Legend ----

  function toggle(entry) {
    const off = entry.classList.toggle("off");
    entry.setAttribute("aria-pressed", !off);
    for (const mark of entry.closest("svg").querySelectorAll(`[data-series="${entry.dataset.series}"]:not(.entry)`))
      mark.classList.toggle("off", off);
  }

  // ---- Keyboard: a figure is one stop, its legend another; arrows move within each ----

  const along = { ArrowLeft: -1, ArrowRight: 1 }, across = { ArrowUp: -1, ArrowDown: 1 };
  const within = (list, at) => list[Math.min(Math.max(at, 0), list.length - 1)];
  const closestInX = (marks, x) =>
    marks.reduce((best, mark) => (Math.abs(middleOf(mark).x - x) < Math.abs(middleOf(best).x - x) ? mark : best));

  // The mark that a key leads to from another of the figure; undefined: the key leads nowhere.
  function step(svg, from, key) {
    const stops = stopsOf(svg, STOPS);
    if (!stops.includes(from)) return key in along || key in across ? stops[0] : undefined;
    const row = stops.filter((mark) => mark.parentNode === from.parentNode), at = row.indexOf(from);
    if (key === "Home") return row[0];
    if (key === "End") return row.at(-1);
    if (key in along) return within(row, at + along[key]);
    if (!(key in across)) return undefined;
    if (from.closest(".cells")) {
      const columns = row.filter((mark) => middleOf(mark).y === middleOf(row[0]).y).length;
      return row[at + across[key] * columns] || from;
    }
    const rows = [...new Set(stops.map((mark) => mark.parentNode))];
    const next = within(rows, rows.indexOf(from.parentNode) + across[key]);
    return closestInX(stops.filter((mark) => mark.parentNode === next), middleOf(from).x);
  }

  function onKey(event) {
    const svg = event.currentTarget, entry = event.target.closest(".entry");
    if (event.key === "Escape") return pin(null);
    if (entry && (event.key === "Enter" || event.key === " ")) toggle(entry);
    else if (entry) {
      const entries = Array.from(svg.querySelectorAll(".entry"));
      const way = along[event.key] || across[event.key];
      if (!way) return;
      within(entries, entries.indexOf(entry) + way).focus();
    } else {
      const mark = step(svg, pinned, event.key);
      if (!mark) return;
      pin(mark);
      mark.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault(); // the page does not scroll
  }

  for (const svg of figures) {
    svg.setAttribute("aria-label", `${textOf(svg)}. Arrow keys read its values.`);
    svg.setAttribute("role", "application");
    svg.tabIndex = 0;
    svg.addEventListener("keydown", onKey);
    svg.querySelectorAll(".entry").forEach((entry, i) => {
      entry.setAttribute("role", "button");
      entry.setAttribute("aria-pressed", "true");
      entry.tabIndex = i ? -1 : 0;
    });
  }

  // ---- Files ----

  // Attributes in place of the page's style sheet: programs that draw SVG seldom know CSS variables.
  const INHERITED = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-linecap", "stroke-linejoin",
    "stroke-dasharray", "shape-rendering", "text-anchor", "font-family", "font-size", "font-style", "font-weight"];

  // One drawing as it is seen, without the series that are toggled off.
  function copyOf(svg) {
    const copy = svg.cloneNode(true), marks = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
      const style = getComputedStyle(marks[i]), above = i ? getComputedStyle(marks[i].parentNode) : null;
      for (const name of INHERITED) {
        const value = style.getPropertyValue(name);
        if (value !== above?.getPropertyValue(name)) element.setAttribute(name, value);
      }
      element.removeAttribute("style");
      if (style.opacity !== "1") element.setAttribute("opacity", style.opacity);
      if (!titles.has(marks[i])) return;
      const title = document.createElementNS(svg.namespaceURI, "title");
      title.textContent = titles.get(marks[i]);
      element.prepend(title);
    });
    for (const element of copy.querySelectorAll(".hits, .off, .room")) element.remove();
    for (const name of ["aria-label", "role", "tabindex"]) copy.removeAttribute(name);
    return copy;
  }

  function element(parent, name, attributes) {
    const made = document.createElementNS(figures[0].namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent?.append(made);
    return made;
  }

  // The figure as one SVG on the page's colour: its drawing, or small multiples where they stand.
  function standalone(figure) {
    pin(null);
    const all = Array.from(figure.querySelectorAll("svg.figure")), first = all[0].getBoundingClientRect();
    const scale = all[0].getAttribute("width") / first.width, heading = figure.querySelector(".heading:not(text)");
    const boxes = all.map((svg) => svg.getBoundingClientRect()), above = heading ? 24 : 0;
    const left = Math.min(...boxes.map((box) => box.x)), top = Math.min(...boxes.map((box) => box.y));
    const width = (Math.max(...boxes.map((box) => box.right)) - left) * scale;
    const height = (Math.max(...boxes.map((box) => box.bottom)) - top) * scale + above;
    const whole = element(null, "svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    const style = getComputedStyle(all[0]);
    element(whole, "rect", { width: "100%", height: "100%", fill: style.getPropertyValue("--fig-page").trim() });
    if (heading)
      element(whole, "text", { x: 4, y: 16, fill: style.getPropertyValue("--fig-ink").trim(), "font-size": "14px",
        "font-weight": 600, "font-family": style.fontFamily }).textContent = heading.textContent;
    all.forEach((svg, i) => {
      const copy = copyOf(svg), box = boxes[i];
      copy.setAttribute("x", (box.x - left) * scale);
      copy.setAttribute("y", (box.y - top) * scale + above);
      copy.setAttribute("width", box.width * scale);
      copy.setAttribute("height", box.height * scale);
      whole.append(copy);
    });
    return { text: new XMLSerializer().serializeToString(whole), width, height };
  }

  async function raster({ text, width, height }) {
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text); // blob: is not allowed here
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(2 * width);
    canvas.height = Math.round(2 * height);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!png) throw new Error("this browser could not draw the picture");
    return png;
  }

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-save]");
    if (!button) return;
    const figure = button.closest("figure"), kind = button.dataset.save, drawn = standalone(figure);
    try {
      const blob = kind === "svg" ? new Blob([drawn.text], { type: "image/svg+xml" }) : await raster(drawn);
      szego.save(blob, `${figure.id}.${kind}`);
    } catch (error) {
      szego.say(button, error);
    }
  });
})();
