#!/usr/bin/python3
"""Positional heads: maps, panels, tables and sentences against the rows, computed a second way."""
from support import blocks, draw, drawing, np, tables, tap

from szego.figures import lagmap, positional

SOURCE = "models/tiny-model/model.safetensors"
BASE = {"result": "run", "source": SOURCE}


def head(layer, number, share=None, null=0.05, p=0.001, kind="mean", peak=1, shape="peaked", **more):
    other = "self" if kind == "mean" else "mean"
    standing = share is not None and share >= 0.1 and (p is None or p <= 0.05)
    facts = {"share": share, "null": null, "p": p, "noise": 2.0, "shape": shape, "peak": peak, "wavelength": None}
    return {**BASE, "layer": layer, "head": number, "key_head": number, "mean_tokens": "vocabulary", "lag_min": 0,
            "note": None, "stands_out": kind if standing else None, **{f"{other}_{name}": None for name in facts},
            **{f"{kind}_{name}": None if share is None else cell for name, cell in facts.items()}, **more}


def kernel(layer, number, value, lags=range(0, 40), band=0.5, kind="mean"):
    """Rows of a kernel; value: lag -> logit. The band is about the mean over the lags."""
    values = {lag: value(lag) for lag in lags}
    mean = weighted_mean(values)
    other = "self" if kind == "mean" else "mean"
    return [{**BASE, "layer": layer, "head": number, "key_head": number, "lag": lag, kind: logit, f"{kind}_low": mean - band,
             f"{kind}_high": mean + band, other: None, f"{other}_low": None, f"{other}_high": None}
            for lag, logit in values.items()]


def weighted_mean(values):
    """Of theory.md, where every lag is listed."""
    weights = {lag: 1 / (1 + abs(lag)) for lag in values}
    return sum(weights[lag] * values[lag] for lag in values) / sum(weights.values())


def layer_row(layer, kind="mean", largest=0, part=0.5, null=0.4, p=0.01):
    return {**BASE, "layer": layer, "kernel": kind, "heads": 3, "stand_out": 1, "sum": 1.0, "largest": largest, "part": part,
            "part_null": null, "part_p": p, "effective_heads": 2.0}


def composed(heads, kernels=(), layers=()):
    named = {"checkpoint_heads": heads}
    if kernels:
        named["checkpoint_kernel"] = kernels
    if layers:
        named["checkpoint_layers"] = list(layers)
    found = blocks(positional.SECTION, tables(**named))
    return found, {one.id: one for one in found if isinstance(one, drawing.Drawing)}


def sentences(found):
    return [one.text for one in found if isinstance(one, drawing.Finding)]


def three():
    """Head 1 peaks at lag 1, head 0 falls slowly, head 2 is within chance."""
    heads = [head(0, 0, 0.2), head(0, 1, 0.9), head(0, 2, 0.01, p=0.6, shape="flat")]
    kernels = kernel(0, 0, lambda lag: 3.0 / (1 + lag)) + kernel(0, 1, lambda lag: 8.0 * (lag == 1)) + kernel(
        0, 2, lambda lag: 0.1 * (lag % 2))
    return heads, kernels


# ---- The map ----

def cells_are_means_of_rows():
    heads, kernels = three()
    one = composed(heads, kernels)[1]["positional-mean-map"]
    cells = one.cells
    tap.ok("rows are ordered by share", one.y.names == ["0.1", "0.0", "0.2"], str(one.y.names))
    tap.ok("a lag has a column of its own, later ones share it",
           cells.column_keys.tolist() == [*range(16), *range(16, 32, 2), *range(32, 40, 4)], str(cells.column_keys))
    for row, number in enumerate((1, 0, 2)):
        values = {r["lag"]: r["mean"] for r in kernels if r["head"] == number}
        mean = weighted_mean(values)
        want = [np.mean([(values[lag] - mean) / 2.0 for lag in range(first, after)])
                for first, after in zip(cells.column_keys, [*cells.column_keys[1:], 40])]
        tap.ok(f"head {number}: cells are the means of the rows", np.allclose(cells.value[row], want, rtol=1e-12, atol=1e-12),
               f"{cells.value[row][:4]} {want[:4]}")
        inside = [all(abs(values[lag] - mean) <= 0.5 for lag in range(first, after))
                  for first, after in zip(cells.column_keys, [*cells.column_keys[1:], 40])]
        tap.ok(f"head {number}: grey where every lag is within the band", cells.grey[row].tolist() == inside,
               str(cells.grey[row]))
    tap.ok("the head within chance is grey, the strongest is not", cells.grey[2].all() and not cells.grey[0][1])
    tap.ok("two hues of one reach meet at 0", cells.two_hues and cells.lo == -cells.hi < 0)


