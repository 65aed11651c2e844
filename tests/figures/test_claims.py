#!/usr/bin/python3
"""The ledger of claims: what is said of certificates, samples and trials against counts and numbers made apart."""
import math
import re

from support import blocks, chance, compose, draw, drawing, np, tables, tap

from szego.figures import claims

CERTIFICATE = {"id": "X", "kind": "exact", "left": "a", "relation": "<", "right": "b", "n": 1, "weights": "0x1p+0",
               "phases": None, "left_lo": "0x1p+0", "left_hi": "0x1p+0", "right_lo": "0x1p+1", "right_hi": "0x1p+1",
               "note": "n"}


def claim(verdict="fails", identity="X", **more):
    return {"result": ".", "id": identity, "statement": "s", "verdict": verdict, "basis": "c", "trials": 1,
            "worst_margin": None, "true_statement": "t", "source": "p", "note": None, **more}


def certificate(**more):
    return {"result": ".", **CERTIFICATE, **more}


def ledger(rows, **more):
    """(blocks of the section, its ledger)."""
    found = blocks(claims.SECTION, tables(verify_claims=rows, **more))
    return found, next(one for one in found if isinstance(one, drawing.Grid))


def opened(rows, i=0, **more):
    found = ledger(rows, **more)[1].opens[i]
    for one in found:
        if isinstance(one, drawing.Drawing):
            draw.draw(one)
    return found


def of_kind(found, kind):
    return [one for one in found if isinstance(one, kind)]


def verdicts_have_colours_and_are_counted():
    verdicts = [chance.choice(["holds", "fails", "vacuous", "conditional", "measured", "none", "odd", None])
                for _ in range(20)] + ["holds", "fails"]
    found, grid = ledger([claim(verdict, f"C{i}") for i, verdict in enumerate(verdicts)])
    tap.ok("fails is red and holds has its role", [cls in ("holds", "fails") for cls in grid.classes] ==
           [verdict in ("holds", "fails") for verdict in verdicts]
           and all(cls == verdict for cls, verdict in zip(grid.classes, verdicts) if cls in ("holds", "fails")))
    tap.ok("a verdict that is not known is unknown", all((cls == "unknown") == (verdict in ("none", "odd", None))
                                                        for cls, verdict in zip(grid.classes, verdicts)))
    text = of_kind(found, drawing.Finding)[0].text
    tap.ok("the finding counts them", text.startswith(f"{verdicts.count('fails')} of 22 claims fail")
           and f" holds {verdicts.count('holds')}" in text and text.count(",") + 1 == len(set(verdicts)) - 1, text)
    kinds = [("paper", "fails")] * 2 + [("paper", "holds")] + [("reading", "fails")] + [("correction", "holds")] * 4
    text = of_kind(ledger([claim(verdict, f"C{i}", kind=kind) for i, (kind, verdict) in enumerate(kinds)])[0],
                   drawing.Finding)[0].text
    tap.ok("the paper's, our readings and our corrections apart", text == "3 of 8 claims fail: 2 of the paper's 3 statements, 1 "
           "of our 1 reading, 0 of our 4 corrections; the others: holds 5.", text)
    text = of_kind(ledger([claim("fails", kind="paper"), claim("holds", "B", kind="odd")])[0], drawing.Finding)[0].text
    tap.ok("a kind that is not known is another", text ==
           "1 of 2 claims fails: 1 of the paper's 1 statement, 0 of 1 without a kind; the others: holds 1.", text)
    tap.ok("what is true instead is told of what does not hold",
           all((cells[2] == "t") == (verdict != "holds") for cells, verdict in zip(grid.cells, verdicts)))
    text = of_kind(ledger([claim("holds", "A"), claim("vacuous", "B")])[0], drawing.Finding)[0].text
    tap.ok("without a failure the verdicts are told", text == "Verdicts on 2 claims: holds 1, vacuous 1.", text)


def ids_are_unique():
    _, grid = ledger([claim(identity="B1+"), claim(identity="B1_"), claim(identity="<$x"), claim(identity=None)])
    tap.ok("ids of rows are plain and apart", grid.ids == ["claim-B1_", "claim-B1_-0-1", "claim-__x", "claim-"],
           str(grid.ids))


