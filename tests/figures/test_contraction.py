#!/usr/bin/python3
"""Contraction: the counts of captions and findings against counts over the rows."""
from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import contraction

STEPS, LAYERS, HEADS, PROBES = (0, 10, 20), 2, 6, 3


def rows(ratio, **more):
    return [{"result": "run", "encoding": "rope", "task": "count", "source": "rope:dim=8", "seed": 1, "step": step,
             "layer": layer, "head": head, "probe": probe, "content_kind": "same_qk",
             "width_ratio": ratio(step, layer, head, probe), "norm_ratio": 1.0, "nuclear_ratio": 0.5,
             "majorised": chance.randrange(2), "margin": -0.25, **more}
            for step in STEPS for layer in range(LAYERS) for head in range(HEADS) for probe in range(PROBES)]


def drawn_by_id(made):
    return {one.id: one for one in drawings(contraction.SECTION, made)}


def counts_are_those_of_the_rows():
    values = {}

    def ratio(step, layer, head, probe):
        return values.setdefault((step, layer, head, probe), chance.choice([0.5, 0.9, 1.0, 1.1, 3.0]))
    found = drawn_by_id(tables(train_contraction=rows(ratio)))
    last = [np.mean([values[20, layer, head, probe] for probe in range(PROBES)])
            for layer in range(LAYERS) for head in range(HEADS)]
    below = sum(value < 1 - 1e-6 for value in last)
    changed = [value for value in last if abs(value - 1) > 1e-6]
    kept = len(last) - len(changed)
    more = f"; it leaves {kept} more head{'s' * (kept > 1)} as {'they are' if kept > 1 else 'it is'}" if kept else ""
    text = (f"narrows {below} of {len(changed)} heads (width ratios {float(f'{min(changed):.4g}'):g} to "
            f"{float(f'{max(changed):.4g}'):g}{more})")
    tap.ok("heads below 1 are counted by their mean over probes", text in found["contraction-heads"].caption,
           f"{text!r} in {found['contraction-heads'].caption!r}")
    tap.ok("the finding names the seed", "seed 1" in found["contraction-heads"].findings[0],
           found["contraction-heads"].findings[0])
    tap.ok("the map shows the last step", found["contraction-map"].caption.startswith(f"At step 20 the encoding {text}."),
           found["contraction-map"].caption)
    cells = found["contraction-map"].cells.value
    tap.ok("its cells are the means over probes", np.allclose(cells.ravel(), last, rtol=1e-14))
    tap.ok("its heads have names", found["contraction-map"].cells.heads[1][2] == "1.2")
    tap.ok("the finding says the same of the last step", f"narrows the width of the Hermitian part in {text[8:]}" in
           found["contraction-heads"].findings[0], found["contraction-heads"].findings[0])
    shares = {panel.name: panel.series[0] for panel in found["contraction-majorised"].panels}
    tap.ok("a panel a layer", list(shares) == ["layer 0", "layer 1"])