def grey_is_drawn():
    heads, kernels = three()
    one = composed(heads, kernels)[1]["positional-mean-map"]
    axis = draw.draw(one).axes[0]
    coloured, grey = (np.ma.getmaskarray(image.get_array()) for image in axis.images)
    tap.ok("grey cells have their own ink, and no colour of the scale", (coloured == one.cells.grey).all() and
           (grey == ~one.cells.grey).all() and axis.images[1].cmap(0.5)[:3] == tuple(
               int(draw.GREY_CELL[i:i + 2], 16) / 255 for i in (1, 3, 5)))
    said = {(row, first): text for row, first, _, text in one.cells.areas}
    tap.ok("a pointer is told the head, its share and the values at the lags", said[0, 1] ==
           "layer 0 head 1, mean kernel: share 0.9, by chance up to 0.05\nlag 1: " + lagmap.two(one.cells.value[0, 1]), said[0, 1])
    tap.ok("and what is within chance", said[2, 16].endswith(", within chance") and "\nlags 16 to 31: " in said[2, 16], said[2, 16])


def lags_of_both_signs():
    lags = range(-40, 41)
    heads = [head(0, 0, 0.5, peak=-3, lag_min=-40)]
    made = kernel(0, 0, lambda lag: 5.0 * (lag == -3) + 0.01 * lag, lags)
    found, drawn = composed(heads, made)
    one = drawn["positional-mean-map"]
    keys = one.cells.column_keys.tolist()
    tap.ok("columns of both signs mirror each other", keys == [-40, -39, -35, *range(-31, -15, 2), *range(-15, 16), *range(
        16, 32, 2), 32, 36, 40], str(keys))
    tap.ok("the peak is at its own lag", keys[int(np.nanargmax(one.cells.value[0]))] == -3)
    tap.ok("ticks are of both signs, and at their columns", {"0", "16", "\N{MINUS SIGN}16"} <= set(one.x.ticks.values()) and all(
        one.cells.column_names[at].split()[1 if int(text.replace("\N{MINUS SIGN}", "-")) >= 0 else -1] == text
        for at, text in one.x.ticks.items()), str(one.x.ticks))
    tap.ok("the caption says which keys are where", "Lags above 0 are those of earlier keys." in one.caption)
    panel = drawn["positional-mean-kernels"]
    tap.ok("the panel's axis is logarithmic on both sides", (panel.x.kind, panel.x.linear) == ("symlog", 1.0))
    tap.ok("so is the sentence", "the strongest, layer 0 head 0, peaks at lag \N{MINUS SIGN}3 (" in sentences(found)[0],
           sentences(found)[0])


def sparse_lags_stand_for_their_neighbours():
    """The mean of a kernel from a thinned list is near that of every lag."""
    dense = np.arange(0, 5000)
    thin = np.unique(np.r_[np.arange(64), np.rint(64 * 2 ** (np.arange(0, 101) / 16))]).astype(int)
    thin = np.r_[thin[thin < 5000], 4999]
    value = np.log1p
    near = lagmap.mean_over_lags(thin, value(thin)), lagmap.mean_over_lags(dense, value(dense))
    tap.ok("thinned lags have the mean of all", abs(near[0] - near[1]) < 0.002, str(near))
    tap.ok("and that of every lag is the weighted mean", abs(near[1] - weighted_mean(dict(enumerate(value(dense))))) < 1e-10)


def a_large_model_keeps_its_strongest_heads():
    heads = [head(layer, number, (7 * layer + number) / 200) for layer in range(12) for number in range(7)]
    kernels = [row for layer in range(12) for number in range(7) for row in kernel(layer, number, lambda lag: 9.0 * (lag == 2), range(4))]
    one = composed(heads, kernels)[1]["positional-mean-map"]
    tap.ok("the map has so many heads", len(one.y.names) == lagmap.HEADS == 72 and one.y.names[0] == "11.6" and
           one.y.names[-1] == "1.5", str(one.y.names[-1]))
    tap.ok("and says how many it leaves out", "Not drawn: 12 heads of smaller share." in one.caption, one.caption)


# ---- Panels, the table, shares and layers ----

def panels_show_rows_and_bands():
    heads, kernels = three()
    one = composed(heads, kernels)[1]["positional-mean-kernels"]
    tap.ok("a panel for each head beyond chance, by share", [panel.name for panel in one.panels] ==
           ["layer 0 head 1: 0.9", "layer 0 head 0: 0.2"], str([panel.name for panel in one.panels]))
    band, line = one.panels[0].series
    values = {r["lag"]: r["mean"] for r in kernels if r["head"] == 1}
    mean = weighted_mean(values)
    tap.ok("the line is the rows, less their mean, by the noise", line.x.tolist() == list(range(40)) and np.allclose(
        line.y, [(values[lag] - mean) / 2.0 for lag in range(40)]))
    tap.ok("the band is chance, without a line", band.is_band and band.colour == "muted" and np.allclose(band.lo, -0.25) and
           np.allclose(band.hi, 0.25), f"{band.lo[:2]} {band.hi[:2]}")
    tap.ok("panels have scales of their own", one.free_y and len({axis.get_ylim() for axis in draw.draw(one).axes}) == 2)


