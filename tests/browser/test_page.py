#!/usr/bin/env python3
"""Reports in headless Chromium: nothing but the page is loaded, every plot has its marks, every table is
the folder's own to the bit, and names from files are text. usage: test_page.py PROGRAM"""
import base64
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "peer"))
# pylint: disable=wrong-import-position
import browser
import png
import results
from peer import Tap, scratch, skip

if not browser.find():
    skip("Chromium is not installed: ./check --browser installs it")

PROGRAM = os.path.abspath(sys.argv[1])
MEGABYTE = 1000000
tap = Tap()

SUBJECT = "Positional encodings and the spectra of attention logits"
#: The section that each table must bring, where it has rows.
SECTIONS = {"reproduce_table1": "table1", "reproduce_curves": "curves", "train_metrics": "curves",
            "reproduce_ablation": "ablation", "ablate_ablation": "ablation", "reproduce_sweep": "sweep",
            "reproduce_switches": "switches", "reproduce_hypotheses": "mechanism",
            "reproduce_arms": "mechanism", "reproduce_by_step": "by-step", "reproduce_relations": "relations", "reproduce_relation_arms": "relations",
            "reproduce_length_arms": "lengths", "verify_claims": "claims", "spectrum_eigenvalues": "spectrum",
            "spectrum_summary": "ranges", "spectrum_extremes": "extremes",
            "spectrum_density": "density", "spectrum_moments": "density",
            "symbol_samples": "symbol", "train_contraction": "contraction",
            "logits_statistics": "softmax",
            "checkpoint_summary": "toeplitzness", "checkpoint_frequencies": "rotary",
            "checkpoint_heads": "positional", "logits_lag_shares": "lag-share"}
#: Sections that may show tables alone; trainings have their runs in table1.
LISTS = {"findings", "others", "data", "provenance"}
ORDER = ["findings", "positional", "lag-share", "ranges", "spectrum", "extremes", "density", "symbol", "claims", "toeplitzness", "rotary", "contraction",
         "softmax",
         "table1", "curves", "ablation", "sweep", "switches", "mechanism", "by-step", "relations", "lengths", "others", "data", "provenance"]
ALSO = {"train_runs": "table1"}

MARKS = """Array.from(document.querySelectorAll('figure'), figure =>
    [figure.closest('section').id, figure.getAttribute('data-marks'),
     figure.querySelectorAll('.mark').length])"""
IDS = "Array.from(document.querySelectorAll('main > section'), section => section.id)"
# JSON has neither NaN nor 64-bit integers nor -0.
ROWS = """szego.rows(%r).then(rows => JSON.stringify(rows, (key, value) =>
    typeof value === 'bigint' ? {integer: value.toString()} :
    typeof value === 'number' ? {real: Object.is(value, -0) ? '-0' : value.toString()} : value))"""


# ---- What is wrong with a page, as lists of texts ----

def marks(page):
    """Figures whose marks are not those that they claim."""
    found = page.evaluate(MARKS)
    wrong = [f"{section}: {seen} marks, {claimed} claimed" for section, claimed, seen in found
             if not claimed or int(claimed) != seen or seen == 0]
    return wrong if found else ["no figure at all"]


def sections(page, folder):
    """Sections that are missing, that nothing in the folder gives, or that show nothing."""
    tables = results.joined(folder)
    wanted = {SECTIONS[name] for name, (_, rows) in tables.items() if name in SECTIONS and rows}
    allowed = LISTS | {ALSO[name] for name in tables if name in ALSO}
    found = page.evaluate(IDS)
    drawn = {section for section, _, _ in page.evaluate(MARKS)}
    return ([f"{name} is missing" for name in sorted(wanted - set(found))]
            + [f"{name} is there" for name in sorted(set(found) - wanted - allowed)]
            + [f"{name} shows nothing" for name in sorted(wanted - drawn)]
            + ([] if found == [name for name in ORDER if name in found] else [f"the order is {found}"]))


def differing(kind, cell, got):
    """Whether a cell of the page is another one than the folder's."""
    if cell is None or got is None:
        return cell is not got
    if kind == "text":
        return cell != got
    if not isinstance(got, dict) or list(got) != [kind]:
        return True
    if kind == "integer":
        return cell != got["integer"]
    return bits(cell) != bits(got["real"])


