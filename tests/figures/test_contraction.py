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


layers_without_a_panel_are_counted()
heads_that_do_not_rotate_are_apart()
majorised()
counts_are_those_of_the_rows()
unchanged_runs_are_named()
a_head_stands_out()
tap.finish()
