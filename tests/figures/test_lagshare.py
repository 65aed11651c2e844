#!/usr/bin/python3
"""The lag's share of captured logits: maps, panels and sentences against the rows, computed a second way."""
from support import blocks, draw, drawing, np, tables, tap

from szego.figures import lagmap, lagshare

BASE = {"result": "run", "source": "dumps/tiny.safetensors", "step": None}


def head(layer, number, share, null=0.05, p=0.005, peak=1, draws=199, note=None, **more):
    """A row of `lag_shares`; without a null where null is None."""
    none = null is None
    verdict = None if none else "yes" if p <= 0.05 else "no"
    return {**BASE, "layer": layer, "head": number, "sequences": 1, "n": 64, "mask": "causal", "draws": 0 if none else draws,
            "lag_share": share, "lag_null": null, "lag_p": None if none else p, "lag_peak": peak, "beyond_chance": verdict,
            "note": "no null: the logits above the diagonal were not captured" if none and not note else note, **more}


def kernel(layer, number, value, lags=range(1, 30), low=-0.5, high=0.5, **more):
    return [{**BASE, "layer": layer, "head": number, "lag": lag, "entries": 64 - lag, "mean": value(lag), "error": 0.1 + lag / 100,
             "low": low, "high": high, "note": None, **more} for lag in lags]


def composed(heads, kernels=()):
    named = {"logits_lag_shares": heads, **({"logits_lags": list(kernels)} if kernels else {})}
    found = blocks(lagshare.SECTION, tables(**named))
    return found, {one.id: one for one in found if isinstance(one, drawing.Drawing)}


def sentences(found):
    return [one.text for one in found if isinstance(one, drawing.Finding)]


def paragraphs(found):
    return [one.text for one in found if isinstance(one, drawing.Paragraph)][1:]


def eight():
    """Three of eight heads are beyond chance; head 1 by far."""
    shares = [0.03, 0.46, 0.2, 0.01, 0.02, 0.02, 0.1, 0.04]
    return [head(0, i, share, p=0.005 if i in (1, 2, 6) else 0.3 + i / 20) for i, share in enumerate(shares)]


# ---- The map and the table ----

def shares_within_chance_are_grey():
    found, drawn = composed(eight())
    cells = drawn["lag-shares"].cells
    tap.ok("cells are the shares", np.allclose(cells.value, [[0.03, 0.46, 0.2, 0.01, 0.02, 0.02, 0.1, 0.04]]))
    tap.ok("grey where p is above 0.05", cells.grey.tolist() == [[i not in (1, 2, 6) for i in range(8)]])
    tap.ok("the caption counts them", drawn["lag-shares"].caption == (
        "The largest share is 0.46, of layer 0 head 1; 5 of 8 heads are within chance, and grey."), drawn["lag-shares"].caption)
    (grid,) = [one for one in found if isinstance(one, drawing.Grid)]
    tap.ok("the table ranks, and within chance is grey", grid.heads[:3] == ["0.1", "0.2", "0.6"] and
           grid.classes == [None] * 3 + ["within"] * 5 and [cell[0] for cell in grid.cells[0][2:5]] == ["0.46", "0.05", "0.005"],
           str(grid.cells[0]))


def numbers_that_touch_are_left_out():
    written = [len(draw.draw(composed([head(0, i, 0.00812 + i / 1e4) for i in range(count)])[1]["lag-shares"]).axes[0].texts)
               for count in (4, 16)]
    tap.ok("cells have numbers where there is room", written == [4, 0], str(written))


def what_has_no_null_says_so():
    heads = [head(0, i, 0.1 * (i + 1), null=None) for i in range(3)]
    found, drawn = composed(heads, [row for i in range(3) for row in kernel(0, i, lambda lag: 1 / lag, low=None, high=None)])
    one = drawn["lag-shares"]
    tap.ok("a share without a null is not grey", not one.cells.grey.any())
    tap.ok("and the caption says it", "3 heads have no null: of these chance is not known." in one.caption, one.caption)
    tap.ok("so does the finding, with the reason", sentences(found) == [
        "tiny.safetensors: the lag explains up to 30% of the logits' variance (layer 0 head 2); whether that is more than chance is "
        "not known (no null: the logits above the diagonal were not captured)."], str(sentences(found)))
    panels = drawn["lag-kernels"]
    tap.ok("kernels have no band", [len(panel.series) for panel in panels.panels] == [1, 1, 1] and
           "Where there is no band chance is not known." in panels.caption and "grey band" not in panels.caption, panels.caption)
    (grid,) = [of for of in found if isinstance(of, drawing.Grid)]
    tap.ok("the table says it too", grid.cells[0][3] == "not known" and grid.classes == [None] * 3)
    found, drawn = composed(eight() + heads[:1])
    tap.ok("of some it is counted", sentences(found)[0].endswith("; of 1 more head chance is not known."), sentences(found)[0])


# ---- Sentences ----

