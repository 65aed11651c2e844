#!/usr/bin/python3
"""Eigenvalues and singular values: which figure shows them, and the counts of captions against sorted lists."""
import fractions

from support import blocks, chance, drawing, drawings, np, tables, tap

from szego.figures import spectrum

N = 48


def values(source, re, im=None, zeros=0, kind="eigenvalue", head=0, result="r", matrix="bias", n=None, **more):
    """Rows of one matrix; the zeros by structure are one row."""
    im = im or [0.0] * len(re)
    n = len(re) + zeros if n is None else n
    cells = [(x, y, 1) for x, y in zip(re, im)] + ([(0.0, 0.0, zeros)] if zeros else [])
    return [{"result": result, "source": source, "layer": None, "head": head, "matrix": matrix, "kind": kind,
             "index": i,
             "re": x, "im": y, "multiplicity": times, "n": n, "zeros": zeros, "values_of": "matrix", **more}
            for i, (x, y, times) in enumerate(cells)]


def summary(source, lo, hi, theorem="none", **more):
    return {"result": "r", "source": source, "layer": None, "head": 0, "matrix": "bias", "n": N, "symbol_min_lo": lo,
            "symbol_max_hi": hi, "bound_of": "eigenvalues", "theorem": theorem, "solver": "dense", **more}


def only(**made):
    found = drawings(spectrum.SECTION, tables(**made))
    return found[0] if len(found) == 1 else None


def quantiles_agree_with_lists():
    for _ in range(200):
        one = [chance.choice([-1.0, 0.0, 0.5, chance.gauss(0, 1)]) for _ in range(chance.randrange(1, 9))]
        other = [chance.gauss(0, 2) for _ in range(chance.randrange(1, 7))]
        zeros = chance.randrange(4)
        mine, its = spectrum.Quantiles.of(np.array(one), zeros), spectrum.Quantiles.of(np.array(other))
        whole = sorted(one + [0.0] * zeros)
        many = sorted(whole * len(other)), sorted(sorted(other) * len(whole))
        expected = float(sum(abs(fractions.Fraction(a) - fractions.Fraction(b)) for a, b in zip(*many)) / len(many[0]))
        share, value = mine.curve()
        lo, hi = sorted((chance.uniform(-2, 2), chance.uniform(-2, 2)))
        within, beyond = mine.within(lo, hi)
        outside = max([max(lo - v, v - hi) for v in whole if not lo <= v <= hi], default=0)
        if not (abs(mine.distance(its) - expected) <= 1e-12 * (1 + expected) and list(value) == whole
                and np.allclose(share, (np.arange(len(whole)) + 0.5) / len(whole), rtol=1e-14)
                and within == sum(lo <= v <= hi for v in whole) and beyond == outside):
            tap.ok("quantiles with multiplicities are those of the whole list", False, f"{one} {zeros} {other}")
            return
    tap.ok("quantiles with multiplicities are those of the whole list", True)
    huge = spectrum.Quantiles.of(np.array([-1.0, 1.0]), 2**61)
    share, value = huge.curve()
    tap.ok("more zeros than memory are counted, not listed", len(value) == 2 + spectrum.ZEROS_DRAWN and
           share[0] < share[-1])


def matrices_have_ranges_of_their_own():
    re = [chance.uniform(-1, 1) for _ in range(N)]
    made = [row for head in range(3) for row in values("t", [one + head / 10 * one**2 for one in re], head=head)]
    found = only(spectrum_eigenvalues=made, spectrum_summary=[summary("t", -2.0 - head, 2.0, head=head) for head in (0, 1)])
    tap.ok("which are counted", found.caption.startswith(
        f"All {2 * N} eigenvalues lie in the certified ranges of their 2 matrices, which reach from −3 to 2; no certified range "
        f"bounds {N} others."), found.caption)


def orders_have_panels():
    """Curves that approach each other hide each other in one panel."""
    rows, ranges = [], []
    for order in (8, 32, 16):
        for head in range(2):
            rows += values("kms", [chance.uniform(1, 2) for _ in range(order)], head=head)
            ranges.append(summary("kms", 1.0 / order, 2.0 + order, head=head, n=order))
    found = only(spectrum_eigenvalues=rows, spectrum_summary=ranges)
    tap.ok("each order's heads are a panel of its own", [(panel.name, [len(one.y) for one in panel.series]) for panel in
           found.panels] == [("n = 8", [8, 8]), ("n = 32", [32, 32]), ("n = 16", [16, 16])], found.caption)
    tap.ok("with its own certified range", [[rule.at for rule in panel.rules] for panel in found.panels] ==
           [[1 / order, 2 + order] for order in (8, 32, 16)])
    plane = only(spectrum_eigenvalues=values("t5", [1.0, 1.0], [1.0, -1.0]) + values("t5", [0.0] * 3, [1.0, 0.0, -1.0]))
    tap.ok("in the plane, too", [panel.name for panel in plane.panels] == ["n = 2", "n = 3"])
    many = only(spectrum_eigenvalues=[row for order in range(2, 30) for row in values("kms", list(range(1, order + 1)))])
    tap.ok("those without a place are named", len(many.panels) == 24 and many.caption.endswith("Not drawn: n = 26 to n = 29."),
           many.caption)


