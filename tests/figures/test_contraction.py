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
    text = f"narrows {below} of {LAYERS * HEADS} heads ({float(f'{min(last):.4g}'):g} to {float(f'{max(last):.4g}'):g})"
    tap.ok("heads below 1 are counted by their mean over probes", text in found["contraction-heads"].caption,
           f"{text!r} in {found['contraction-heads'].caption!r}")
    tap.ok("the map shows the last step", found["contraction-map"].caption.endswith("at step 20: blue, below 1."))
    cells = found["contraction-map"].cells.value
    tap.ok("its cells are the means over probes", np.allclose(cells.ravel(), last, rtol=1e-14))
    tap.ok("its heads have names", found["contraction-map"].cells.heads[1][2] == "1.2")
    tap.ok("the finding says the same of the last step", "narrows the spectrum of" in
           found["contraction-heads"].findings[0] and f"{below} of 12" in found["contraction-heads"].findings[0])
    shares = {panel.name: panel.series[0] for panel in found["contraction-majorised"].panels}
    tap.ok("a panel a layer", list(shares) == ["layer 0", "layer 1"])


def unchanged_runs_are_named():
    found = blocks(contraction.SECTION, tables(train_contraction=rows(lambda *_: 1 + 1e-9, nuclear_ratio=1.0)))
    texts = [one.text for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("a run whose ratios are all 1 is named, not drawn",
           any(text.startswith("Not drawn, because every ratio is 1 up to rounding: rope, count") for text in texts),
           str(texts))


def a_head_stands_out():
    found = drawn_by_id(tables(train_contraction=rows(lambda step, layer, head, probe:
                                                      50.0 if (layer, head, step) == (1, 3, 20) else 0.9 + head / 100)))
    tap.ok("one far head is named", found["contraction-heads"].caption.endswith("heads that stand out: 1.3."),
           found["contraction-heads"].caption)
    names = [one.name for one in found["contraction-heads"].panels[1].series if one.colour != "muted"]
    tap.ok("and it alone is coloured", names == ["head 3"], str(names))


counts_are_those_of_the_rows()
unchanged_runs_are_named()
a_head_stands_out()
tap.finish()