def relations_are_judged_by_the_enclosures():
    no = ": the enclosures do not show this"
    for relation, ends, said in (
            ("<", ("0x1p+0", "0x1p+0", "0x1p+1", "0x1p+1"), ""), (">", ("0x1p+0", "0x1p+0", "0x1p+1", "0x1p+1"), no),
            ("<", ("0x1p+0", "0x1p+1", "0x1p+1", "0x1p+2"), no),
            ("=", ("0x1p+0", "0x1p+1", "0x1p+1", "0x1p+2"), ": equality is decided exactly"),
            ("=", ("0", "1", "2", "3"), no), ("!=", ("2", "3", "0", "1"), ""), ("is", ("2", "3", "0", "1"), no),
            ("<", ("2", "1", "3", "4"), no), ("<", ("nan", "1", "3", "4"), no), ("<", ("0", "1", "3", "inf"), no),
            ("<", ("0", "1", "three", "4"), no), ("<", ("0", "1", None, "4"), no)):
        row = certificate(relation=relation, **dict(zip(("left_lo", "left_hi", "right_lo", "right_hi"), ends)))
        text = of_kind(opened([claim()], verify_certificates=[row]), drawing.Grid)[1].cells[0][1][0]
        tap.ok(f"{relation} of {ends}", text.endswith("]" + said), text)
    kinds = {kind: of_kind(opened([claim()], verify_certificates=[certificate(relation="=", kind=kind, right_lo="0x1p+0")]),
                           drawing.Grid)[1].cells[0][1][0] for kind in ("structural", "disjoint")}
    tap.ok("a proof is named", kinds["structural"].endswith("theory.md)"))
    tap.ok("two enclosures that meet show no equality", kinds["disjoint"].endswith("show no equality"))


def ends_are_rounded_outwards():
    row = certificate(left_lo="-0.53849182044", left_hi="-0.53849182036", right_lo="1.00000000151",
                      right_hi="1.00000000249", weights="0x1.4p+2 -0x1p+0", phases="1/3")
    found = of_kind(opened([claim(worst_margin=0.53849182)], verify_certificates=[row]), drawing.Grid)
    shown, exact = found[1].cells[0][1]
    tap.ok("ends are rounded outwards", "[−0.5384918205, −0.5384918203]" in shown and "[1.000000001, 1.000000003]" in
           shown, shown)
    tap.ok("the exact ends come along", exact == "-0.53849182044 to -0.53849182036; 1.00000000151 to 1.00000000249", exact)
    tap.ok("weights are decimals where those are exact", found[1].cells[0][3:5] == (("5 −1", None), ("1/3", "1/3 π")),
           str(found[1].cells[0][3:5]))
    row = certificate(weights="0x0p+0 -0x0p+0 0x1p+0 0x1.47ae147ae147bp-7 -0x1.4p-1 0x1p-40 0x1p+70", phases="inf x 1/0")
    cells = of_kind(opened([claim()], verify_certificates=[row]), drawing.Grid)[1].cells[0][3:5]
    tap.ok("and hexadecimal where none of ten digits is", cells[0] ==
           ("0 0 1 0x1.47ae147ae147bp-7 −0.625 0x1p-40 0x1p+70", "0, 0, 1, 0.01, −0.625, 9.094947018e−13, 1.180591621e+21")
           and cells[1][0] == "inf x 1/0", str(cells))
    tap.ok("a margin is a lower end", dict(found[0].cells)["worst margin"][0] == "at least 0.5384")