def bits(text):
    value = float(text.replace("Infinity", "inf"))
    return "nan" if value != value else struct.pack("<d", value)


def parsed(text):
    """Rows of JSON as lists, and their columns."""
    import json  # pylint: disable=import-outside-toplevel
    rows = json.loads(text)
    return [list(row.values()) for row in rows], list(rows[0]) if rows else []


def tables(page, folder):
    """Embedded tables that are not the folder's, cell by cell and to the bit."""
    wanted, wrong = results.joined(folder), []
    names = page.evaluate("szego.tables()")
    for name in names:
        columns, rows = wanted.get(name, ([], []))
        got, heads = parsed(page.evaluate(ROWS % name))
        if len(got) != len(rows) or (rows and heads != [column for column, _ in columns]):
            wrong.append(f"{name}: {len(got)} rows of {heads}, {len(rows)} of {columns} in the folder")
            continue
        bad = [(row, column) for row, (mine, theirs) in enumerate(zip(rows, got))
               for (column, kind), cell, value in zip(columns, mine, theirs)
               if differing(kind, cell, value)]
        wrong += [f"{name}: row {row}, {column}" for row, column in bad[:3]]
        if [[column for column, _ in columns]] + rows != results.cells(
                page.evaluate(f"szego.csv({name!r})")) and not numbers_agree(page, name, columns, rows):
            wrong.append(f"{name}: its CSV is another table")
    return wrong if len(names) > 0 else ["no table at all"]


def numbers_agree(page, name, columns, rows):
    """CSV may print a double in other digits that read back as the same."""
    heads, *body = results.cells(page.evaluate(f"szego.csv({name!r})"))
    return heads == [column for column, _ in columns] and len(body) == len(rows) and all(
        mine == theirs or (kind == "real" and mine and theirs and bits(mine) == bits(theirs))
        for left, right in zip(rows, body) for (_, kind), mine, theirs in zip(columns, left, right))


def listed(spec, count):
    """Rows that a link names: "0-5,9,10-20:2"; None: all."""
    if spec is None:
        return list(range(count))
    found = []
    for part in spec.split(","):
        first, last, step = re.fullmatch(r"(\d+)(?:-(\d+))?(?::(\d+))?", part).groups()
        found += range(int(first), int(last or first) + 1, int(step or 1))
    return found


def links(chromium, path, folder):
    """The first link of every section, clicked: rows that are not the folder's."""
    wanted, wrong, saved = results.joined(folder), [], 0
    page = chromium.open(path)
    for section in page.evaluate(IDS):
        place = f"document.querySelector('main > section[id=\"{section}\"] a.rows')"
        link = page.evaluate(f"{place} && [{place}.dataset.table, {place}.dataset.rows ?? null]")
        if not link:
            continue
        table, spec = link
        if saved == 10:  # more of one page, and Chromium asks
            page.close()
            page, saved = chromium.open(path), 0
        name, data = page.download(f"{place}.click()")
        saved += 1
        columns, rows = wanted[table]
        heads, *body = results.cells(data.decode())
        chosen = [rows[row] for row in listed(spec, len(rows))]
        good = name == f"{table}.csv" and heads == [column for column, _ in columns] and len(
            body) == len(chosen) and all(
                mine == theirs or (kind == "real" and bits(mine) == bits(theirs))
                for left, right in zip(chosen, body)
                for (_, kind), mine, theirs in zip(columns, left, right))
        if not good:
            wrong.append(f"{section}: {name}, {len(body)} rows, {len(chosen)} expected")
    page.close()
    return wrong


def looks(page):
    """Sections that are blank, or bright where dark is asked for."""
    wrong = []
    for dark in (False, True):
        page.dark(dark)
        for section in page.evaluate(IDS):
            shot = page.screenshot(f"main > section[id='{section}']", scale=0.5, most=1200)
            common, colours, brightness = png.statistics(shot)
            seen = colours >= 16 and common < 0.998 and (brightness < 80 if dark else brightness > 200)
            if not seen:
                wrong.append(f"{section}, {'dark' if dark else 'light'}: {colours} colours, the commonest "
                             f"{common:.4f} at {brightness:.0f}")
    page.dark(False)
    return wrong


def check(name, wrong):
    tap.ok(name, not wrong, "; ".join(wrong[:5]))