def bounded_values_are_counted():
    re = [chance.uniform(-1, 1) for _ in range(N)]
    found = only(spectrum_eigenvalues=values("alibi", re), spectrum_summary=[summary("alibi", -0.5, 0.6)])
    inside = sum(-0.5 <= value <= 0.6 for value in re)
    far = float(f"{max(-0.5 - min(re), max(re) - 0.6):.4g}")
    text = f"{inside} of {N} eigenvalues (the farthest {far:g} outside) lie"
    tap.ok("values in the certified range are counted", found.caption.startswith(text), found.caption)
    y = np.concatenate([one.y for one in found.series()])
    tap.ok("and drawn in order", list(y) == sorted(re))
    theta = np.linspace(0, 2 * np.pi, 96, endpoint=False)
    samples = [{"result": "r", "source": "alibi", "layer": None, "head": 0, "matrix": "bias", "n": N, "theta": t,
                "re": float(np.cos(t)), "im": 0.0, "convention": "closed_form"} for t in theta]
    found = only(spectrum_eigenvalues=values("alibi", re), spectrum_samples=samples,
                 spectrum_summary=[summary("alibi", -2.0, 2.0, "szego")])
    names = [one.name for one in found.series()]
    tap.ok("the symbol is a fine line over the values", names == ["eigenvalues", "quantiles of the symbol"] and
           [one.fine for one in found.series()] == [False, True], str(names))
    far = np.mean(np.abs(np.repeat(sorted(re), 2) - np.sort(np.cos(theta))))
    tap.ok("their distance is said", f"quantiles: {float(f'{far:.4g}'):g}." in found.caption, f"{far} {found.caption}")


def low_ranks_are_drawn_by_rank():
    def decay(k):
        return [10.0**-i * (1 + k) for i in range(8)]
    made = values("rope:dim=8", decay(0) + [0.0, 0.0], zeros=N - 10)
    made += values("rope:dim=16", decay(1) + [1e-19], zeros=30)
    found = only(spectrum_eigenvalues=made)
    tap.ok("low ranks of one kind share a figure, on a log axis", found.id == "spectrum-ranks" and
           found.y.kind == "log")
    names = [(one.name, one.colour) for one in found.series()]
    tap.ok("with colours and labels of their own", names == [("rope:dim=8, n = 48", 0), ("rope:dim=16, n = 39", 1)],
           str(names))
    tap.ok("the exact zeros are counted",
           f"computed as 0: {N - 8} of {N} (rope:dim=8, {N - 10} by structure), 30 of 39 (rope:dim=16, 30 by structure)."
           in found.caption, found.caption)
    tap.ok("those that exceed rounding, too",
           "shows the 17 others by rank; 16 of them are larger than the rounding error." in found.caption,
           found.caption)
    first = found.series()[0]
    tap.ok("values over their rank", list(first.y) == decay(0) and list(first.x) == list(range(1, 9)))
    single = only(spectrum_eigenvalues=values("rope:dim=8", decay(0), zeros=N - 8))
    tap.ok("one alone is said as it is", f"; {N - 8} are 0 by structure" in single.caption, single.caption)
    tap.ok("and found", single.findings == [f"rope:dim=8, bias: of {N} eigenvalues {N - 8} are 0 by structure."],
           str(single.findings))
    signs = only(spectrum_eigenvalues=values("rope:dim=8", [3.0, -2.0, 1.0], zeros=N - 3))
    tap.ok("negative ones by their size", list(signs.series()[0].y) == [3, 2, 1] and "absolute values" in signs.caption)


