#!/usr/bin/python3
"""Switches: which differences exceed their spread, counted from the rows."""
from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import switches


def row(name, difference, spread=0.25, pairs=3):
    return {"result": "r", "experiment": name, "like": "text", "encoding": "rope", "task": "count", "with": "a=1",
            "without": "a=2", "accuracy": 0.5, "accuracy_without": 0.5, "difference": difference,
            "difference_spread": spread, "pairs": pairs, "seeds": 3, "spread": 0.1}


def differences_are_counted():
    made = [row(f"switch-{i}", chance.uniform(-0.4, 0.4), 0.2, chance.choice([1, 2, 3, 10])) for i in range(20)]
    made += [row("$<far>", -0.5), row("empty", None), row("nan", np.nan)]
    known = made[:21]
    beyond = sum(abs(one["difference"]) > one["difference_spread"] and one["pairs"] >= 3 for one in known)
    few = sum(one["pairs"] < 3 for one in known)
    drawn = drawings(switches.SECTION, tables(reproduce_switches=made))[0]
    rest = f"; {few} rest{'s' if few == 1 else ''} on fewer than 3 seeds" if few else ""
    text = (f"{beyond} of 21 {'is' if beyond == 1 else 'are'} larger than one standard deviation, which is no test{rest}.")
    tap.ok("the largest by size; those beyond their spread; few seeds", drawn.caption ==
           f"Largest difference: −50 points ($<far>). {text} Not drawn: 1 value that is not finite.", drawn.caption)
    tap.ok("the finding says the same", drawn.findings == [
        f"Switches, rope, task count: $<far> makes the largest difference, −50 points; {text}"], str(drawn.findings))
    one = drawn.series()[0]
    tap.ok("whiskers lie along x where there are several pairs", one.flat and
           all(np.isfinite(lo) == (row["pairs"] > 1) for lo, row in zip(one.lo, known)))
    tap.ok("places are named", drawn.y.names[-1] == "$<far>" and len(drawn.y.names) == 21)


def corners():
    drawn = drawings(switches.SECTION, tables(reproduce_switches=[row("one", 1e300, 0.0)]))
    tap.ok("one switch", "1 of 1 is larger than one standard deviation, which is no test." in drawn[0].caption and drawn[0].caption.endswith(
        "Not drawn: 1 value of 1e150 or more in size."), drawn[0].caption)
    drawn = drawings(switches.SECTION, tables(reproduce_switches=[row("one", 0.0), row("two", 0.0)]))
    tap.ok("without a difference there is no largest", drawn[0].findings ==
           ["Switches, rope, task count: no switch changes the accuracy."], str(drawn[0].findings))
    drawn = drawings(switches.SECTION, tables(reproduce_switches=[row("one", 0.0), row("two", 0.25)]))
    tap.ok("one difference is the largest", "two makes the largest difference, 25 points" in drawn[0].findings[0],
           str(drawn[0].findings))
    found = blocks(switches.SECTION, tables(reproduce_switches=[row("one", None)]))
    tap.ok("nothing known: rows alone", [type(one) for one in found[1:]] == [drawing.Listing])


differences_are_counted()
corners()
tap.finish()
