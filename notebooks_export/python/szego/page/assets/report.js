"use strict";
// The rows behind the figures. Tables stand in the page as compressed bytes (docs/reference/html-report.md
// has their format); none is decoded before it is asked for.
(() => {
  const SHOWN = 50; // rows of a preview
  const DAMAGED = "the table in this page is damaged";
  const decoded = new Map();

  // ---- Bytes of a table ----

  async function inflate(base64) {
    if (typeof DecompressionStream === "undefined")
      throw new Error("this browser cannot decompress (DecompressionStream is missing)");
    try {
      const text = atob(base64);
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
      throw new Error(DAMAGED);
    }
  }

  // Reads numbers and texts one after another.
  function reader(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
    let at = 0;
    const expect = (size) => {
      if (at + size > bytes.length) throw new Error(DAMAGED);
    };
    const take = (size) => {
      expect(size);
      at += size;
      return bytes.subarray(at - size, at);
    };
    return {
      byte: () => take(1)[0],
      number: () => (take(4), view.getUint32(at - 4, true)),
      expect,
      take,
      text() {
        return utf8.decode(take(this.number()));
      },
    };
  }

  // 64-bit numbers as two halves of 32 bits: planes of bytes, folded, differences of some order.
  function readValues(from, rows) {
    const order = from.byte(), width = from.byte();
    if (order > 3 || width > 8) throw new Error(DAMAGED);
    from.expect(width * rows);
    const low = new Uint32Array(rows), high = new Uint32Array(rows);
    for (let plane = 0; plane < width; plane++) {
      const bytes = from.take(rows), half = plane < 4 ? low : high, shift = 8 * (plane % 4);
      for (let i = 0; i < rows; i++) half[i] |= bytes[i] << shift;
    }
    for (let i = 0; i < rows; i++) {
      const sign = -(low[i] & 1);
      low[i] = ((low[i] >>> 1) | (high[i] << 31)) ^ sign;
      high[i] = (high[i] >>> 1) ^ sign;
    }
    for (let pass = 0; pass < order; pass++)
      for (let i = 1; i < rows; i++) {
        const sum = low[i] + low[i - 1];
        low[i] = sum;
        high[i] = high[i] + high[i - 1] + (sum > 0xffffffff ? 1 : 0);
      }
    return { low, high };
  }

  // The doubles whose bits grow with them.
  function asReals({ low, high }) {
    const view = new DataView(new ArrayBuffer(8)), reals = new Float64Array(low.length);
    for (let i = 0; i < low.length; i++) {
      const negative = high[i] < 0x80000000;
      view.setUint32(0, negative ? ~high[i] : high[i] ^ 0x80000000);
      view.setUint32(4, negative ? ~low[i] : low[i]);
      reals[i] = view.getFloat64(0);
    }
    return reals;
  }

  function textAt(texts, index) {
    if (index >= texts.length) throw new Error(DAMAGED);
    return texts[index];
  }

  // A function from a row to its cell: null where it is empty, else a text, a BigInt or a number.
  function readColumn(from, rows, type) {
    const presence = from.byte();
    if (!type || presence > 2) throw new Error(DAMAGED);
    if (presence === 1) return () => null;
    const map = presence === 2 ? from.take((rows + 7) >> 3) : null;
    const texts = [];
    if (type === "text")
      for (let left = from.number(); left > 0; left--) texts.push(from.text());
    const values = readValues(from, rows);
    const reals = type === "real" ? asReals(values) : null;
    const value =
      type === "text" ? (i) => textAt(texts, values.low[i])
      : type === "real" ? (i) => reals[i]
      : (i) => (BigInt(values.high[i] | 0) << 32n) | BigInt(values.low[i]);
    return map ? (i) => (map[i >> 3] & (1 << (i & 7)) ? null : value(i)) : value;
  }

  function parse(bytes) {
    const from = reader(bytes);
    if (String.fromCharCode(...from.take(4)) !== "SZT2") throw new Error(DAMAGED);
    const rows = from.number(), columns = [];
    for (let left = from.number(); left > 0; left--)
      columns.push({
        type: ["text", "integer", "real"][from.byte()],
        outwards: [0, -1, 1][from.byte()],
        name: from.text(),
        doc: from.text(),
      });
    for (const column of columns) column.cell = readColumn(from, rows, column.type);
    return { rows, columns };
  }

  function table(id) {
    if (!decoded.has(id))
      decoded.set(id, inflate(document.getElementById("table-" + id).textContent).then(parse));
    return decoded.get(id);
  }

  // ---- Rows as text ----

  // "0-511,600,700-800:2": rows, ranges, ranges with a step. Nothing: every row.
  function* listRows(spec, rows) {
    for (const part of spec ? spec.split(",") : rows > 0 ? [`0-${rows - 1}`] : []) {
      const [found, first, last = first, step = 1] = /^(\d+)(?:-(\d+))?(?::([1-9]\d*))?$/.exec(part) || [];
      if (!found || +last >= rows) throw new Error(`rows ${part}: such as 0-511,600,700-800:2, below ${rows}`);
      for (let i = +first; i <= +last; i += +step) yield i;
    }
  }

  function quote(text) {
    return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  // As the program's own CSV: nothing for an empty cell, "" for an empty text, nan, inf, -inf.
  function cellText(value) {
    if (value === null) return "";
    if (typeof value === "string") return quote(value);
    if (typeof value === "bigint") return value.toString();
    if (Number.isNaN(value)) return "nan";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    return Object.is(value, -0) ? "-0" : String(value);
  }

  // In parts of some megabytes, so that a large table needs no text of its whole length.
  function csvParts({ rows, columns }, spec) {
    const parts = [];
    let text = columns.map((column) => quote(column.name)).join(",") + "\n";
    for (const row of listRows(spec, rows)) {
      for (let k = 0; k < columns.length; k++)
        text += (k ? "," : "") + cellText(columns[k].cell(row));
      text += "\n";
      if (text.length > 1 << 22) {
        parts.push(text);
        text = "";
      }
    }
    parts.push(text);
    return parts;
  }

  // ---- Links and previews ----

  function say(link, error, remedy = "") {
    let told = link.nextElementSibling;
    if (!told || !told.classList.contains("failed")) {
      told = document.createElement("span");
      told.className = "failed";
      link.after(told);
    }
    told.textContent = ` ${error.message}${remedy}`;
  }
  const ROWS = "; the same rows are in the folder";

  function save(blob, name) {
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(blob);
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60000);
  }

  async function download(link) {
    const id = link.dataset.table;
    const parts = csvParts(await table(id), link.dataset.rows);
    save(new Blob(parts, { type: "text/csv" }), `${id}.csv`);
  }

  // Six digits, as in the page's own tables. A lower end of an enclosure (-1) is rounded down, an upper
  // one (1) up: what is shown does not lie inside.
  function shown(value, outwards) {
    if (typeof value !== "number" || !Number.isFinite(value)) return cellText(value);
    let near = +value.toPrecision(6);
    const [digits, exponent] = value.toExponential(5).split("e");
    const units = Math.round(+digits * 1e5);
    for (let step = 1; (near - value) * outwards < 0; step++)
      near = +`${units + step * outwards}e${exponent - 5}`;
    return cellText(near);
  }

  // As the page's own texts: what is not seen, or turns the line, as its code; the beginning of long ones.
  function visible(text, most) {
    const part = text.length > most ? text.slice(0, most) + "…" : text;
    return part.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (character) => {
      const code = character.charCodeAt(0).toString(16);
      return code.length > 2 ? "\\u" + code.padStart(4, "0") : "\\x" + code.padStart(2, "0");
    });
  }

  function addCell(row, kind, value, type) {
    const cell = document.createElement(kind);
    cell.textContent = visible(value, 160);
    if (type !== "text") cell.className = "number";
    row.append(cell);
    return cell;
  }

  async function preview(details) {
    const link = details.previousElementSibling.closest("a.rows") || details.parentElement.querySelector("a.rows");
    const { rows, columns } = await table(link.dataset.table);
    const element = document.createElement("table");
    const head = element.createTHead().insertRow();
    for (const column of columns) addCell(head, "th", column.name, column.type).title = visible(column.doc, 1000);
    const body = element.createTBody();
    for (const row of listRows(link.dataset.rows, rows)) {
      if (body.rows.length === SHOWN) break;
      const line = body.insertRow();
      for (const column of columns) {
        const value = column.cell(row);
        const cell = addCell(line, "td", typeof value === "string" ? value : shown(value, column.outwards), column.type);
        if (typeof value === "number") cell.title = cellText(value);
      }
    }
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.append(element);
    details.append(scroll);
  }

  for (const link of document.querySelectorAll("a.rows"))
    link.addEventListener("click", (event) => {
      event.preventDefault();
      download(link).catch((error) => say(link, error, ROWS));
    });
  for (const details of document.querySelectorAll("details.preview"))
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1)
        preview(details).catch((error) => say(details.querySelector("summary"), error, ROWS));
    });

  // ---- For figures.js, tests and readers with a console ----

  const scripts = () => [...document.querySelectorAll('script[type="application/octet-stream"]')];
  function named(name) {
    const found = scripts().find((script) => script.dataset.name === name);
    if (!found) throw new Error(`there is no table ${name}`);
    return table(found.id.slice("table-".length));
  }
  window.szego = {
    tables: () => scripts().map((script) => script.dataset.name),
    async rows(name) {
      const { rows, columns } = await named(name);
      return Array.from({ length: rows }, (_, i) =>
        Object.fromEntries(columns.map((column) => [column.name, column.cell(i)])));
    },
    save,
    say,
    csv: async (name, spec) => csvParts(await named(name), spec).join(""),
  };
})();

// The ledger of claims: a chip shows the rows of its verdict alone, and pressed again all of them.
(() => {
  for (const ledger of document.querySelectorAll(".claims")) {
    const rows = ledger.querySelectorAll(".claim");
    const chips = Array.from(ledger.querySelectorAll(".chips .verdict"), (chip) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = chip.className;
      button.dataset.verdict = chip.dataset.verdict;
      button.append(...chip.childNodes);
      chip.replaceWith(button);
      return button;
    });
    const show = (verdict) => {
      for (const row of rows) row.hidden = verdict !== null && row.dataset.verdict !== verdict;
      for (const chip of chips) chip.ariaPressed = String(chip.dataset.verdict === verdict);
    };
    for (const chip of chips)
      chip.addEventListener("click", () => show(chip.ariaPressed === "true" ? null : chip.dataset.verdict));
    // A link leads to its row, whatever is shown.
    addEventListener("hashchange", () => {
      const row = ledger.querySelector(":target")?.closest(".claim[hidden]");
      if (!row) return;
      show(null);
      row.scrollIntoView();
    });
    show(null);
  }
})();