def findings_can_be_pasted():
    (text,) = sentences(composed(eight())[0])
    tap.ok("how many, and the strongest", text == (
        "tiny.safetensors: in 3 of 8 heads the lag explains more of the logits than chance (at most 5% false ones, Benjamini and "
        "Hochberg); the strongest, layer 0 head 1, 46% (by chance up to 5%), most at lag 1."), text)
    (text,) = sentences(composed([head(0, i, 0.02, p=0.2 + i / 20) for i in range(8)])[0])
    tap.ok("none", text.endswith("in 0 of 8 heads the lag explains more of the logits than chance (at most 5% false ones, Benjamini "
                                 "and Hochberg)."), text)
    many = [head(0, i, 0.02, p=0.5) for i in range(19)]
    (text,) = sentences(composed([head(0, 19, 0.4, beyond_chance="alone"), *many])[0])
    tap.ok("too few relabellings for all heads together are said", "in 1 of 20 heads" in text and (
        "each at 5%, 1 would by chance alone; 199 relabellings are too few for all heads together" in text) and
        "layer 0 head 19, 40%" in text, text)
    (text,) = sentences(composed([head(0, 19, 0.4, beyond_chance="no"), *many, head(0, 20, 0.3, p=0.5, beyond_chance="yes")])[0])
    tap.ok("the table decides", "in 1 of 21 heads" in text and "Hochberg" in text and "layer 0 head 20, 30%" in text, text)
    (text,) = sentences(composed([head(None, 3, 0.4)])[0])
    tap.ok("a head without a layer has a name", "the strongest, head 3, 40%" in text, text)


# ---- Panels ----

def panels_show_rows_errors_and_bands():
    rows = [row for i in (0, 1, 2, 6) for row in kernel(0, i, lambda lag, i=i: 3.0 + i / lag)]
    one = composed(eight(), rows)[1]["lag-kernels"]
    tap.ok("a panel for each head beyond chance, by share", [panel.name for panel in one.panels] == [
        "layer 0 head 1: 0.46", "layer 0 head 2: 0.2", "layer 0 head 6: 0.1"], str([panel.name for panel in one.panels]))
    band, line = one.panels[1].series
    lags = np.arange(1, 30)
    tap.ok("the line is the rows", line.x.tolist() == lags.tolist() and np.allclose(line.y, 3 + 2 / lags))
    tap.ok("its area is two errors to either side", np.allclose(line.hi - line.y, 0.2 + lags / 50) and np.allclose(
        line.y - line.lo, 0.2 + lags / 50) and line.area)
    tap.ok("the band is the null's", band.is_band and band.colour == "muted" and set(band.lo) == {-0.5} and set(band.hi) == {0.5})
    many = [head(0, i, 0.9 - i / 50) for i in range(14)]
    one = composed(many, [row for i in range(14) for row in kernel(0, i, float, range(1, 4))])[1]["lag-kernels"]
    tap.ok("ten panels at most", len(one.panels) == lagmap.PANELS == 10 and one.panels[9].name == "layer 0 head 9: 0.72")
    none = [head(0, i, 0.02, p=0.4) for i in range(3)]
    found, drawn = composed(none, kernel(0, 0, float))
    tap.ok("none beyond chance: no panel, which is said", "lag-kernels" not in drawn and paragraphs(found) == [
        "No kernel is drawn: no head's share is beyond chance."], str(paragraphs(found)))


def both_signs():
    lags = [*range(-20, 0), *range(1, 21)]
    one = composed([head(0, 0, 0.5, peak=-3, mask="none")], kernel(0, 0, float, lags))[1]["lag-kernels"]
    tap.ok("lags of both signs", one.x.kind == "symlog" and one.panels[0].series[1].x.tolist() == lags)


# ---- Steps, dumps, notes ----

def the_last_step_is_drawn():
    made = [head(layer, i, 0.1 * (i + 1) + step / 100, step=step) for step in (0, 5, 10) for layer in range(2) for i in range(3)]
    found, drawn = composed(made, [row for step in (0, 10) for row in kernel(0, 1, lambda lag, step=step: step + lag, step=step)])
    tap.ok("the map is of the last step", np.allclose(drawn["lag-shares"].cells.value, [[0.2, 0.3, 0.4]] * 2))
    tap.ok("so are the kernels", drawn["lag-kernels"].panels[0].series[1].y.tolist() == [10.0 + lag for lag in range(1, 30)])
    tap.ok("and the finding", sentences(found)[0].startswith("tiny.safetensors, step 10: in 6 of 6 heads"), sentences(found)[0])
    lines = drawn["lag-steps"].panels[1].series[2]
    tap.ok("all steps are lines", lines.x.tolist() == [0, 5, 10] and np.allclose(lines.y, [0.3, 0.35, 0.4]))


def notes_and_dumps():
    none = head(1, 0, None, null=None, peak=None, note="no share: the logits are all equal")
    found, _ = composed([*eight(), none])
    tap.ok("a head without a share says why", paragraphs(found) == ["1 head has a note (layer 1). The note of the "
           "first: no share: the logits are all equal."],
           str(paragraphs(found)))
    found, drawn = composed([none])
    tap.ok("no shares at all: no figure and no finding", not drawn and not sentences(found) and len(paragraphs(found)) == 1)
    found, _ = composed([{**head(0, 0, 0.5), "source": f"d{i}.npy"} for i in range(6)])
    tap.ok("further dumps are named", paragraphs(found)[-1] == "Not drawn: d4.npy; d5.npy.", str(paragraphs(found)))
    tap.ok("sentences name their dump", [text.split(":")[0] for text in sentences(found)] == ["d0.npy", "d1.npy", "d2.npy", "d3.npy"])
    tap.ok("no table, no section", not lagshare.SECTION.present(tables()))


shares_within_chance_are_grey()
numbers_that_touch_are_left_out()
what_has_no_null_says_so()
findings_can_be_pasted()
panels_show_rows_errors_and_bands()
both_signs()
the_last_step_is_drawn()
notes_and_dumps()
tap.finish()
