#!/usr/bin/python3
"""Sections on checkpoints: toeplitzness, rotary, circuits. Their numbers against loops over the rows."""
from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import circuits, rotary, toeplitzness

SOURCE = "a/$m<odel>.safetensors"
BASE = {"result": "run", "source": SOURCE}


def by_id(section, made):
    found = {}
    for one in drawings(section, made):
        found.setdefault(one.id, []).append(one)
    return found


def texts(section, made):
    return [one.text for one in blocks(section, made) if isinstance(one, drawing.Paragraph)]


def four(value):
    return f"{float(f'{value:.4g}'):g}"


# ---- Heads of a checkpoint ----

def summary(layers=2, heads=6, **more):
    return [{**BASE, "layer": layer, "head": head, "matrix": "position", "n": 10,
             "toeplitzness": chance.random(), "sigma_max": 10 ** chance.uniform(-2, 2), "effective_rank": 3.0,
             "stable_rank": 2.0, **more} for layer in range(layers) for head in range(heads)]


def heat_maps():
    rows = summary()
    rows[3]["toeplitzness"] = None
    found = by_id(toeplitzness.SECTION, tables(checkpoint_summary=rows))
    one = found["toeplitzness-map"][0]
    values = [row["toeplitzness"] for row in rows if row["toeplitzness"] is not None]
    least = next(row for row in rows if row["toeplitzness"] == min(values))
    text = (f"{four(min(values))} to {four(max(values))} over 11 heads (smallest in layer {least['layer']}, head "
            f"{least['head']}; largest in layer ")
    tap.ok("the caption has the extremes and their heads", one.caption.startswith(text), one.caption)
    tap.ok("and what independent entries would have", ". A matrix with independent entries has 0.19." in one.caption, one.caption)
    tap.ok("toeplitzness is no finding, as it does not see the size of logits", not one.findings and
           "does not say how large the logits are" in one.caption)
    for row, value in zip(rows, (float("nan"), float("inf"))):
        row["toeplitzness"] = value
    lost = by_id(toeplitzness.SECTION, tables(checkpoint_summary=rows))["toeplitzness-map"][0]
    tap.ok("heads that are not finite are counted, empty cells are not", " over 9 of 11 heads (" in lost.caption,
           lost.caption)
    tap.ok("an empty cell is empty", np.isnan(one.cells.value[0, 3]) and one.cells.filled == 11)
    tap.ok("largest singular values have a logarithmic scale", found["toeplitzness-largest"][0].cells.log)
    tap.ok("one finding a section", "largest singular value" in found["toeplitzness-largest"][0].findings[0] and
           not found["toeplitzness-effective"][0].findings)
    only = by_id(toeplitzness.SECTION, tables(checkpoint_summary=summary(1, 1)))
    tap.ok("one head", "in the one head" in only["toeplitzness-map"][0].caption)
    tap.ok("a text where numbers belong is told", any("no column of numbers toeplitzness" in text for text in texts(
        toeplitzness.SECTION, tables(checkpoint_summary=summary(toeplitzness="x")))))


def independent_entries():
    """The chance value is that of independent entries: a second way, by drawing them."""
    n, shares = 10, []
    generator = np.random.default_rng(1)
    for _ in range(2000):
        one = generator.standard_normal((n, n))
        means = [np.diagonal(one, k) for k in range(1 - n, n)]
        shares.append(sum(len(d) * d.mean() ** 2 for d in means) / (one**2).sum())
    tap.ok("0.19 is the mean over random matrices", abs(np.mean(shares) - 0.19) < 0.004, str(np.mean(shares)))


def spectra():
    rows = [{**BASE, "matrix": "qk", "kind": kind, "layer": layer, "head": head, "index": i,
             "re": 0.0 if i == 4 and head == 2 else (50.0 if head == 5 else 1.0 + head / 50) * 0.5**i}
            for kind in ("singular", "eigenvalue") for layer in range(27) for head in range(6) for i in range(5)]
    one = by_id(toeplitzness.SECTION, tables(checkpoint_spectra=rows))["toeplitzness-spectra"][0]
    tap.ok("zeros leave a logarithmic axis", one.y.kind == "log" and "27 values" not in one.caption and
           f"Not drawn: {len(one.panels)} values that are 0, as the axis is logarithmic; layer" in one.caption, one.caption)
    tap.ok("panels without a place are named", one.caption.endswith("; layer 24 to layer 26."), one.caption)
    tap.ok("heads that stand out are named", "heads that stand out: layer 0 head 5, layer 1 head 5," in one.caption)
    tap.ok("each is ranked from the largest", one.panels[0].series[5].y.tolist() == [50 * 0.5**i for i in range(5)])


def tensors():
    names = [f"t{i}" for i in range(14)]
    rows = [{**BASE, "matrix": name, "layer": None, "head": None, "sigma_max": 0.0 if i == 1 else 1.0 + i % 3 + 40 * (i == 7),
             "effective_rank": 2.0} for i, name in enumerate(names)]
    values = [{**BASE, "matrix": name, "layer": None, "head": None, "kind": "singular", "re": 1.0 / (k + 1)}
              for name in names for k in range(3)]
    found = by_id(toeplitzness.SECTION, tables(checkpoint_summary=rows, checkpoint_spectra=values))
    one = found["toeplitzness-values"][0]
    tap.ok("the greatest tensor is named", one.caption == "Greatest: t7 with 42. Not drawn: 1 value "
           "that is 0, as the axis is logarithmic.",
           one.caption)
    tap.ok("the finding is about the file", one.findings[0].startswith("$m<odel>.safetensors: largest singular value 0 to "
                                                                       "42 over 14 tensors"), one.findings[0])
    rows[3]["sigma_max"] = float("inf")
    lost = by_id(toeplitzness.SECTION, tables(checkpoint_summary=rows))["toeplitzness-values"][0].findings[0]
    tap.ok("a value that is not finite is counted", " over 13 of 14 tensors, " in lost, lost)
    tap.ok("every tensor's spectrum is drawn", len(found["toeplitzness-tensor-spectra"][0].series()) == 14)


