#!/usr/bin/env python3
"""What a reader does with a report: points, taps, presses keys, follows links, saves figures, prints, on a
wide and on a narrow window, with and without scripts. usage: test_figures.py PROGRAM"""
import math
import os
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "peer"))
# pylint: disable=wrong-import-position
import browser
import png
import results
from peer import Tap, scratch, skip

if not browser.find():
    skip("Chromium is not installed: ./check --browser installs it")

PROGRAM = os.path.abspath(sys.argv[1])
PHONE, DESK, PAPER = 400, 1280, 703  # pixels; A4 without its margins is 186 mm wide
HITS = "svg.figure .line .hits circle"
tap = Tap()


def make(folder):
    """Spectra with clouds and rules, a training with lines and a legend. Beside it, a wide figure."""
    for arguments in (["spectrum", "--all", "-n", "64", "--pe", "alibi:heads=2", "--pe", "rope:dim=8",
                       "-o", f"{folder}/spectrum/"],
                      ["train", results.save_json(folder + "-inputs/train.json", results.TRAINING),
                       "--capture", "every=3", "-o", f"{folder}/train/"],
                      ["verify", "L2", "-o", f"{folder}-wide/"]):
        subprocess.run([PROGRAM, *arguments, "--quiet"], check=True, stdout=subprocess.DEVNULL)


# ---- Places and states ----

def middle(page, selector, at=0):
    """Where the middle of an element is in the window, once it is in view."""
    return page.evaluate(f"""(() => {{
        const element = document.querySelectorAll({selector!r})[{at}];
        element.scrollIntoView({{block: 'center', inline: 'center'}});
        const box = element.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    }})()""")


TIP = """(() => {
    const tip = document.getElementById('tip'), box = tip.getBoundingClientRect();
    return tip.hidden ? null : {text: tip.textContent, inside: box.x >= 0 && box.y >= 0 &&
        box.right <= document.documentElement.clientWidth && box.width > 0};
})()"""


def said(page):
    """The tooltip's text; None: it is not seen; an error if it leaves the window."""
    tip = page.evaluate(TIP)
    return None if tip is None else tip["text"] if tip["inside"] else "outside: " + tip["text"]


def title(page, selector, at=0):
    """What the mark says without a script."""
    return page.evaluate(f"document.querySelectorAll({selector!r})[{at}].querySelector('title').textContent")


def beside(page, x, y):
    """Whether the tooltip stands above or below a place, and no further than 40 pixels from it."""
    left, right, top, bottom = page.evaluate("(({left, right, top, bottom}) => [left, right, top, bottom])"
                                             "(document.getElementById('tip').getBoundingClientRect())")
    return left <= x <= right and min(abs(top - y), abs(bottom - y)) < 40


def away(page):
    return page.evaluate("""(() => {
        const box = document.querySelector('main h2').getBoundingClientRect();
        scrollBy(0, box.y - 100);
        const now = document.querySelector('main h2').getBoundingClientRect();
        return [now.x + 2, now.y + 2];
    })()""")


# ---- Pointer, finger, keyboard ----

def check_pointer(chromium, path):
    page = chromium.open(path, width=DESK)
    first, later = title(page, HITS, 0), title(page, HITS, 5)
    tap.ok("no tooltip before anything is pointed at", said(page) is None)
    x, y = middle(page, HITS, 0)
    page.move(x, y)
    tap.ok("a point's values at once", said(page) == first, (said(page), first))
    tap.ok("they stand beside it", beside(page, x, y))
    tap.ok("and no second tooltip of the browser's", page.evaluate(
        f"document.querySelector({HITS!r}).querySelector('title')") is None)
    page.move(x + 8, y)  # the last point of its line: every other one is further away
    tap.ok("they stay beside it", said(page) == first, said(page))
    x, y = middle(page, HITS, 5)
    page.move(x, y)
    tap.ok("of another point", said(page) == later, (said(page), later))
    page.move(*away(page))
    tap.ok("gone beside the figure", said(page) is None, said(page))
    page.close()


