#!/usr/bin/python3
"""Longer sequences: the means of the longest ones, and the same colour for the same scaling."""
from support import draw, drawings, np, tables, tap

from szego.figures import lengths


def row(encoding, scaling, length, accuracy, **more):
    return {"result": "r", "experiment": "longer", "encoding": encoding, "scaling": scaling, "words": length,
            "factor": length / 32, "seeds": 10, "accuracy": accuracy, "t_low": None, "t_high": None,
            "test_accuracy": None, "label_ceiling": None, **more}


def the_longest_decide():
    made = [row("$<nope>", "none", 128, 0.25), row("rope", "none", 128, np.nan),
            row("rope", "yarn", 128, 0.625, t_low=0.5, t_high=0.75, test_accuracy=0.875, label_ceiling=0.9375),
            row("rope", "none", 32, 0.99), row("rope", "none", 256, None)]
    drawn = drawings(lengths.SECTION, tables(reproduce_length_arms=made))[0]
    text = ("128 words, 4 times the longest training sequence: highest rope scaled by yarn 62.5% [50, 75] (87.5% on "
            "the test split), lowest $<nope> as trained 25%; label ceiling 93.75%; 10 seeds.")
    tap.ok("of lengths with an accuracy", drawn.caption == f"{text} Not drawn: 1 value that is not finite.", drawn.caption)
    tap.ok("the finding says the same", drawn.findings == [f"Longer sequences, experiment longer: {text}"])
    colours = {(panel.name, one.name): one.colour for panel in drawn.panels for one in panel.series}
    tap.ok("a scaling has one colour in all panels", colours ==
           {("$<nope>", "as trained"): 0, ("rope", "scaled by yarn"): 1, ("rope", "as trained"): 0}, str(colours))
    whisker = drawn.panels[1].series[0]
    tap.ok("whiskers are the interval, in percent", (whisker.lo[0], whisker.hi[0]) == (50, 75))


def corners():
    drawn = drawings(lengths.SECTION, tables(reproduce_length_arms=[row("rope", None, 32, 0.0)]))[0]
    tap.ok("one row is highest alone", drawn.caption ==
           "32 words, as many as the longest training sequence: highest rope as trained 0%; 10 seeds.", drawn.caption)
    title = draw.draw(drawn).axes[0].get_title(loc="left")
    tap.ok("the title of one panel has the panel's name", title == "Experiment longer: accuracy on longer sequences, rope",
           title)


the_longest_decide()
corners()
tap.finish()