def zeros_of_a_solver_are_not_exact():
    """RoPE's matrices of orders below its dimension are positive definite: what a solver leaves of them is no 0."""
    made = [row for n, zeros in ((8, 0), (16, 8), (32, 24)) for row in
            values("rope:dim=8", [2.0 * n, 1.0, 0.5, 0.25, 1e-14, 1.9e-14 * n, 0.0, 0.0], zeros=zeros)]
    found = only(spectrum_eigenvalues=made)
    tap.ok("those by structure are told from those of a solver, order by order", "; computed as 0: 2 of 8, 10 of 16 "
           "(8 by structure), 26 of 32 (24 by structure)." in found.caption and "exact" not in found.caption, found.caption)
    tap.ok("also in the finding", found.findings == ["rope:dim=8, bias: of 56 eigenvalues 32 are 0 by structure, 6 more "
                                                     "were computed as 0."], str(found.findings))
    alike = [row for head in range(2) for row in values("rope:dim=8", [2.0, 1.0 + head, 0.0], zeros=4, head=head)]
    tap.ok("and where all have as many", "; in each matrix 5 values were computed as 0, 4 of them by structure." in
           only(spectrum_eigenvalues=alike).caption, only(spectrum_eigenvalues=alike).caption)
    drawn = [(rule.at, rule.colour) for rule in found.panels[0].rules]
    eps = np.finfo(float).eps
    tap.ok("each order has its rounding error drawn, in its colour", drawn ==
           [(n * eps * 2 * n, i) for i, n in enumerate((8, 16, 32))], str(drawn))
    counted = sum(int((one.y > at).sum()) for one, (at, _) in zip(found.series(), drawn))
    tap.ok("and the count is that above the drawn ones", f"; {counted} of them are larger" in found.caption, found.caption)


def values_that_are_not_finite_are_told():
    nan, inf = float("nan"), float("inf")
    re = [chance.uniform(-1, 1) for _ in range(N - 3)]
    found = only(spectrum_eigenvalues=values("alibi", re + [nan, inf, -inf]), spectrum_summary=[summary("alibi", -1.0, 1.0)])
    text = f"{N - 3} of {N} eigenvalues lie in the certified range [−1, 1]; 3 are not finite."
    tap.ok("all is said of all values", found.caption.startswith(text), found.caption)
    tap.ok("also in the finding", found.findings == [f"alibi, bias: {text}"], str(found.findings))
    plane = only(spectrum_eigenvalues=values("t5", re + [nan, inf, 0.5], [0.5] * (N - 1) + [nan]),
                 spectrum_summary=[summary("t5", 0.0, 1.5, bound_of="singular_values")])
    tap.ok("in the plane, too", plane.caption.startswith(
        f"{N - 3} of {N} eigenvalues lie in the certified circle |z| = 1.5; 3 are not finite."), plane.caption)
    plane = only(spectrum_eigenvalues=values("t5", re + [inf, 0.5, 9.0], [0.5] * N),
                 spectrum_summary=[summary("t5", 0.0, 1.5, bound_of="singular_values")])
    far = f"{float(np.hypot(9, 0.5)) - 1.5:.4g}"
    tap.ok("and what is not finite is not the farthest", plane.caption.startswith(
        f"{N - 2} of {N} eigenvalues (the farthest {far} outside) lie in"), plane.caption)
    free = only(spectrum_eigenvalues=values("alibi", [1.0, 2.0, inf]))
    tap.ok("and without a range", free.caption.startswith(
        "3 eigenvalues from 1 to 2; no certified range bounds them; 1 is not finite."), free.caption)


def a_matrix_counts_once():
    re = [2.0, 1.0, 0.5, 0.0]
    made = [row for result in ("a", "b") for row in values("rope:dim=8", re, zeros=4, result=result)]
    found = only(spectrum_eigenvalues=made)
    tap.ok("that two results hold", found.caption == "8 eigenvalues from 0 to 2; no certified range bounds them; 4 are 0 by "
           "structure, 1 more was computed as 0. Not drawn again: the same values in b. The figure shows the 3 others by "
           "rank.", found.caption)
    tap.ok("and is drawn once", len(found.series()) == 1 and "of 8 eigenvalues 4" in found.findings[0], str(found.findings))
    made += values("rope:dim=8", [2.0, 1.0, 0.25, 0.0], zeros=4, result="c")
    found = only(spectrum_eigenvalues=made)
    tap.ok("other values are another matrix", len(found.series()) == 2 and found.caption.startswith("16 "), found.caption)