def unchanged_runs_are_named():
    found = blocks(contraction.SECTION, tables(train_contraction=rows(lambda *_: 1 + 1e-9, nuclear_ratio=1.0)))
    texts = [one.text for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("a run whose ratios are all 1 is named, not drawn",
           any(text.startswith("Not drawn, because every ratio is 1 up to rounding: rope, task count") for text in texts),
           str(texts))


def a_head_stands_out():
    found = drawn_by_id(tables(train_contraction=rows(lambda step, layer, head, probe:
                                                      50.0 if (layer, head, step) == (1, 3, 20) else 0.9 + head / 100)))
    tap.ok("one far head is named", "a head that stands out: layer 1 head 3." in found["contraction-heads"].caption,
           found["contraction-heads"].caption)
    names = [one.name for one in found["contraction-heads"].panels[1].series if one.colour != "muted"]
    tap.ok("and it alone is coloured", names == ["head 3"], str(names))


def layers_without_a_panel_are_counted():
    made = [{**row, "layer": layer} for row in rows(lambda step, layer, head, probe: 0.5) if row["layer"] == 0
            for layer in range(32)]
    for row in made:
        row["width_ratio"] = 0.5 if row["layer"] < 24 else 2.0 + row["head"]
    one = drawn_by_id(tables(train_contraction=made))["contraction-heads"]
    text = f"narrows {24 * HEADS} of {32 * HEADS} heads (width ratios 0.5 to {1 + HEADS})"
    tap.ok("24 of 32 layers have a panel, and all are counted", len(one.panels) == 24 and text in one.caption and
           f"{24 * HEADS} of {32 * HEADS} heads" in one.findings[0], f"{one.caption} {one.findings}")
    tap.ok("the others are named", one.caption.endswith("Not drawn: layer 24 to layer 31."), one.caption)


def heads_that_do_not_rotate_are_apart():
    made = rows(lambda step, layer, head, probe: {0: 0.5, 1: 1.5}.get(head, 1.0))
    one = drawn_by_id(tables(train_contraction=made))["contraction-heads"]
    tap.ok("a head that the encoding leaves as it is was not to be narrowed", one.caption.startswith(
        "At step 20 the encoding narrows 2 of 4 heads (width ratios 0.5 to 1.5; it leaves 8 more heads as they are); at "
        "step 0 it narrowed 2."), one.caption)


def majorised():
    for share, text in ((0.0, "in none of the heads and probes, in any layer."),
                        (1.0, "in a share of 1 of the heads and probes, in each layer.")):
        one = drawn_by_id(tables(train_contraction=rows(lambda *_: 0.5, majorised=share)))["contraction-majorised"]
        tap.ok(f"a share of {share} is a sentence", one.caption == f"At step 20 the content majorises the logits {text}",
               one.caption)


# ---- Chance ----

ENDS = {0: (0.8, 1.2), 1: (0.9, 1.1), 2: (0.95, 1.05), 3: (1.2, 1.4), 4: (0.9, 1.1), 5: None}
RATIO = {0: 0.7, 1: 1.0 + 1e-9, 2: 1.3, 3: 1.1, 4: 0.95, 5: 0.5}


def logits_rows(steps=(None,)):
    return [{"result": "run", "source": "dump", "step": step, "layer": 0, "head": head, "probe": probe, "content_kind": "same_qk",
             "width_ratio": RATIO[head] + (probe - 1) / 100 * (head != 1), "norm_ratio": 1.0, "nuclear_ratio": 1.0}
            for step in steps for head in range(HEADS) for probe in range(PROBES)]


def bands_rows(steps=(None,), draws=39, **more):
    return [{"result": "run", "source": "dump", "step": step, "layer": 0, "head": head, "probe": probe, "draws": draws,
             "width_low": ENDS[head] and ENDS[head][0] + (probe - 1) / 50, "width_high": ENDS[head] and ENDS[head][1], "note": None,
             **more} for step in steps for head in range(HEADS) for probe in range(PROBES)]


def ratios_within_chance_are_grey():
    made = tables(logits_contraction=logits_rows(), logits_bands=bands_rows())
    one = drawn_by_id(made)["contraction-map"]
    tap.ok("a ratio within its band is grey, one outside or without a band is not",
           one.cells.grey.tolist() == [[False, True, False, False, True, False]], str(one.cells.grey))
    text = ("narrows 1 of 4 heads beyond what relabelled tokens give (width ratios 0.5 to 1.3); 1 is wider than that, 1 within; by "
            "chance alone up to about 0.2 would lie outside; 1 outside on the other side of 1; of 1 more head chance is not known; it "
            "leaves 1 more head as it is")
    tap.ok("only ratios outside are counted", text in one.caption, one.caption)
    tap.ok("the finding counts the same", one.findings == [
        f"Logits, dump, in run: the encoding narrows the width of the Hermitian part in {text[8:]}."], str(one.findings))
    tap.ok("grey is told, and what is unknown is not", "Grey: within what relabelled tokens give." in one.caption and
           "Chance is not known:" not in one.caption, one.caption)
    tap.ok("the bands are among the sources", [rows.table for rows in one.sources] == ["logits_contraction", "logits_bands"])
    few = drawn_by_id(tables(logits_contraction=logits_rows(), logits_bands=bands_rows(draws=9)))["contraction-map"]
    tap.ok("of 9 draws a fifth lies outside", "up to about 0.8 would lie outside" in few.caption, few.caption)
    many = drawn_by_id(tables(logits_contraction=logits_rows(), logits_bands=bands_rows(draws=199)))["contraction-map"]
    tap.ok("of 199 a twentieth", "up to about 0.2 would lie outside" in many.caption, many.caption)


def one_probe_without_a_band():
    made = bands_rows()
    made[0]["width_low"] = made[0]["width_high"] = None
    one = drawn_by_id(tables(logits_contraction=logits_rows(), logits_bands=made))["contraction-map"]
    tap.ok("a head of which a probe has no band is not compared", "narrows 0 of 3 heads beyond" in one.caption, one.caption)


def steps_beside_chance():
    made = tables(logits_contraction=logits_rows((0, 5)), logits_bands=bands_rows((0, 5)))
    one = drawn_by_id(made)["contraction-heads"]
    tap.ok("lines are counted beside chance at both steps", "At step 5 the encoding narrows 1 of 4 heads beyond what relabelled" in
           one.caption and "at step 0 it narrowed 1." in one.caption, one.caption)
    apart = drawn_by_id(tables(logits_contraction=logits_rows((0, 5)), logits_bands=bands_rows((0,))))
    tap.ok("a band of another step is none", all("Chance is not known:" in apart[name].caption and "of 5 heads (width" in
           apart[name].caption for name in ("contraction-heads", "contraction-map")), apart["contraction-map"].caption)


def without_bands():
    random = drawn_by_id(tables(logits_contraction=logits_rows()))["contraction-map"]
    tap.ok("without a band the caption says that chance is not known, and how to know it", (
        "narrows 3 of 5 heads" in random.caption and "Chance is not known: " in random.caption and
        "szego logits DUMP --band 39 gives" in random.caption), random.caption)
    tap.ok("nothing is grey, and nothing is found", random.cells.grey is None and not random.findings)
    found = drawn_by_id(tables(train_contraction=rows(lambda *_: 0.5)))["contraction-heads"]
    tap.ok("the finding of a training says it", found.findings[0].endswith("; chance is not known."), found.findings[0])
    zeroed = drawn_by_id(tables(train_contraction=rows(lambda *_: 0.5, content_kind="zeroed")))["contraction-map"]
    tap.ok("no remedy where there is none", "Chance is not known" in zeroed.caption and "--band" not in zeroed.caption, zeroed.caption)
    note = "no band: it needs queries and keys"
    noted = bands_rows(note=note, width_low=None, width_high=None)
    one = drawn_by_id(tables(logits_contraction=logits_rows(), logits_bands=noted))["contraction-map"]
    tap.ok("a table without bands says why", f"({note})." in one.caption and "39" not in one.caption, one.caption)


ratios_within_chance_are_grey()
one_probe_without_a_band()
steps_beside_chance()
without_bands()
layers_without_a_panel_are_counted()
heads_that_do_not_rotate_are_apart()
majorised()
counts_are_those_of_the_rows()
unchanged_runs_are_named()
a_head_stands_out()
tap.finish()