#: [name, shown, exact] of every real number in a table or a preview whose column holds ends.
ENDS = """Array.from(document.querySelectorAll('table'), table =>
    Array.from(table.tHead.rows[0].cells, head => head.textContent).flatMap((name, column) =>
        /(^|_)(lo|hi)$/.test(name) ?
            Array.from(table.tBodies[0].rows, row => row.cells[column])
                .filter(cell => cell.title).map(cell => [name, cell.textContent, cell.title]) : [])).flat()"""


#: True when every open preview has its table, or says why not.
FILLED = """new Promise(done => {
    const previews = Array.from(document.querySelectorAll('details.preview'));
    const look = () => previews.every(one => one.querySelector('table, .failed')) ? done(true) : setTimeout(look, 20);
    look();
})"""


def ends(page):
    """Numbers that lie inside their enclosure as they are shown, or a unit of the sixth digit outside."""
    found = page.evaluate(ENDS)
    wrong = []
    for name, shown, exact in found:
        out = (float(shown) - float(exact)) * (-1 if name.endswith("lo") else 1)
        if not 0 <= out <= 1.0001e-5 * abs(float(exact)):
            wrong.append(f"{name}: {exact} is shown as {shown}")
    return wrong if len(found) > 100 else [f"only {len(found)} ends are shown"]


#: Of each chip of the ledger: what it says, the verdicts that are seen once it is pressed, and the rows
#: that are seen before.
CHIPS = """Array.from(document.querySelectorAll('.chips button'), chip => {
    const seen = () => Array.from(document.querySelectorAll('.ledger .claim')).filter(row => row.checkVisibility());
    const all = seen().length;
    chip.click();
    const some = seen().map(row => row.querySelector('summary .verdict').textContent);
    chip.click();
    return [chip.textContent, some, all];
})"""

#: A link to a row that a chip hides shows the row and opens it: [hidden before, seen and open then].
HIDDEN_ROW = """(async () => {
    const chips = Array.from(document.querySelectorAll('.chips button'));
    chips[0].click();
    const row = document.querySelector('.claim[hidden]');
    if (!row) return [false, false];
    const hidden = !row.checkVisibility();
    const turned = new Promise(done => addEventListener('hashchange', () => setTimeout(done, 0), { once: true }));
    location.hash = row.id;
    await turned;
    return [hidden, row.checkVisibility() && row.open];
})()"""

#: Rows of the ledger that are closed, and of these the ones whose basis paper shows.
ON_PAPER = """(() => {
    const closed = Array.from(document.querySelectorAll('.claim:not([open])'));
    return [closed.length, closed.filter(row => row.querySelector('.basis > *').checkVisibility(
        { contentVisibilityAuto: true }) && row.querySelector('.basis').getBoundingClientRect().height > 20).length];
})()"""


def ledger(page):
    """Chips that count other rows than they show, rows that a link does not open or paper does not show."""
    found, wrong = page.evaluate(CHIPS), []
    if not found:
        return ["no chips"]
    for words, some, rows in found:
        verdict, count = words.rsplit(" ", 1)
        if int(count) != len(some) or set(some) != {verdict} or rows < len(some):
            wrong.append(f"{words} shows {some} of {rows}")
    if sum(len(some) for _, some, _ in found) != found[0][2]:
        wrong.append("the chips do not count every row once")
    if page.evaluate(HIDDEN_ROW) != [True, True]:
        wrong.append("a link does not open the row that it leads to")
    page.evaluate("history.replaceState(null, '', location.pathname)")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.settle()
    closed, shown = page.evaluate(ON_PAPER)
    page.call("Emulation.setEmulatedMedia", media="")
    if not closed or closed != shown:
        wrong.append(f"paper shows {shown} of {closed} closed rows")
    return wrong


# ---- The checks ----

