#!/usr/bin/python3
"""Symbols: certified ends, curves that are multiples, and point masses."""
from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import symbol

COUNT = 64
KEY = {"result": "r", "source": "kms", "layer": None, "matrix": "bias", "n": 8, "convention": "closed_form"}


def samples(curve, head=0, im=None, **more):
    theta = np.linspace(0, 2 * np.pi, COUNT, endpoint=False)
    return [{**KEY, "head": head, "theta": float(t), "re": float(curve(t)), "im": float(im(t)) if im else 0.0, **more}
            for t in theta]


def ends(lo, hi, head=0, width=0.0):
    return {**KEY, "head": head, "min_lo": lo, "min_hi": lo + width, "max_lo": hi - width, "max_hi": hi,
            "theta_min": 3.0, "theta_max": 0.0, "bound_of": "eigenvalues"}


def only(**made):
    found = drawings(symbol.SECTION, tables(**made))
    return found[0] if len(found) == 1 else None


def certified_ends_are_said():
    found = only(symbol_samples=samples(np.cos), symbol_range=[ends(-1.00001, 1.00001, width=2**-20)])
    tap.ok("the range is rounded outwards",
           found.caption == "Certified range −1.001 to 1.001 (the symbol of all lags); each end is known to within "
           "9.6e−07.", found.caption)
    dots = [one for one in found.series() if one.marks == "points"]
    tap.ok("a dot at each end, with its enclosure",
           [(one.x[0], one.y[0]) for one in dots] == [(3, -1.00001), (0, 1.00001)]
           and "certified minimum in [−1.00001, " in dots[0].hover[0], str([one.hover for one in dots]))
    tap.ok("and two rules", [rule.at for rule in found.panels[0].rules] == [-1.00001, 1.00001])
    tap.ok("the finding says so", found.findings == ["kms, bias: certified range −1.001 to 1.001 (the symbol of all lags)."],
           str(found.findings))
    none = only(symbol_samples=samples(np.cos))
    tap.ok("without a range", none.caption == "No range is certified for the symbol of all lags." and not none.findings)
    coarse = only(symbol_samples=samples(np.cos, convention="sampled", n=COUNT))
    tap.ok("an unknown convention says nothing", coarse.caption.startswith("No range is certified for this symbol."))
    for convention, text in (("truncated", "the symbol cut to the lags below n = 32, 64"),
                             ("fejer", "the Fejér mean of the lags below n = 32, 64")):
        cut = only(symbol_samples=[row for n in (64, 32) for row in samples(np.cos, convention=convention, n=n)],
                   symbol_range=[{**ends(-2.0, 2.0), "convention": convention, "n": n} for n in (64, 32)])
        tap.ok(f"the lags that a {convention} symbol has are said", cut.findings[0].endswith(f"({text}).") and
               f"({text});" in cut.caption, f"{cut.caption} {cut.findings}")
    tap.ok("too few samples are said", coarse.caption.endswith("Too few samples: the line may miss peaks."))


def complex_symbols_have_a_modulus():
    found = only(symbol_samples=samples(np.cos, im=lambda t: 2 * np.sin(t)), symbol_range=[ends(1.0, 2.0)])
    names = [one.name for one in found.series() if one.name]
    tap.ok("and two parts", names == ["modulus |a|", "real part", "imaginary part"], str(names))
    one = found.series()[0]
    tap.ok("the modulus is that of the parts", np.allclose(one.y**2, np.cos(one.x)**2 + 4 * np.sin(one.x)**2))
    tap.ok("its range is said", found.caption.startswith("Certified range of |a| 1 to 2 (the symbol of all lags);"), found.caption)


def heads_are_named():
    made = [row for head in range(3) for row in samples(lambda t, k=head: 2.0**-k * np.cos(t), head)]
    found = only(symbol_samples=made, symbol_range=[ends(-2.0**-head, 2.0**-head, head) for head in range(3)])
    tap.ok("multiples are named", "Not drawn: heads 1, 2, which are 0.25 to 0.5 times head 0." in
           found.caption, found.caption)
    made = [row for head in range(3) for row in samples(lambda t, k=head: np.cos((k + 1) * t), head)]
    found = only(symbol_samples=made, symbol_range=[ends(-1.0, 1.0, head) for head in range(2)])
    tap.ok("curves without a certified range are not among those with one", found.caption.startswith(
        "Certified ranges of 2 of 3 curves, all within −1 to 1 (the symbol of all lags);"), found.caption)
    found = only(symbol_samples=made)
    tap.ok("others have names and colours", [(one.name, one.colour) for one in found.series()] ==
           [("head 0", 0), ("head 1", 1), ("head 2", 2)])
    texts = [one.text for one in blocks(symbol.SECTION, tables(symbol_samples=samples(lambda t: 1.0)))
             if isinstance(one, drawing.Paragraph)]
    tap.ok("a constant is named, not drawn", texts[1:] == ["Not drawn, because the symbol is constant: kms, bias."],
           str(texts))


def masses_are_counted():
    angles = [0.0] + [10.0**-k for k in range(4)]
    made = [{**KEY, "head": 0, "theta": theta, "mass": chance.choice([0.5, 0.25])} for theta in angles]
    found = only(symbol_atoms=made)
    total = sum(row["mass"] for row in made)
    tap.ok("point masses and their sum", found.caption.startswith(f"5 point masses, {total:g} in sum"), found.caption)
    tap.ok("the one at 0 has no place on a log axis", found.x.kind == "log" and
           f"the mass at angle 0 is {made[0]['mass']:g}. Not drawn: 1 value that is 0, as" in found.caption, found.caption)
    one = found.series()[0]
    tap.ok("few stand on stems", list(one.lo) == [0] * 5 and list(one.hi[1:]) == [row["mass"] for row in made[1:]])
    near = only(symbol_atoms=[{**row, "theta": 1 + row["theta"]} for row in made])
    tap.ok("angles that are near stand on a linear axis", near.x.kind == "linear" and "no place" not in near.caption)


def corners_are_survived():
    made = samples(lambda t: float("nan"), source="$n<")
    made += samples(lambda t: 1e300 * np.cos(t), source="huge") + samples(np.cos, source="one")[:1]
    found = drawings(symbol.SECTION, tables(symbol_samples=made, symbol_range=[ends(float("nan"), 1.0)]))
    tap.ok("no numbers, huge ones, one row", len(found) == 2, str([one.title for one in found]))
    atoms = drawings(symbol.SECTION, tables(symbol_atoms=[{**KEY, "head": 0, "theta": 0.0, "mass": 1.0}]))
    tap.ok("one mass at 0", atoms[0].caption.startswith("1 point mass, 1 in sum"), atoms[0].caption)


certified_ends_are_said()
complex_symbols_have_a_modulus()
heads_are_named()
masses_are_counted()
corners_are_survived()
tap.finish()