def what_a_row_opens_to():
    texts = [one.text for one in of_kind(opened([claim("conditional")]), drawing.Paragraph)]
    tap.ok("a refuted claim without a certificate says so", texts == ["These results hold no certificate of it."])
    tap.ok("one that holds does not", not of_kind(opened([claim("holds", true_statement=None)]), drawing.Paragraph))
    precisely = of_kind(opened([claim("holds", true_statement="`x_1`")]), drawing.Paragraph)[0]
    tap.ok("what explains it is prose", precisely.text == "Precisely: `x_1`" and precisely.formulas)
    command = of_kind(opened([claim(result="it's & one")], verify_certificates=[certificate(result="it's & one")]),
                      drawing.Paragraph)[-1].text
    tap.ok("the command is one that a shell takes",
           command.endswith("szego verify --check 'it'\"'\"'s & one/certificates.csv'"), command)
    evidence = [{"result": ".", "id": name, "quantity": "q", "lo": 0.0, "hi": 1.0, "note": None} for name in "XYX"]
    listing = of_kind(opened([claim()], verify_evidence=evidence), drawing.Listing)[0]
    tap.ok("evidence is that of the claim", listing.rows.index.tolist() == [0, 2])
    long = "`" + "x" * 300 + "` and `" + "y" * 300 + "`"
    cell = ledger([claim("fails", statement=long)])[1].cells[0][1]
    tap.ok("a formula that is too long is left out whole", cell == "`" + "x" * 300 + "` and …", cell)
    hostile = "<script>$\\frac{1$ \x1b[2J\u202e" * 9
    row = claim(hostile, hostile, note=hostile, source=hostile)
    facts, enclosed = of_kind(opened([row], verify_certificates=[
        certificate(id=hostile, left=hostile, weights=hostile, phases=hostile, left_lo=hostile)]), drawing.Grid)
    tap.ok("hostile texts are told as they stand", {name: dict(facts.cells)[name] for name in ("source", "note")} ==
           {"source": hostile, "note": hostile}, str(facts.cells))
    tap.ok("an end that is no number encloses nothing",
           enclosed.cells[0][1][0].endswith("in [nan, 1] < b in [2, 2]: the enclosures do not show this"),
           enclosed.cells[0][1][0])
    grid = ledger([row])[1]
    tap.ok("no class and no id is a text of a file", grid.classes == ["unknown"] and
           re.fullmatch("claim-[A-Za-z0-9_-]+", grid.ids[0]), f"{grid.classes} {grid.ids}")


def curves_name_their_certificates():
    """Which certificate a curve is of is in a column. The second certificate holds no phases: it says nothing of f."""
    held = [certificate(left="max|f|", phases="1/2", left_lo="1", left_hi="1", right_lo="2", right_hi="2"),
            certificate(id="Y", left="c"),
            certificate(left="width f", relation=">", right="width g", left_lo="6", left_hi="6", right_lo="5",
                        right_hi="5")]
    samples = [{"result": ".", "id": "X", "theta": float(i), "f": f, "g": g, "certificate": place}
               for i, (f, g, place) in enumerate(((10.0, 1.0, 1), (20.0, -2.0, 1), (30.0, 3.0, 0), (50.0, -4.0, 0),
                                                  (60.0, 5.0, None), (70.0, 6.0, 2)))]
    found = opened([claim()], verify_certificates=held, verify_samples=samples)
    one = of_kind(found, drawing.Drawing)[0]
    tap.ok("the certificate about f is told", one.caption == "max|f| < b: 1 against 2, one of 2 certificates. "
           "1 panel is about g alone.", one.caption)
    tap.ok("a panel a certificate", [panel.name for panel in one.panels] == ["width f > width g", "max|f| < b"])
    tap.ok("without phases g is drawn alone", [s.name for s in one.panels[0].series] == ["g"]
           and one.panels[0].series[0].y.tolist() == [1, -2])
    tap.ok("with phases f and g are", {s.name: s.y.tolist() for s in one.panels[1].series} ==
           {"f": [30, 50], "g": [3, -4]})
    tap.ok("the bound and its negative are drawn", [(rule.name, rule.at) for rule in one.panels[1].rules] ==
           [("b", 2), (None, -2)] and not one.panels[0].rules)
    held[0].update(left="max|f| with phases theta_i", right="2 sum w")
    one = of_kind(opened([claim()], verify_certificates=held, verify_samples=samples), drawing.Drawing)[0]
    tap.ok("names are set as mathematics", one.panels[1].name == "max|f| with phases θᵢ < 2 Σw" and
           one.panels[1].rules[0].name == "2 Σw", one.panels[1].name)
    tap.ok("samples of no certificate are counted", any(text.text == "2 samples are of no certificate here."
                                                        for text in of_kind(found, drawing.Paragraph)))