def check_finger(chromium, path):
    page = chromium.open(path, width=PHONE)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    first = title(page, HITS, 0)
    x, y = middle(page, HITS, 0)
    page.tap(x - 18, y)  # no finger meets a point; this one is the first from the left
    tap.ok("a tap beside a point shows it", said(page) == first, (said(page), first))
    page.evaluate(f"document.querySelector({HITS!r}).closest('.plot').scrollLeft -= 30")
    page.settle()
    tap.ok("they move with the figure in its box", beside(page, *page.evaluate(
        f"(box => [box.x + box.width / 2, box.y])(document.querySelector({HITS!r}).getBoundingClientRect())")))
    page.tap(*away(page))
    tap.ok("a tap elsewhere hides it", said(page) is None, said(page))
    tap.ok("the page did not grow", page.evaluate("document.documentElement.scrollWidth") <= PHONE)
    page.close()


def check_keyboard(chromium, path):
    page = chromium.open(path, width=DESK)
    titles = [title(page, HITS, at) for at in range(2)]
    page.evaluate(f"document.querySelector({HITS!r}).closest('svg').focus()")
    begin = said(page)
    page.key("ArrowRight")
    first = said(page)
    tap.ok("the first arrow shows a value", begin is None and first is not None, first)
    page.evaluate(f"document.querySelector({HITS!r}).dispatchEvent(new MouseEvent('click', "
                  "{bubbles: true, ...(({x, y, width, height}) => ({clientX: x + width / 2, "
                  f"clientY: y + height / 2}}))(document.querySelector({HITS!r}).getBoundingClientRect())}}))")
    tap.ok("a click pins a point", said(page) == titles[0], said(page))
    page.key("ArrowRight")
    tap.ok("an arrow goes on to the next", said(page) == titles[1], (said(page), titles[1]))
    page.key("Home")
    tap.ok("Home goes back to the first", said(page) == titles[0], said(page))
    page.key("ArrowUp")
    tap.ok("an arrow across goes to another series", said(page) not in (None, *titles), said(page))
    page.key("Escape")
    tap.ok("Escape hides it", said(page) is None, said(page))
    page.close()


VISIBLE = """Array.from(document.querySelectorAll('%s [data-series]:not(.entry)'), mark =>
    [mark.dataset.series, getComputedStyle(mark).visibility === 'visible'])"""


def check_legend(chromium, path):
    page = chromium.open(path, width=DESK)
    figure = page.evaluate("'#' + Array.from(document.querySelectorAll('figure:not(.multiples)')).find(figure => "
                           "figure.querySelectorAll('.line[data-series]').length > 1).id")
    entry = f"{figure} .entry"
    series = page.evaluate(f"document.querySelector({entry!r}).dataset.series")
    whole = page.evaluate(VISIBLE % figure)
    tap.ok("every series is seen", all(shown for _, shown in whole) and len(whole) > 1)
    page.click(*middle(page, entry))
    tap.ok("a click on its entry hides a series, and no other", page.evaluate(VISIBLE % figure) == [
        [name, name != series] for name, _ in whole], page.evaluate(VISIBLE % figure))
    tap.ok("the entry says so", page.evaluate(f"document.querySelector({entry!r}).ariaPressed") == "false")
    check_files(chromium, page, figure, series)
    page.evaluate(f"document.querySelector({entry!r}).focus()")
    page.key("Enter")
    tap.ok("Enter shows it again", page.evaluate(VISIBLE % figure) == whole)
    page.key("ArrowRight")
    tap.ok("an arrow leads to the next entry", page.evaluate(
        f"Array.from(document.querySelectorAll({entry!r})).indexOf(document.activeElement)") == 1)
    page.close()


#: [width, height] of a drawing at its full size, and what its title takes above it in a file.
SIZE = "(svg => [+svg.getAttribute('width'), +svg.getAttribute('height')])(document.querySelector('%s'))"
HEADING = 24