def at_most_ten_panels():
    heads = [head(0, number, 0.9 - number / 100) for number in range(14)]
    kernels = [row for number in range(14) for row in kernel(0, number, lambda lag: 9.0 * (lag == 2), range(4))]
    one = composed(heads, kernels)[1]["positional-mean-kernels"]
    tap.ok("ten panels", len(one.panels) == 10 and one.panels[9].name == "layer 0 head 9: 0.81", one.panels[-1].name)


def the_table_ranks():
    heads, kernels = three()
    found, _ = composed(heads, kernels)
    (grid,) = [one for one in found if isinstance(one, drawing.Grid)]
    tap.ok("it stands beside the map", grid.beside and found.index(grid) > 0)
    tap.ok("rows by share, with chance and shape", [[cell if isinstance(cell, str) else cell[0] for cell in row] for row in grid.cells] ==
           [["0", "1", "0.9", "0.05", "peaked", "1"], ["0", "0", "0.2", "0.05", "peaked", "1"],
            ["0", "2", "0.01", "0.05", "flat", "1"]], str(grid.cells))
    tap.ok("exact numbers are kept", grid.cells[0][2] == ("0.9", "0.9"))
    tap.ok("rows within chance are grey", list(grid.classes) == [None, None, "within"] and grid.heads == ["0.1", "0.0", "0.2"])


def shares_by_layer_and_head():
    heads = [head(layer, number, 0.1 * layer + 0.01 * number, p=0.5 if number == 2 else 0.001) for layer in range(2) for number in range(3)]
    found, drawn = composed(heads, layers=[layer_row(0, p=0.5, part=0.3), layer_row(1, largest=2, part=0.7, p=0.001)])
    one = drawn["positional-mean-shares"]
    tap.ok("cells are the shares", np.allclose(one.cells.value, [[0, 0.01, 0.02], [0.1, 0.11, 0.12]]))
    tap.ok("grey within chance", one.cells.grey.tolist() == [[False, False, True]] * 2)
    tap.ok("the caption counts them", "2 of 6 heads are within chance" in one.caption and "0.12, of layer 1 head 2" in one.caption,
           one.caption)
    parts = drawn["positional-mean-parts"]
    tap.ok("parts beside chance", [line.y.tolist() for line in parts.series()] == [[0.3, 0.7], [0.4, 0.4]] and
           [line.colour for line in parts.series()] == [0, "muted"])
    tap.ok("the caption counts layers beyond chance", parts.caption.startswith("In 1 of 2 layers") and "(layer 1)" in
           parts.caption and "about 0.1 there" in parts.caption, parts.caption)
    tap.ok("the finding names the layer that depends most on a head", sentences(found)[1] == (
        "tiny-model: layer 1 depends most on one head: head 2 has 70% of the layer's summed shares of the mean kernel, and random "
        "signs reach 40%."), sentences(found)[1])
    none = composed(heads, layers=[layer_row(0, p=0.5), layer_row(1, p=0.04)])[0]
    tap.ok("not more than chance over all layers is said", sentences(none)[1].endswith("; over 2 layers that is within chance."),
           sentences(none)[1])


# ---- Sentences ----

def findings_can_be_pasted():
    heads, kernels = three()
    found, _ = composed(heads, kernels, [layer_row(0, largest=1, part=0.81)])
    tap.ok("how many heads, and the strongest", sentences(found) == [
        "tiny-model: in 2 of 3 heads of layer 0 position alone explains a tenth or more of the logits' variance, beyond chance; "
        "the strongest, layer 0 head 1, peaks at lag 1 (share 0.9, by chance up to 0.05).",
        "tiny-model: head 1 has 81% of layer 0's summed shares of the mean kernel; random signs reach 40%."], str(sentences(found)))
    assumed = sentences(composed([{**one, "mean_tokens": "isotropic"} for one in heads])[0])[0]
    tap.ok("tokens that are assumed are told", assumed.endswith("szego logits measures your data.") and "no common direction" in assumed, assumed)