# ---- Rotary energies ----

def energies():
    rows = [{**BASE, "layer": layer, "head": head, "pair": pair, "theta": 10.0**-pair,
             "energy": 6.0 if pair == 2 else 0.0 if (layer, head, pair) == (0, 0, 0) else 1.0}
            for layer in range(3) for head in range(2) for pair in range(4)]
    found = by_id(rotary.SECTION, tables(checkpoint_frequencies=rows))
    text = found["rotary-map"][0].findings[0]
    tap.ok("the share of the leading pair", "has 0.6667 to 0.7059 of it" in text and "over 4 pairs has 0.25" in text and
           "Pair 2 leads in 3 of 3 layers" in text, text)
    one = found["rotary-layers"][0]
    tap.ok("energies have logarithmic axes, also where one is 0", (one.x.kind, one.y.kind) == ("log", "log") and
           "1 value that is 0" in one.caption, one.caption)
    tap.ok("a heat map and a panel a layer", len(one.panels) == 3 and found["rotary-map"][0].cells is not None)
    tap.ok("without energies nothing is drawn, and that is told", any("rotary energies are not drawn" in text for text in
           texts(rotary.SECTION, tables(checkpoint_frequencies=[{**BASE, "layer": 0, "pair": 0, "theta": 1.0}]))))


def layers_without_a_panel_are_counted():
    rows = [{**BASE, "layer": layer, "head": 0, "pair": pair, "theta": 10.0**-pair, "energy": 2.0 if layer == 30 else 1.0}
            for layer in range(32) for pair in range(4)]
    one = by_id(rotary.SECTION, tables(checkpoint_frequencies=rows))["rotary-layers"][0]
    tap.ok("the greatest value is that of every layer", len(one.panels) == 24 and one.caption.startswith(
        "The greatest value of each series lies between 1 (layer 0, head 0) and 2 (layer 30, head 0)."), one.caption)


# ---- Circuits ----

def outside_is_counted():
    rows = [{**BASE, "layer": layer, "head": head, "circuit": circuit, "lag": lag, "stable_rank": chance.uniform(0, 3),
             "stable_rank_q025": 1.0, "stable_rank_median": 1.5, "stable_rank_q975": 2.0, "sigma_max": 1.0,
             "sigma_max_q025": None, "sigma_max_q975": 2.0, "draws": 20}
            for circuit, lags in (("qk", (-2, 0)), ("ov", (None,))) for layer in range(2) for head in range(4)
            for lag in lags]
    rows[0]["stable_rank"], rows[1]["stable_rank"], rows[2]["stable_rank"] = 1.0, 2.0, None
    rows.append({**rows[0], "head": None, "stable_rank": 9.0})
    rows.append({**rows[0], "source": "other", "stable_rank": 9.0})
    found = by_id(circuits.SECTION, tables(checkpoint_circuits=rows))
    counts = {}
    for row in rows:
        if row["head"] is not None and row["source"] == SOURCE and row["stable_rank"] is not None:
            count = counts.setdefault(row["circuit"], [0, 0])
            count[0] += not 1.0 <= row["stable_rank"] <= 2.0
            count[1] += 1
    chance_of = sum(total for _, total in counts.values()) * 2 * (0.475 + 1) / 21
    text = (f"QK {counts['qk'][0]} of {counts['qk'][1]}, OV {counts['ov'][0]} of {counts['ov'][1]}; chance alone would put "
            f"about {chance_of:.2g} there.")
    tap.ok("circuits outside their interval are counted", found["circuits-stable"][0].findings[0].endswith(text),
           f"{text!r} in {found['circuits-stable'][0].findings}")
    one = found["circuits-stable"][0]
    tap.ok("a lag is a series, of one colour in every panel", [(s.name, s.colour) for s in one.series()] ==
           [("lag −2", 0), ("lag 0", 1)] * 2, str([(s.name, s.colour) for s in one.series()]))
    tap.ok("QK and OV are figures", [of.title.split(":")[0] for of in found["circuits-stable"]][:2] ==
           ["$m<odel>.safetensors, QK", "$m<odel>.safetensors, OV"])


def chance_of_the_outside():
    """One more draw against the interval of 20: a second way, by drawing."""
    made = np.random.default_rng(2).standard_normal((20000, 21))
    lo, hi = np.quantile(made[:, :20], [0.025, 0.975], axis=1)
    share = np.mean((made[:, 20] < lo) | (made[:, 20] > hi))
    tap.ok("what chance puts outside", abs(circuits._chance(20) - share) < 0.015, f"{circuits._chance(20)} {share}")


heat_maps()
independent_entries()
spectra()
tensors()
energies()
layers_without_a_panel_are_counted()
outside_is_counted()
chance_of_the_outside()
tap.finish()
