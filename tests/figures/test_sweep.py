#!/usr/bin/python3
"""Accuracy against rotated heads: captions and findings against the rows."""
from support import drawings, np, tables, tap

from szego.figures import sweep


def row(heads, accuracy, task="distance", seeds=3, spread=0.125):
    return {"result": "r", "experiment": "$<text>", "task": task, "rotated_heads": heads, "accuracy": accuracy,
            "spread": spread, "seeds": seeds, "note": None}


def the_highest_is_named():
    made = [row(8, 0.5), row(0, 0.25), row(1, 0.75, seeds=4), row(4, None), row(0, np.nan, "count", 1, None)]
    drawn = drawings(sweep.SECTION, tables(reproduce_sweep=made))[0]
    tap.ok("with its heads, a part a task", drawn.caption ==
           "Task distance: highest 75% with 1 head; task count: no run has finished; whiskers: "
           "one standard deviation; a single seed does not show which number of heads is best. Not drawn: 1 value "
           "that is not finite.", drawn.caption)
    tap.ok("the finding has both ends", drawn.findings == [
        "Heads that RoPE turns, task distance, experiment $<text>: 25% with 0 heads, 50% with 8 heads; "
        "highest 75% with 1 head (3 to 4 seeds)."], str(drawn.findings))
    line = drawn.series()[0]
    tap.ok("whiskers in percent", (line.lo[0], line.hi[0]) == (37.5, 62.5))


def ties_have_no_winner():
    drawn = [drawings(sweep.SECTION, tables(reproduce_sweep=[row(0, 0.5, **more), row(8, high, **more)]))[0]
             for high, more in ((0.5, {"seeds": 1, "spread": None}), (0.6, {}), (0.8, {}))]
    said = [one.findings[0] for one in drawn]
    tap.ok("captions say the same", "the same with every number of heads" in drawn[0].caption and
           "no number of heads differs" in drawn[1].caption and "highest 80% with 8 heads" in drawn[2].caption,
           str([one.caption for one in drawn]))
    tap.ok("equal accuracies", "the same with every number of heads (1 seed each)" in said[0], said[0])
    tap.ok("accuracies within one standard deviation", "no number of heads differs" in said[1], said[1])
    tap.ok("and beyond it", "highest 80% with 8 heads" in said[2], said[2])


def one_seed_has_no_whiskers():
    drawn = drawings(sweep.SECTION, tables(reproduce_sweep=[row(2, 1.0, seeds=1)]))[0]
    tap.ok("and decides nothing", drawn.caption ==
           "Task distance: highest 100% with 2 heads; a single seed does not show which number of "
           "heads is best.", drawn.caption)
    tap.ok("one point has one end", "100% with 2 heads; highest" in drawn.findings[0] and "(1 seed each)" in
           drawn.findings[0], drawn.findings[0])


the_highest_is_named()
ties_have_no_winner()
one_seed_has_no_whiskers()
tap.finish()