def check_files(chromium, page, figure, hidden):
    """An SVG that stands alone and a PNG, of a figure with one series hidden."""
    shown = page.evaluate(f"document.querySelectorAll('{figure} .mark').length")
    gone = page.evaluate("document.querySelectorAll('{0}.mark, {0} .mark').length".format(
        f"{figure} [data-series=\"{hidden}\"]"))
    name, data = page.download(f"document.querySelector('{figure} [data-save=svg]').click()")
    tap.ok("the SVG has the figure's name", name == figure[1:] + ".svg", name)
    tree = xml.etree.ElementTree.fromstring(data)
    marks = [one for one in tree.iter() if "mark" in one.get("class", "").split()]
    tap.ok("the SVG has what is seen", len(marks) == shown - gone > 0 < gone, (len(marks), shown, gone))
    tap.ok("the SVG needs no style sheet", b"var(" not in data and b" style=" not in data
           and any(one.get("stroke", "").startswith("rgb(") for one in tree.iter()), data[:600])
    path = os.path.join(chromium.folder, name)
    with open(path, "wb") as file:
        file.write(data)
    alone = chromium.open(path)
    colours = png.statistics(alone.screenshot("svg"))[1]
    tap.ok("the SVG is drawn in colours by itself", colours >= 16 and alone.problems() == [], colours)
    alone.close()
    box = page.evaluate(SIZE % f"{figure} svg")
    name, data = page.download(f"document.querySelector('{figure} [data-save=png]').click()")
    size = [int.from_bytes(data[at:at + 4], "big") for at in (16, 20)]
    tap.ok("the PNG is twice as large", name == figure[1:] + ".png" and data.startswith(b"\x89PNG")
           and all(abs(got - 2 * want) < 1 for got, want in zip(size, (box[0], box[1] + HEADING))), (name, size, box))
    common, colours, brightness = png.statistics(data)
    tap.ok("the PNG is drawn on the page's colour", colours >= 16 and common < 0.998 and brightness > 200,
           (common, colours, brightness))
    tap.ok("saving is no problem", page.problems() == [], page.problems())


def check_multiples(chromium, path):
    """Two drawings of one figure are saved as one picture, as they stand."""
    page = chromium.open(path, width=DESK)
    figure, height = page.evaluate("""(() => {
        const [one, other] = document.querySelectorAll('figure');
        one.querySelector('.plot').append(other.querySelector('svg'));
        return ['#' + one.id, one.querySelector('svg').getBoundingClientRect().height];
    })()""")
    _, data = page.download(f"document.querySelector('{figure} [data-save=svg]').click()")
    drawings = [one for one in xml.etree.ElementTree.fromstring(data) if one.tag.endswith("svg")]
    places = [float(one.get("y")) for one in drawings]
    tap.ok("small multiples are saved as one picture", len(places) == 2 and abs(places[0] - HEADING) < 1
           and abs(places[1] - HEADING - height) < 1 and all(len(one) > 3 for one in drawings), (places, height))
    page.close()


#: Two figures, of different tables, that show the same heads.
HEADS = "#contraction-1", "#rotary-2"


def check_heads(chromium, path):
    """A head that is pointed at in one figure is marked in the other."""
    page = chromium.open(heads_page(path), width=DESK)
    one, other = HEADS
    opacity = (f"Array.from(document.querySelectorAll('{other} .line'), "
               "line => +getComputedStyle(line).opacity)")
    before = page.evaluate(opacity)
    page.move(*middle(page, f"{one} .line .hits circle"))
    lit = page.evaluate(opacity)
    tap.ok("a head is marked in another figure", set(before) == {1} and lit[0] == 1
           and all(0 < value < 0.5 for value in lit[1:]) and len(lit) > 1, lit)
    page.move(*away(page))
    tap.ok("and no longer than it is pointed at", page.evaluate(opacity) == before)
    page.click(*middle(page, f"{one} .line .hits circle"))
    page.move(*away(page))
    tap.ok("a click keeps it", page.evaluate(opacity) == lit)
    page.click(*away(page))
    tap.ok("a click elsewhere ends it", page.evaluate(opacity) == before)
    page.close()


#: [head, lag] whose numbers a file lacks: at the ends, side by side, and alone.
HOLES = {(0, 0), (0, 3), (0, 4), (1, 9), (1, 7)}
STEPS = 10


