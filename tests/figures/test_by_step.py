#!/usr/bin/python3
"""Numbers by step: sentences, panels and references."""
from support import blocks, drawing, np, tables, tap

from szego.figures import by_step


def row(measure, layer, step, seeds, failed, missing, mean, low, high, reference):
    return {"result": "rep", "arm": "<$w>/rope", "task": "distance", "measure": measure, "layer": layer, "step": step,
            "seeds": seeds, "failed": failed, "missing": missing, "mean": mean, "t_low": low, "t_high": high,
            "reference": reference}


MEANS = [row("index", 0, 100, 9, 1, 0, 0.5, 0.25, 0.75, 0.52), row("index", 0, 990, 8, 2, 1, 0.75, 0.5, 1.0, 0.52),
         row("index", 1, 100, 10, 0, 0, 0.4, 0.3, 0.5, 0.52), row("index", 1, 990, 10, 0, 0, 0.5, 0.4, 0.6, 0.52),
         row("gradient_share", 0, 0, 10, 0, 0, 0.25, 0.2, 0.3, 0.25),
         row("gradient_share", 0, 4, 10, 0, 0, 0.3, 0.2, 0.4, 0.25),
         row("gradient_share", 0, 8, 0, 10, 0, None, None, None, 0.25),
         row("contraction", 0, 0, 10, 0, 0, 0.9, 0.8, 1.0, 1.0), row("contraction", 0, 4, 10, 0, 0, 2.0, 1.5, 2.5, 1.0)]
FEW = [row("index", 0, 990, 1, 0, 0, 0.5, None, None, 0.75)] + [
    row("contraction", layer, step, 1, 0, 0, 0.9 - step / 40, None, None, 1.0)
    for layer, step in ((0, 0), (0, 4), (1, 0), (1, 4), (2, 4), (3, 4), (4, 4), (5, 4))]


def each_question_has_a_figure_and_a_sentence():
    drawn = [one for one in blocks(by_step.SECTION, tables(reproduce_by_step=MEANS)) if isinstance(one, drawing.Drawing)]
    captions = [one.caption for one in drawn]
    tap.ok("the last step is told by layer", captions == [
        "At step 990 the deposit index is 0.75 [0.5, 1] in layer 0 (8 seeds, 2 without it, 1 not finished), "
        "0.5 [0.4, 0.6] in layer 1 (10 seeds); uniform shares, mean: 0.52.",
        "At step 4 the worst head's share of the gradient norm is 0.3 [0.2, 0.4] in layer 0 (10 seeds); equal heads: 0.25.",
        "At step 4 the ratio of widths is 2 [1.5, 2.5] in layer 0 (10 seeds); content alone: 1."], str(captions))
    tap.ok("the first is the finding, with its arm", [len(one.findings) for one in drawn] == [1, 0, 0] and
           drawn[0].findings[0] == "<$w>/rope, task distance: a" + captions[0][1:], str(drawn[0].findings))
    tap.ok("a panel a layer, with the reference", [[(panel.name, panel.rules[0].at, len(panel.series[0].x)) for panel in
                                                    one.panels] for one in drawn] ==
           [[("layer 0", 0.52, 2), ("layer 1", 0.52, 2)], [("layer 0", 0.25, 2)], [("layer 0", 1, 2)]])
    tap.ok("axes have the words of the sentences", [one.y.label for one in drawn] ==
           ["deposit index", "worst head's share of the gradient norm", "ratio of widths"], str([one.y.label for one in drawn]))
    one = drawn[0].panels[0].series[0]
    tap.ok("intervals are those of the table", (one.lo.tolist(), one.hi.tolist()) == ([0.25, 0.5], [0.75, 1.0]))
    tap.ok("a point tells its seeds",
           one.hover[1].endswith("mean over seeds: 0.75\nlower end of the mean: 0.5\nupper end of the mean: 1\nseeds: 8"),
           one.hover[1])


def one_step_and_one_seed_say_so():
    found = blocks(by_step.SECTION, tables(reproduce_by_step=FEW))
    texts = [one.text for one in found if isinstance(one, drawing.Paragraph)]
    tap.ok("one step is no course", "Not drawn, because there is one step: <$w>/rope, task distance, deposit index." in texts,
           str(texts))
    one, = [one for one in found if isinstance(one, drawing.Drawing)]
    tap.ok("layers beyond four are counted", one.caption == "At step 4 the ratio of widths is 0.8 in layer 0 (1 seed), 0.8 in "
           "layer 1 (1 seed), 0.8 in layer 2 (1 seed), 0.8 in layer 3 (1 seed), and 2 more layers; content alone: 1.",
           one.caption)
    tap.ok("without an interval there is no whisker", not np.isfinite(one.series()[0].lo).any())


each_question_has_a_figure_and_a_sentence()
one_step_and_one_seed_say_so()
tap.finish()
