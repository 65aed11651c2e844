#!/usr/bin/python3
"""Helpers of heads: multiples of another head, and names."""
from support import chance, drawing, np, tables, tap

from szego.figures import heads
from szego.figures.record import Figure


def panel_of(*lines):
    """A panel of series from (row, y)."""
    made = tables(t=[row for row, _ in lines])
    rows = made.rows("t")
    series = [drawing.Series(rows.pick([i]), f"s{i}", "line", np.arange(len(y), dtype=float), np.array(y, float))
              for i, (_, y) in enumerate(lines)]
    return drawing.Panel(rows, series=series)


def dropped(panel):
    """What is said of the multiples that were taken out of the panel."""
    left_out = heads.LeftOut()
    heads.leave_out_multiples(panel, left_out)
    return heads.say_left_out(left_out)


def multiples_are_left_out_by_name():
    base = [chance.uniform(-1, 1) for _ in range(20)]
    panel = panel_of(*[({"head": h, "n": 8}, [v * 0.5**h for v in base]) for h in range(5)],
                     ({"head": 9, "n": 8}, [v * -1 for v in base]), ({"head": 7, "n": 16}, base),
                     ({"head": 8, "n": 8}, [v + 1e-6 for v in base]))
    found = dropped(panel)
    tap.ok("multiples are dropped", [one.name for one in panel.series] == ["s0", "s5", "s6", "s7"],
           str([one.name for one in panel.series]))
    tap.ok("and are named", found == " Not drawn: heads 1 to 4, which are 0.0625 to 0.5 times head 0.",
           found)
    panel = panel_of(({"head": 0}, base), ({"head": 3}, base))
    tap.ok("one is named alone", dropped(panel) ==
           " Not drawn: head 3, which has the values of head 0.")
    panel = panel_of(({"head": 0}, base), ({"head": 0}, base))
    tap.ok("rows of one head are no multiples of each other", dropped(panel) == "" and
           len(panel.series) == 2)


def corners_are_no_multiples():
    for name, one, other in (("zero and not", [0, 0], [1, 2]), ("not and zero", [1, 2], [0, 0]),
                             ("NaN", [np.nan, 1], [np.nan, 1]), ("infinite", [np.inf, 1], [np.inf, 1]),
                             ("lengths", [1, 2], [1, 2, 3]), ("overflow", [1e-10, 0], [1e300, 0])):
        panel = panel_of(({"head": 0}, one), ({"head": 1}, other))
        dropped(panel)
        tap.ok(f"no multiple: {name}", len(panel.series) == 2)
    for name, values in (("zeros", [0.0, 0.0]), ("subnormal", [5e-324, 0]), ("1e300", [1e300, -1e300])):
        panel = panel_of(({"head": 0}, values), ({"head": 1}, values))
        dropped(panel)
        tap.ok(f"a multiple: {name}", len(panel.series) == 1)
    panel = panel_of()
    tap.ok("an empty panel", dropped(panel) == "")


def names_tell_what_differs():
    panel = panel_of(({"head": 0, "n": 4, "convention": "a<$"}, [1]), ({"head": 0, "n": 8, "convention": None}, [1]))
    heads.name_series(None, panel, "alone")
    tap.ok("n and convention", [one.name for one in panel.series] == ["n = 4, a<$", "n = 8"],
           str([one.name for one in panel.series]))
    panel = panel_of(({"head": 0}, [1]), ({"head": 0}, [1]))
    heads.name_series(None, panel, "alone")
    tap.ok("nothing differs", [one.name for one in panel.series] == ["alone"] * 2)
    made = drawing.Drawing(Figure("f", ("t",)), panel.rows, "", drawing.Scale(), drawing.Scale(), [panel])
    panel = panel_of(*[({"head": h}, [100.0 if h == 6 else 1 + 0.01 * h]) for h in range(8)])
    panel.series[0].unlisted, panel.series[1].entry = True, "7 others"
    heads.name_series(made, panel, "alone")
    tap.ok("the one that stands out is coloured", [one.name for one in panel.series if one.colour != "muted"] ==
           ["head 6"] and sum(not one.unlisted for one in panel.series) == 2)
    del panel.series[3:]
    heads.name_series(made, panel, "alone")
    tap.ok("few heads are coloured and listed", [one.colour for one in panel.series] == [0, 1, 2] and
           not any(one.unlisted or one.entry for one in panel.series))


def means_do_not_overflow():
    tap.ok("a mean of 1e308", heads.mean(np.full(10, 1e308)) == 1e308)


multiples_are_left_out_by_name()
corners_are_no_multiples()
names_tell_what_differs()
means_do_not_overflow()
tap.finish()