def figures_have_a_limit():
    rows = [claim(identity=f"C{i}") for i in range(9)]
    held = [certificate(id=f"C{i}", left="max|f|", phases="1/2") for i in range(9)]
    samples = [{"result": ".", "id": f"C{i}", "theta": t, "f": 1.0, "g": t, "certificate": 0} for i in range(9)
               for t in (0.0, 1.0)]
    found, grid = ledger(rows, verify_certificates=held, verify_samples=samples)
    drawn = sum(len(of_kind(inner, drawing.Drawing)) for inner in grid.opens)
    tap.ok("two of eight figures are kept for the lemma", drawn == 6, str(drawn))
    tap.ok("what is left out is counted", any(one.text.startswith("3 more figures are left out") for one in
                                              of_kind(found, drawing.Paragraph)))
    several = blocks(claims.SECTION, tables(verify_claims=[claim(result=f"r{i}") for i in range(6)],
                                            verify_certificates=[certificate(result="r1")]))
    held = [len(of_kind(grid.opens[0], drawing.Grid)) for grid in of_kind(several, drawing.Grid)]
    tap.ok("a claim has the certificates of its own result", held == [1, 2, 1, 1], str(held))
    tap.ok("four results have a ledger", len(of_kind(several, drawing.Grid)) == 4)
    tap.ok("the others are counted", any("ledgers of 2 more results" in one.text for one in
                                         of_kind(several, drawing.Paragraph)))
    tap.ok("each finding leads to its ledger", [one.anchor for one in of_kind(several, drawing.Finding)] ==
           [grid.id for grid in of_kind(several, drawing.Grid)])


def trial(f, g, equality="no", width=(1.0, 1.0, 2.0, 2.0)):
    return {"result": ".", "max_f_lo": f[0], "max_f_hi": f[1], "max_g_lo": g[0], "max_g_hi": g[1], "equality": equality,
            **dict(zip(("width_f_lo", "width_f_hi", "width_g_lo", "width_g_hi"), width))}


def the_lemmas_trials():
    widths = [(3.0, 3.0, 1.0, 2.0), (5.0, 6.0, 3.0, 4.0), (1.0, 1.0, 2.0, 2.0), (1.0, 5.0, 2.0, 4.0), (2.0, 1.0, 0.0, 0.0)]
    made = [trial((None, None), (None, None), "yes" if i == 2 else "no", width) for i, width in enumerate(widths)]
    found, _ = ledger([claim("doubtful", "L3")], verify_lemma=made)
    texts = [one.text for one in of_kind(found, drawing.Paragraph)]
    tap.ok("no enclosure of maxima is said", "Lemma B.1: max|f| against max|g|: the table has no enclosures to draw." in
           texts, str(texts))
    one, = of_kind(found, drawing.Drawing)
    tap.ok("widths above are counted", one.caption == "2 of 4 trials with finite enclosures have the width of f above that of g, which contradicts "
           "L3 (verdict: doubtful). Not drawn: 1 row without a place.", one.caption)
    red = [series for series in one.series() if series.colour == "fails"]
    tap.ok("what contradicts the claim is red", len(red) == 1 and sorted(red[0].y.tolist()) == [3, 5.5])
    far = [trial((1e-3, 1e-3), (2e-3, 2e-3)), trial((1.7e308, 1.7e308), (1.7e308, 1.7e308), "yes"), trial((0.0, math.inf), (1, 1))]
    one = of_kind(ledger([claim()], verify_lemma=far)[0], drawing.Drawing)[0]
    tap.ok("sizes far apart are quotients on a log axis", one.x.kind == "log" and one.y.label == "max|f| / max|g|" and
           sorted(float(y) for series in one.series() for y in series.y[np.isfinite(series.y)]) == [0.5, 1.0])
    tap.ok("the lemma is upheld", one.caption == "0 of 2 trials with finite enclosures have max|f| above max|g|, as the lemma says; 1 trial has "
           "equality. Not drawn: 1 value of 1e150 or more in size; 1 row without a place.", one.caption)
    near = [trial((1.0, 1.0), (2.0, 2.0)), trial((3.0, 3.0), (2.0, 2.5))]
    one = of_kind(ledger([claim()], verify_lemma=near)[0], drawing.Drawing)[0]
    tap.ok("near ones are sizes beside the diagonal", one.x.kind == "linear" and one.panels[0].series[-1].name == "equal")
    tap.ok("one above contradicts the lemma", one.caption.startswith("1 of 2 trials has max|f| above max|g|, which "), one.caption)


def nothing_is_present_without_ids():
    tap.ok("a table without ids is none", not claims.SECTION.present(tables(verify_claims=[{"result": "."}])))
    found = list(compose.section_blocks(claims.SECTION, tables(verify_claims=[{"id": "X"}])))
    tap.ok("a table of ids alone has a ledger", found[1].cells == [("X", "(no statement)", "", "? not given")])


verdicts_have_colours_and_are_counted()
ids_are_unique()
relations_are_judged_by_the_enclosures()
ends_are_rounded_outwards()
what_a_row_opens_to()
curves_name_their_certificates()
figures_have_a_limit()
the_lemmas_trials()
nothing_is_present_without_ids()
tap.finish()