def shapes_are_told():
    for shape, want in (("decaying", "falls with the distance, largest at lag 7"), ("rising", "rises up to the last lag, 7"), ("periodic", "repeats every 12 lags"),
                        ("forward", "rises towards the latest keys"), ("backward", "rises towards the earliest keys"),
                        ("mixed", "has no simple shape and is largest at lag 7"), ("new", "is largest at lag 7")):
        text = sentences(composed([head(0, 0, 0.5, shape=shape, peak=7, mean_wavelength=12.34)])[0])[0]
        tap.ok(f"{shape}", f"layer 0 head 0, {want} (share" in text, text)


def the_two_kernels_are_apart():
    heads = [head(0, 0, 0.2), head(1, 0, 0.9, kind="self"), head(1, 1, 0.05, kind="self")]
    kernels = kernel(0, 0, lambda lag: 3.0 * (lag == 0)) + kernel(1, 0, lambda lag: 5.0 * (lag == 2), kind="self") + kernel(
        1, 1, lambda lag: 1.0 * (lag == 1), kind="self")
    found, drawn = composed(heads, kernels)
    tap.ok("each has a map of its own heads", drawn["positional-mean-map"].y.names == ["0.0"] and
           drawn["positional-self-map"].y.names == ["1.0", "1.1"])
    tap.ok("the mean kernel comes first", list(drawn)[:2] == ["positional-mean-map", "positional-mean-kernels"])
    text = sentences(found)
    tap.ok("an index is not called explained variance", len(text) == 2 and "explains" not in text[1] and
           "in 1 of 2 heads of layer 1 the logit of a token and its own copy depends on the lag" in text[1], str(text))


def the_table_decides():
    """Which heads stand out is said by the column, and not by shares and p-values."""
    heads = [head(0, 0, 0.5, stands_out=None), head(0, 1, 0.4, p=0.4, stands_out="mean"), head(0, 2, 0.05, stands_out="self"),
             head(0, 3, 0.01, p=0.9, stands_out="mean+self")]
    text = sentences(composed(heads)[0])[0]
    tap.ok("heads that stand out are those of the table", "in 2 of 4 heads" in text and "the strongest, layer 0 head 1," in text, text)


# ---- What is missing ----

def without_numbers():
    heads = [head(layer, number, note="positions are added") for layer in range(2) for number in range(3)]
    found, drawn = composed(heads)
    tap.ok("notes alone: no figure, and why", not drawn and [one.text for one in found if isinstance(one, drawing.Paragraph)][1:] == [
        "6 heads have no share (layer 0, layer 1). The note of the first: positions are added."], str([getattr(one, "text", one) for one in found]))
    tap.ok("and no finding", not sentences(found))
    empty = tables(checkpoint_heads=[])
    tap.ok("no table, no section", not positional.SECTION.present(empty) and not positional.SECTION.present(tables()))
    found, drawn = composed([head(0, 0, 0.5)])
    tap.ok("without kernels the table and the sentence stay", not drawn and len(sentences(found)) == 1 and any(
        isinstance(one, drawing.Grid) for one in found))
    _, drawn = composed([head(0, 0, 0.5, mean_noise=0.0)], kernel(0, 0, lambda lag: 1.0 * lag))
    tap.ok("a head without noise has no unit, and is not drawn", not drawn)


def one_head_and_one_lag():
    _, drawn = composed([head(0, 0, 0.5)], kernel(0, 0, lambda lag: 2.0, range(1)))
    one = drawn["positional-mean-map"]
    tap.ok("one head at one lag", one.cells.value.tolist() == [[0.0]] and one.cells.grey.tolist() == [[True]])
    rows = kernel(0, 0, lambda lag: 2.0 * (lag == 1))
    rows[3]["mean"] = float("nan")
    rows[4]["mean"] = None
    one = composed([head(0, 0, 0.5)], rows)[1]["positional-mean-map"]
    tap.ok("lags without a number are empty", np.isnan(one.cells.value[0, [3, 4]]).all() and one.cells.filled == len(
        one.cells.column_keys) - 2)


def several_models():
    heads = [{**head(0, 0, 0.5), "source": f"m{i}.gguf"} for i in range(6)]
    found, _ = composed(heads)
    text = [one.text for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("further models are named", text[-1] == "Not drawn: m4; m5.", str(text))
    tap.ok("sentences name their model", [one.split(":")[0] for one in sentences(found)] == ["m0", "m1", "m2", "m3"])


cells_are_means_of_rows()
grey_is_drawn()
lags_of_both_signs()
sparse_lags_stand_for_their_neighbours()
a_large_model_keeps_its_strongest_heads()
panels_show_rows_and_bands()
at_most_ten_panels()
the_table_ranks()
shares_by_layer_and_head()
findings_can_be_pasted()
shapes_are_told()
the_two_kernels_are_apart()
the_table_decides()
without_numbers()
one_head_and_one_lag()
several_models()
tap.finish()