def theorems_are_said():
    samples = [{"result": "r", "source": "alibi", "layer": None, "head": 0, "matrix": "bias", "n": N, "theta": t,
                "re": 9.0 * t, "im": 0.0, "convention": "closed_form"} for t in range(96)]
    for theorem, said in (("none", True), ("szego", False), (None, False)):
        found = only(spectrum_eigenvalues=values("alibi", list(range(N))), spectrum_samples=samples,
                     spectrum_summary=[summary("alibi", -1e3, 1e3, theorem)])
        tap.ok(f"theorem {theorem}", ("No limit theorem applies to this matrix: the eigenvalues need not come near the symbol's "
               "quantiles." in found.caption) == said and ("Mean distance" in found.caption) == (theorem == "szego"),
               found.caption)


def complex_ones_lie_in_the_plane():
    turn = [chance.uniform(0, 6.28) for _ in range(N)]
    re, im = [float(np.cos(t)) for t in turn], [float(np.sin(t)) for t in turn]
    bound = summary("t5", 0.0, 1.5, bound_of="singular_values")
    found = only(spectrum_eigenvalues=values("t5", re, im), spectrum_summary=[bound])
    tap.ok("in a certified circle", found.id == "spectrum-plane" and
           found.caption.startswith(f"All {N} eigenvalues lie in the certified circle |z| = 1.5"), found.caption)
    wide = only(spectrum_eigenvalues=values("t5", re, im), spectrum_summary=[{**bound, "symbol_max_hi": 50.0}])
    tap.ok("which is not drawn where it would press them to a dot", "wider than the figure" in wide.caption and
           wide.x.hi < 2 and len(wide.series()) == 1, wide.caption)
    zeros = only(spectrum_eigenvalues=values("t5", re, im, zeros=9))
    tap.ok("zeros are one dot, and counted", list(zeros.series()[0].x) == re + [0.0] and "9 are 0 by structure" in
           zeros.caption, zeros.caption)
    for bounds in ([], [bound]):
        singular = only(spectrum_eigenvalues=values("t5", [0.0, 0.5, 1.0, 1.25, 1.5], kind="singular"),
                        spectrum_summary=[{**one, "n": 5} for one in bounds])
        tap.ok("singular values stand on a log axis", singular.id == "spectrum-singular" and singular.y.kind == "log")
        rules = [(rule.name, rule.at) for rule in singular.panels[0].rules]
        tap.ok("with the certified maximum alone", rules == [("certified maximum of |a|", 1.5)] * len(bounds), str(rules))


def what_is_not_drawn_is_named():
    re = [chance.uniform(-1, 1) for _ in range(N)]
    made = [row for head in range(4) for row in values("alibi", [value * 2.0**-head for value in re], head=head)]
    found = only(spectrum_eigenvalues=made)
    tap.ok("multiples of a head are named",
           "Not drawn: heads 1 to 3, which are 0.125 to 0.5 times head 0." in found.caption,
           found.caption)
    made = values("nope", [0.0] * 6) + values("t5", re) + values("part", re, n=100)
    texts = [one.text for one in blocks(spectrum.SECTION, tables(spectrum_eigenvalues=made))
             if isinstance(one, drawing.Paragraph)]
    tap.ok("a flat line is named", "Not drawn, because all values are equal: nope, bias." in texts, str(texts))
    tap.ok("and what is not the whole spectrum", any("part" in text and "order 100" in text for text in texts),
           str(texts))


def corners_are_survived():
    nan, inf = float("nan"), float("inf")
    made = values("$a_1$<b>", [nan, inf, -inf, 1e300, -1e300, 5e-324]) + values("one", [3.0]) + \
        values("huge", [1.0, 2.0], zeros=2**61, n=float(2**61 + 2)) + values("empty", [nan, nan])
    tap.ok("hostile names, one value, values that are not finite", bool(drawings(spectrum.SECTION,
                                                                               tables(spectrum_eigenvalues=made))))
    old = [{"source": "old", "re": float(k), "im": 0.0} for k in range(5)]
    found = only(spectrum_eigenvalues=old)
    tap.ok("columns that are missing", found.caption.startswith("5 eigenvalues from 0 to 4"), found.caption)
    missing = blocks(spectrum.SECTION, tables(spectrum_eigenvalues=[{"source": "a", "re": 1.0}]))
    tap.ok("no column of values", any("its values are not drawn" in one.text for one in missing
                                      if isinstance(one, drawing.Paragraph)))


quantiles_agree_with_lists()
bounded_values_are_counted()
matrices_have_ranges_of_their_own()
orders_have_panels()
low_ranks_are_drawn_by_rank()
zeros_of_a_solver_are_not_exact()
values_that_are_not_finite_are_told()
a_matrix_counts_once()
theorems_are_said()
complex_ones_lie_in_the_plane()
what_is_not_drawn_is_named()
corners_are_survived()
tap.finish()