def check_all(chromium, folder, path):
    page = chromium.open(results.report(PROGRAM, folder, path))
    check("nothing but the page is loaded, and nothing is complained of", page.problems())
    check("every section that the folder gives", sections(page, folder))
    tap.ok("the page says what it is", page.evaluate("[document.title, document.querySelector('h1').textContent]") == [
        f"{os.path.basename(folder)}: {SUBJECT} (szego report)", SUBJECT])
    check("every figure has its marks", marks(page))
    check("every table is the folder's", tables(page, folder))
    check("links give their rows", links(chromium, path, folder))
    check("light and dark", looks(page))
    check("the ledger's chips, links and rows on paper", ledger(page))
    tap.ok("the tensor called <script> is named", page.evaluate(
        f"document.body.innerText.includes({results.HOSTILE!r}) ||"
        f"document.querySelector('main').textContent.includes({results.HOSTILE!r})"))
    pdf = page.pdf()
    tap.ok("it prints", pdf.startswith(b"%PDF-") and len(pdf) > 50000, f"{len(pdf)} bytes")
    size = re.search(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", pdf)
    tap.ok("on A4", size and abs(float(size[1]) - 595.3) < 1 and abs(float(size[2]) - 841.9) < 1)
    name = page.evaluate("szego.tables()[0]")
    count = len(results.cells(page.evaluate(f"szego.csv({name!r})"))) - 1
    for spec in ("x", "1-", "0:0", "-1", f"{count}", f"0-{count}", "0,,0"):
        said = page.evaluate(f"szego.csv({name!r}, {spec!r}).catch(error => error.message)")
        tap.ok(f"no rows {spec}", said.startswith("rows ") and f"below {count}" in said, said)
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
    check("opening every preview is no problem", page.problems())
    tap.ok("every preview is filled", page.evaluate(FILLED))
    check("ends of enclosures are rounded outwards, in tables and in previews", ends(page))
    page.close()


def check_single(chromium, folder, path):
    """A report of one result alone has its sections alone."""
    for name in ("spectrum", "symbol", "verify", "checkpoint", "train", "ablate"):
        place = os.path.join(folder, name)
        page = chromium.open(results.report(PROGRAM, place, path))
        check(f"of {name} alone", page.problems() + sections(page, place) + marks(page))
        page.close()


def check_hostile(chromium, folder, path):
    """Markup in every text of every table stays text."""
    page = chromium.open(results.report(PROGRAM, folder, path))
    scripts = len(page.evaluate("szego.tables()")) + 3
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
    check("hostile names: nothing runs, nothing is loaded", page.problems())
    count = page.evaluate("[document.images.length, document.scripts.length,"
                          "document.querySelectorAll('[onerror]').length]")
    tap.ok("hostile names: no element comes of them", count == [0, scripts, 0], f"{count}, {scripts}")
    check("hostile names: tables keep them", tables(page, folder))
    tap.ok("hostile names are seen", page.evaluate(
        "document.querySelector('main').textContent.includes('<img src=x onerror=alert(1)>')"))
    page.close()


#: Bytes of an embedded table, changed: a row count, a column's type, the end.
DAMAGES = [("rows", lambda raw: raw[:4] + b"\xff\xff\xff\x0f" + raw[8:]),
           ("a type", lambda raw: raw[:12] + b"\x09" + raw[13:]),
           ("the end", lambda raw: raw[:len(raw) // 2])]
SAYS = ["the table in this page is damaged; the same rows are in the folder"] * 2
COMPLAINTS = """new Promise(done => {
    const find = () => {
        const found = Array.from(document.querySelectorAll('.failed'), e => e.textContent.trim());
        if (found.length >= %d) done(found);
    };
    new MutationObserver(find).observe(document, {childList: true, subtree: true, attributes: true,
                                                  characterData: true});
    find();
})"""


def complaints(page, count):
    """What the page says of tables that it cannot show, once it has said `count` of them."""
    try:
        return page.evaluate(COMPLAINTS % count, timeout=5)
    except browser.BrowserError:
        return page.evaluate("Array.from(document.querySelectorAll('.failed'), e => e.textContent)")


def check_damaged(chromium, folder, path):
    """A table whose bytes are not what was written is no table, and neither download nor preview is."""
    results.report(PROGRAM, os.path.join(folder, "symbol"), path)
    with open(path, encoding="utf-8") as file:
        head, data, rest = re.split(r'(?<=id="table-symbol_samples" data-name="symbol_samples">)([^<]*)',
                                    file.read())
    whole = zlib.decompress(base64.b64decode(data))
    damaged = [(name, base64.b64encode(zlib.compress(change(whole))).decode()) for name, change in DAMAGES]
    for name, text in [("base64", "!" + data), ("the compressed end", data[:-40]), *damaged]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(head + text + rest)
        page = chromium.open(path)
        page.evaluate("document.querySelector('#symbol a.rows').click();"
                      "document.querySelector('#symbol details.preview').open = true")
        found = complaints(page, len(SAYS))
        check(f"damaged in {name}: said, twice", page.problems() + (found or ["nothing"] if found != SAYS else []))
        page.close()


def check_large(chromium, folder, path):
    """A million eigenvalues: file below 10 MB, loaded with less than 2 s of the processor's time. Random
    ones in their order: all but some 20 of the 64 bits of each are noise, which no compression takes."""
    subprocess.run([PROGRAM, "spectrum", "--all", "-n", str(MEGABYTE), "--pe", "kms:rho=0.9", "--quiet",
                    "-o", folder + "/"], check=True)
    results.randomise(os.path.join(folder, "eigenvalues.csv"))
    results.report(PROGRAM, folder, path)
    size = os.path.getsize(path)
    tap.ok("a million eigenvalues: below 10 MB", size < 10 * MEGABYTE, f"{size / MEGABYTE:.2f} MB")
    page = chromium.open(path)
    work = page.work()
    tap.ok("a million eigenvalues: less than 2 s of work", work < 2, f"{work:.2f} s, {page.timing():.0f} ms")
    check("a million eigenvalues: no problem, marks", page.problems() + marks(page))
    got = page.evaluate(f"szego.csv('spectrum_eigenvalues', '0,{MEGABYTE - 1}')")
    with open(os.path.join(folder, "eigenvalues.csv"), encoding="utf-8") as file:
        head, first = next(file), next(file)
        for last in file:
            pass
    wanted = results.cells(f"result,{head}.,{first}.,{last}")
    tap.ok("a million eigenvalues: first and last row", results.cells(got) == wanted, repr(got[:300]))
    page.close()


#: A page with one thing changed: which check must see it.
SPOILT = [
    ("a mark too many claimed", r'data-marks="(\d+)"', lambda m: f'data-marks="{int(m[1]) + 1}"', marks),
    ("a mark that is no mark", r'class="mark', lambda m: 'class="nomark', marks),
    ("an image from elsewhere", r"<main>", lambda m: '<main><img src="http://192.0.2.1/x.png">',
     browser.Page.problems),
    ("a script within", r"<main>", lambda m: "<main><script>alert(1)</script>", browser.Page.problems),
    ("a broken script", r'"use strict";', lambda m: '"use strict"; throw new Error("x");',
     browser.Page.problems),
]


def check_spoilt(chromium, path):
    """The checks above see what they are for."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, pattern, change, see in SPOILT:
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(pattern, change, text, count=1))
        page = chromium.open(path)
        tap.ok(f"seen: {name}", see(page) != [])
        page.close()


def check_tables_spoilt(chromium, folder, path):
    """Cells of the folder that change behind the report's back."""
    page = chromium.open(results.report(PROGRAM, folder, path))
    place = os.path.join(folder, "samples.csv")
    with open(place, encoding="utf-8") as file:
        text = file.read()
    at = text.rindex(".") + 1
    with open(place, "w", encoding="utf-8") as file:
        file.write(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1:])
    tap.ok("seen: one digit of one cell", len(tables(page, folder)) == 2)
    page.evaluate("document.querySelectorAll('main > section > *').forEach(e => e.remove())")
    page.evaluate("document.querySelectorAll('main > section').forEach(e => e.style.height = '90px')")
    tap.ok("seen: sections without anything", len(looks(page)) == 2 * len(page.evaluate(IDS)))
    tap.ok("seen: a section without figures", sections(page, folder) == ["symbol shows nothing"])
    page.close()


def main(place, large):
    folder, path = os.path.join(place, "results"), os.path.join(place, "report.html")
    results.make(PROGRAM, folder)
    hostile = shutil.copytree(folder, os.path.join(place, "hostile"))
    results.spoil(hostile)
    with browser.Browser() as chromium:
        check_all(chromium, folder, path)
        check_single(chromium, folder, path)
        check_hostile(chromium, hostile, path)
        check_damaged(chromium, folder, path)
        check_spoilt(chromium, results.report(PROGRAM, os.path.join(folder, "symbol"), path))
        check_tables_spoilt(chromium, os.path.join(folder, "symbol"), path)
        check_large(chromium, os.path.join(large, "results"),
                    os.path.join(large, "report.html"))


# What is large lies on the disk: memory may be short of it.
with scratch() as small, tempfile.TemporaryDirectory() as large:
    main(small, large)
tap.finish()