def put(folder, command, table, rows):
    """A result of one table."""
    kinds = {name: "text" if isinstance(cell, str) else "integer" if isinstance(cell, int) else "real"
             for name, cell in rows[0].items()}
    results.save_json(os.path.join(folder, "manifest.json"), {
        "format": "szego-results-1", "command": command, "provenance": {}, "tables": [{
            "name": table, "file": f"{table}.csv", "rows": len(rows),
            "columns": [{"name": name, "type": kind, "doc": ""} for name, kind in kinds.items()]}]})
    with open(os.path.join(folder, f"{table}.csv"), "w", encoding="utf-8") as file:
        file.writelines(",".join(map(str, row)) + "\n" for row in [kinds, *(row.values() for row in rows)])


def heads_page(path):
    """A page of two heads: ratios by step, and energies by frequency, some of whose numbers are NaN."""
    folder = os.path.join(os.path.dirname(path), "results-heads")
    points = [(head, at) for at in range(STEPS) for head in range(2)]
    put(f"{folder}/train", "train", "contraction", [
        {"run": "r", "encoding": "rope", "task": "copy", "source": "s", "content_kind": "same_qk", "step": at, "layer": 0,
         "head": head, "width_ratio": height(head, at), "norm_ratio": 1.5, "nuclear_ratio": 0.5} for head, at in points])
    put(f"{folder}/model", "checkpoint", "frequencies", [
        {"source": "m", "layer": 0, "head": head, "pair": at, "theta": 1.0 + at,
         "energy": math.nan if (head, at) in HOLES else height(head, at)} for head, at in points])
    return results.report(PROGRAM, folder, os.path.join(folder, "report.html"))


def height(head, at):
    """Neighbours lie far apart."""
    return 1 + head + at * at / 64


#: Of the figure's hit places: [head, left, top, whether ink of that head has a mark there].
PLACES = """(figure => Array.from(figure.querySelectorAll('.hits circle'), hit => {
    const middle = element => (box => [box.x + box.width / 2, box.y + box.height / 2])(element.getBoundingClientRect());
    const head = hit.closest('[data-head]').dataset.head, [x, y] = middle(hit);
    const ink = Array.from(figure.querySelectorAll(`.ink[data-head="${head}"] use`), middle);
    return [head, x, y, ink.some(([left, top]) => Math.hypot(left - x, top - y) < 1)];
}))(document.querySelector('#rotary-2'))"""


def check_holes(chromium, path):
    """NaN between the rows moves no value to another mark, and each mark answers where it is drawn."""
    page = chromium.open(heads_page(path), width=DESK)
    page.evaluate("document.querySelector('#rotary-2').scrollIntoView({block: 'center'})")
    page.settle()
    told, places = [], page.evaluate(PLACES)
    for _, x, y, _ in places:
        page.move(x, y)
        told.append(said(page))
    tap.ok("where rows are NaN, each mark says its own row", told == [
        f"head {head}\nangle (radians a position): {at + 1}\nenergy: {height(head, at):.6g}" for head in range(2)
        for at in range(STEPS) if (head, at) not in HOLES], told)
    tap.ok("and its head's ink lies there", places and all(inked for _, _, _, inked in places), places)
    page.close()


# ---- Layout and links ----

WIDE = """Array.from(document.querySelectorAll('body *'), element => [element, element.getBoundingClientRect()])
    .filter(([element, box]) => (box.right > %d || box.left < 0) && box.width > 0 &&
        !element.parentElement.closest('.plot, .scroll, math'))
    .map(([element]) => element.outerHTML.slice(0, 80))"""


def too_wide(page, width):
    """What reaches beyond the window, boxes that are moved within themselves left out."""
    wrong = page.evaluate(WIDE % (width + 1))
    if page.evaluate("document.documentElement.scrollWidth") > width:
        wrong.append("the page itself")
    return wrong


LINKS = """(() => {
    const targets = Array.from(document.querySelectorAll('nav a'), link => link.hash.slice(1));
    const wanted = Array.from(document.querySelectorAll('main > section, main figure'), element => element.id);
    return [targets.filter(id => !document.getElementById(id)), wanted.filter(id => !targets.includes(id))];
})()"""


#: Of the figures in a grid, [those that are wide, their count] and the same of the others: ids where one does not take
#: the whole row, or half of it, or where its drawing is cut.
ROWS = """(() => {
    const width = element => element.getBoundingClientRect().width;
    const figures = Array.from(document.querySelectorAll('.grid > figure')).filter(figure => figure.checkVisibility());
    const cut = figure => { const plot = figure.querySelector('.plot'); return plot.scrollWidth > plot.clientWidth + 1; };
    return [[true, 0.9, 1], [false, 0.4, 0.5]].map(([wide, least, most]) => {
        const some = figures.filter(figure => figure.classList.contains('wide') === wide);
        return [some.filter(figure => {
            const share = width(figure) / width(figure.parentElement);
            return share < least || share > most || cut(figure);
        }).map(figure => figure.id), some.length];
    });
})()"""


def check_layout(chromium, path):
    for width in (PHONE, 700, DESK):
        page = chromium.open(path, width=width)
        tap.ok(f"nothing is wider than a window of {width}", too_wide(page, width) == [], too_wide(page, width))
        tap.ok(f"nothing moves while the page loads at {width}", page.evaluate(
            "new Promise(done => new PerformanceObserver(list => done(list.getEntries().length))"
            ".observe({type: 'layout-shift', buffered: true}) || setTimeout(() => done(0), 200))") == 0)
        page.close()
    page = chromium.open(path, width=DESK)
    tap.ok("the navigation has every section and figure, and no other", page.evaluate(LINKS) == [[], []],
           page.evaluate(LINKS))
    narrow = page.evaluate(ROWS)[1]
    tap.ok("figures of one or two panels stand two in a row", narrow[1] > 0 and narrow[0] == [], narrow)
    page.evaluate("document.getElementById('curves').scrollIntoView()")
    page.settle()
    tap.ok("the navigation stays in view", 0 <= page.evaluate(
        "document.querySelector('nav').getBoundingClientRect().top") < 50)
    tap.ok("and marks the section that is read", page.evaluate(
        "Array.from(document.querySelectorAll('nav [aria-current=true]'), link => link.hash)") == ["#curves"])
    page.close()
    page = chromium.open(path, width=PHONE)
    tap.ok("a narrow window has a short list at the top", page.evaluate(
        "document.querySelector('nav').getBoundingClientRect().height") < 260)
    page.close()


#: The least size of a figure's letters, in pixels.
LETTERS = """Math.min(...Array.from(document.querySelectorAll('svg.figure text'))
    .filter(text => text.checkVisibility())
    .map(text => parseFloat(getComputedStyle(text).fontSize) * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b)))"""


def check_wide(chromium, path):
    folder = os.path.join(os.path.dirname(path), "results-wide")
    page = chromium.open(results.report(PROGRAM, folder, os.path.join(folder, "report.html")), width=DESK)
    page.evaluate("document.querySelectorAll('details.claim').forEach(row => { row.open = true; })")
    wide = page.evaluate(ROWS)[0]
    tap.ok("a figure of more panels has a row of its own", wide[1] > 0 and wide[0] == [], wide)
    page.close()
    for width in (PHONE, DESK):
        page = chromium.open(os.path.join(folder, "report.html"), width=width)
        page.evaluate("document.querySelectorAll('details.claim').forEach(row => { row.open = true; })")
        size = page.evaluate(LETTERS)
        tap.ok(f"its letters have 11 pixels in a window of {width}", 11 <= size < 20, size)
        page.close()


#: The first figure that goes on to the right of its box gets the id "cut".
CUT_BOX = """(() => {
    const box = Array.from(document.querySelectorAll('.plot')).find(one => one.scrollWidth > one.clientWidth + 40);
    if (box) box.id = 'cut';
    return Boolean(box);
})()"""


def shaded(page):
    """Whether the left and the right edge of that box are darker than its page, in its last row of pixels."""
    width, _, channels, rows = png.pixels(page.screenshot("#cut"))
    row = rows[-2]
    levels = [sum(row[x * channels:x * channels + 3]) for x in (2, width // 2, width - 3)]
    return levels[0] < levels[1] - 60, levels[2] < levels[1] - 60


def check_shade(chromium, path):
    page = chromium.open(path, width=PHONE)
    if not page.evaluate(CUT_BOX):
        tap.ok("a figure is wider than the window", False)
        return
    found = []
    for place in (0, 10000):
        page.evaluate(f"document.getElementById('cut').scrollLeft = {place}")
        page.settle()
        found.append(shaded(page))
    tap.ok("a shadow tells on which side a figure goes on", found == [(False, True), (True, False)], found)
    page.close()


def check_links(chromium, path):
    page = chromium.open("file://" + path + "#data-train_metrics", width=DESK)
    page.settle()
    tap.ok("a link into what is folded unfolds it", page.evaluate(
        "(target => target.open && target.getBoundingClientRect().top >= 0 &&"
        "target.getBoundingClientRect().top < innerHeight)(document.getElementById('data-train_metrics'))"))
    last = page.evaluate("document.querySelector('section#curves figure:last-of-type').id")
    page.evaluate(f"location.hash = '#{last}'")
    page.settle()
    tap.ok("a link to a figure leads to it", 0 <= page.evaluate(
        f"document.getElementById('{last}').getBoundingClientRect().top") < 100)
    page.close()


MAIN = "document.querySelector('main').getBoundingClientRect().height"
UNSEEN = """Array.from(document.querySelectorAll('.mark, figcaption, .plot')).filter(element =>
    !element.checkVisibility({visibilityProperty: true, opacityProperty: true})).length"""


def check_without_script(chromium, path):
    page = chromium.open(path, width=DESK)
    height = page.evaluate(MAIN)
    dark = "[document.getElementById('theme').textContent, document.documentElement.dataset.theme || '']"
    seen = [page.evaluate(dark)]
    for _ in range(2):
        page.evaluate("document.getElementById('theme').click()")
        seen.append(page.evaluate(dark))
    tap.ok("the button says which colours it switches to", seen == [
        ["Switch to dark", ""], ["Switch to light", "dark"], ["Switch to dark", "light"]], str(seen))
    page.close()
    page = browser.Page(chromium, False, DESK, 900)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.load(path)
    tap.ok("without a script everything is shown", page.evaluate(UNSEEN) == 0)
    tap.ok("but what needs one", page.evaluate(
        "Array.from(document.querySelectorAll('.save, #theme')).every(element =>"
        "!element.checkVisibility({visibilityProperty: true}))"))
    tap.ok("and all at the same place", abs(page.evaluate(MAIN) - height) < 1, (page.evaluate(MAIN), height))
    page.close()


#: Boxes that would have to be moved within themselves.
CUT = """Array.from(document.querySelectorAll('.plot, .scroll')).filter(box => box.scrollWidth > box.clientWidth + 1)
    .map(box => box.scrollWidth + ' in ' + box.clientWidth + ': ' + box.textContent.slice(0, 60))"""


def check_paper(chromium, path):
    page = chromium.open(path, width=PAPER)
    page.evaluate("window.seen = null; addEventListener('beforeprint', () => {"
                  "seen = document.querySelectorAll('#provenance details[open]').length })")
    page.pdf()
    count = page.evaluate("document.querySelectorAll('#provenance details').length")
    tap.ok("what was run is unfolded for paper", page.evaluate("seen") == count > 0)
    tap.ok("and folded again", page.evaluate("document.querySelectorAll('#provenance details[open]').length") == 0)
    page.call("Emulation.setEmulatedMedia", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    cut = page.evaluate(CUT)
    tap.ok("paper cuts nothing", too_wide(page, PAPER) + cut == [], too_wide(page, PAPER) + cut)
    tap.ok("paper has no navigation and no buttons", page.evaluate(
        "Array.from(document.querySelectorAll('nav, button, #tip')).every(element => !element.checkVisibility())"))
    tap.ok("no figure is divided between pages", page.evaluate(
        "Array.from(document.querySelectorAll('figure')).every(figure =>"
        "getComputedStyle(figure).breakInside === 'avoid')"))
    page.close()


with scratch() as place, browser.Browser() as one:
    report = os.path.join(place, "report.html")
    make(os.path.join(place, "results"))
    results.report(PROGRAM, os.path.join(place, "results"), report)
    for check in (check_pointer, check_finger, check_keyboard, check_legend, check_multiples, check_heads, check_holes,
                  check_layout, check_wide, check_shade, check_links, check_without_script, check_paper):
        check(one, report)
tap.finish()
