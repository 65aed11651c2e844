#!/usr/bin/python3
"""Hypotheses and arms: sentences, means and counts against those made apart."""
import csv
import math
import os
import re
import statistics

from support import chance, drawing, found_in, np, tap, texts_of, typed

from szego.figures import inference, mechanism

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
H = ("hypothesis", "primary", "measure", "layer", "arm", "minus", "seeds", "pairs", "failed", "missing", "difference",
     "t_low", "t_high", "p", "p_holm", "decision", "statement")
P = ("hypothesis", "measure", "layer", "arm", "minus", "seed", "arm_value", "minus_value", "difference")


def rows(columns, cells):
    return [{"result": "rep", **dict(zip(columns, row))} for row in cells]


HYPOTHESES = rows(H, (
    ("H1", "yes", "index", 0, "e/rope", "e/nope|e/t5", 4, 3, 1, 0, 0.25, -0.5, 1.0, 0.25, 0.75, "not decided", "It is larger."),
    ("H2", "yes", "rank_correlation", 1, "e/rope", None, 4, 0, 3, 1, None, None, None, None, None, "not complete",
     "It is above <$0>."),
    ("X", "no", "accuracy", None, "e/rope", "e/nope", 4, 4, 0, 0, 0.5, 0.4, 0.6, 0.125, None, "exploratory", "It learns.")))
PAIRS = rows(P, (("H1", "index", 0, "e/rope", "e/nope|e/t5", 1, 0.5, 0.5, 0.0),
                 ("H1", "index", 0, "e/rope", "e/nope|e/t5", 2, 0.7, 0.5, 0.2),
                 ("H1", "index", 0, "e/rope", "e/nope|e/t5", 3, None, 0.5, None),
                 ("H1", "index", 0, "e/rope", "e/nope|e/t5", 4, 0.95, 0.4, 0.55),
                 ("H2", "rank_correlation", 1, "e/rope", None, 1, None, None, None),
                 ("X", "accuracy", None, "e/rope", "e/nope", 1, 0.9, 0.4, 0.5)))


def each_hypothesis_has_a_sentence():
    found, drawn = found_in(mechanism.SECTION, reproduce_hypotheses=HYPOTHESES, reproduce_pairs=PAIRS)
    captions = {one.title.split(":")[0]: one.caption for one in drawn}
    tap.ok("a sentence a hypothesis", captions == {
        "H1": "It is larger. Result: not decided; mean 0.25 [−0.5, 1] over 3 seeds, p = 0.25, after Holm 0.75; 1 seed failed.",
        "X": "It learns. Result: exploratory; mean 0.5 [0.4, 0.6] over 4 seeds, p = 0.125."}, str(captions))
    tap.ok("one without a pair has a sentence alone", "H2: It is above <$0>. Result: not complete; no seed has a difference; "
           "3 seeds failed; 1 seed has not run." in texts_of(found, drawing.Paragraph))
    tap.ok("decisions are counted", texts_of(found, drawing.Finding) == [
        "Of 2 primary hypotheses, 1 is not decided, 1 is not complete."], str(texts_of(found, drawing.Finding)))
    only = texts_of(found_in(mechanism.SECTION, reproduce_hypotheses=HYPOTHESES[1:], reproduce_pairs=PAIRS)[0], drawing.Finding)
    tap.ok("one is named", only == ["The only primary hypothesis, H2, is not complete."], str(only))
    tap.ok("every hypothesis is listed", [len(one.rows) for one in found if isinstance(one, drawing.Listing)] == [3])


def seeds_are_points_beside_their_mean():
    one = found_in(mechanism.SECTION, reproduce_hypotheses=HYPOTHESES, reproduce_pairs=PAIRS)[1][0]
    seeds, mean = one.series()
    tap.ok("a point a seed", (seeds.x.tolist(), seeds.y.tolist()) == ([0.0, 0.2, 0.55], [0.0, 1.0, 2.0]))
    tap.ok("the mean has a place of its own", one.y.names == ["1", "2", "4", "mean, 95%"] and mean.y.tolist() == [3.0])
    tap.ok("with its interval along x", mean.flat and (mean.x[0], mean.lo[0], mean.hi[0]) == (0.25, -0.5, 1.0))
    tap.ok("a seed tells both numbers", "this arm: 0.95\nwhat is subtracted: 0.4" in seeds.hover[2], seeds.hover[2])
    tap.ok("the title names the arms", one.title.startswith("H1: deposit index of e/rope less e/nope|e/t5, layer 0"), one.title)
    one = found_in(mechanism.SECTION, reproduce_pairs=PAIRS, reproduce_arms=[{"arm": "x"}])[1][0]
    tap.ok("pairs alone say so", one.caption == "The table of hypotheses does not name this one."
           and len(one.series()) == 1)


def indices_are_beside_the_references():
    arms = [f"e/{i}" for i in range(4)]
    made = [{"result": "rep", "task": "distance", "seed": seed, "arm": arm, "layer": 0, "method": "output",
             "index": chance.choice([None, 1.0, chance.random(), chance.random()]), "dirichlet_mean": 0.52,
             "dirichlet_95": 0.77, "equal_95": chance.random()} for arm in arms for seed in range(6)]
    made[0]["index"] = 0.9
    made += [{**made[0], "arm": "e/far", "index": index} for index in (0.0, 1.0)]
    known = [row for row in made if row["index"] is not None]
    one, = found_in(mechanism.SECTION, reproduce_arms=made)[1]
    above = sum(row["index"] > 0.77 for row in known), sum(row["index"] > row["equal_95"] for row in known)
    verbs = ["exceeds" if count == 1 else "exceed" for count in above]
    tap.ok("indices above the references are counted", one.caption.startswith(
        f"Of {len(known)} indices, {above[0]} {verbs[0]} what uniform shares exceed in 5% (0.77; on average they give 0.52),"
        f" and {above[1]} {verbs[1]} what equal heads of the same run exceed in 5% (the mean of these limits is "), one.caption)
    tap.ok("the finding has equal heads first, and does not call uniform shares chance", one.findings[0].endswith(
        f": of {len(known)} deposit indices, {above[1]} {verbs[1]} what equal heads of the same run exceed in 5%; of "
        f"{len(known)}, {above[0]} {verbs[0]} what shares uniform on the simplex exceed in 5% (about "
        f"{float(f'{len(known) / 20:.4g}'):g} would if shares were so); "
        f"{len(made) - len(known)} runs have no index, because their drops are too small."), str(one.findings))
    others = [{**made[0], **more, "index": index} for more in ({"layer": 1}, {"method": "rotation"}, {"task": "count"})
              for index in (None, 0.5)]
    found = found_in(mechanism.SECTION, reproduce_arms=made + others)[1]
    tap.ok("runs without an index are counted apart by layer, method and task", len(found) == 4 and
           found[0].findings == one.findings, str(found[0].findings))
    bare = [{**row, "dirichlet_95": None, "equal_95": None} for row in made]
    bare = [one.findings for one in found_in(mechanism.SECTION, reproduce_arms=bare)[1]]
    tap.ok("without references nothing is found", bare == [[]], str(bare))
    tap.ok("nor does the section", "hance alone" not in mechanism.SECTION.intro)
    means, right = one.series()[1], True
    for place, arm in enumerate(one.y.names):
        values = [row["index"] for row in known if row["arm"] == arm]
        reach = math.nan
        if len(values) > 1:
            reach = {2: 12.706204736, 3: 4.30265273, 4: 3.182446305, 5: 2.776445105, 6: 2.570581836}[len(values)] * \
                statistics.stdev(values) / math.sqrt(len(values))
        middle = statistics.fmean(values)
        right &= np.allclose([means.x[place], means.lo[place], means.hi[place]],
                             [middle, max(middle - reach, 0) if reach == reach else math.nan,
                              min(middle + reach, 1) if reach == reach else math.nan], 1e-9, 1e-12, equal_nan=True)
    tap.ok("means of arms have Student's intervals, cut to what an index can be", right)
    tap.ok("the references have colours of their own", len({rule.colour for rule in one.panels[0].rules}) == 3)
    found, drawn = found_in(mechanism.SECTION, reproduce_arms=[{"arm": "x", "layer": 0}])
    tap.ok("a table without indices is said", not drawn and "The table reproduce_arms has no column of numbers index: the "
           "arms' indices are not drawn." in texts_of(found, drawing.Paragraph), str(texts_of(found, drawing.Paragraph)))


def intervals_of_few_numbers():
    tap.ok("none and one have no interval", all(math.isnan(v) for v in inference.mean_interval(np.zeros(0)))
           and inference.mean_interval(np.ones(1))[0] == 1 and math.isnan(inference.mean_interval(np.ones(1))[1]))
    quantiles = {1: 12.7062047362, 2: 4.30265272991, 9: 2.26215716280, 30: 2.04227245630, 200: 1.97189622363}
    tap.ok("quantiles are those of tables", all(abs(inference.student_quantile(n) / q - 1) < 1e-9
                                               for n, q in quantiles.items()))


def recorded(table):
    """A table of the recorded runs of `mechanism`, as rows."""
    path = os.path.join(ROOT, "docs/reference/mechanism-results/mechanism", f"{table}.csv")
    texts = {"hypothesis", "primary", "measure", "arm", "minus", "decision", "statement", "note", "run", "encoding", "task",
             "experiment", "method"}
    with open(path, encoding="utf-8", newline="") as file:
        return [{"result": "rep", **{name: None if cell == "" else cell if name in texts else float(cell)
                                     for name, cell in row.items()}} for row in csv.DictReader(file)]


def later_claims_are_told_from_the_record():
    hypotheses, arms = recorded("hypotheses"), recorded("arms")
    found, _ = found_in(mechanism.SECTION, reproduce_hypotheses=hypotheses, reproduce_arms=arms)
    told = {text[:2]: text for text in texts_of(found, drawing.Paragraph) if re.match("C[123], that ", text)}
    asked = {"C1": "E5 E9 E10", "C2": "H1 H2 H3 H4 E11 E12 E13 E14", "C3": "H5 H6 E1 E4 E6"}
    tap.ok("each claim", list(told) == list(asked) and "Claims of the paper's later version" in
           texts_of(found, drawing.Heading), str(told))
    for claim, names in asked.items():
        tap.ok(f"{claim} quotes its differences", re.findall(r"([HE]\d+): ", told[claim]) == names.split(), told[claim])
        for row in hypotheses:
            if row["hypothesis"] in names.split() and row["difference"] is not None:
                tap.ok(f"{row['hypothesis']}: mean", f"mean {float(format(row['difference'], '.4g')):g}" in typed(told[claim]), told[claim])
    worst = {(row["arm"], row["seed"]): row["worst_head"] for row in arms if row["layer"] == 0 and row["method"] == "output"}
    for held in ("still/rope", "still-other/rope", "frozen/rope", "frozen-other/rope"):
        same = [worst[held, seed] == worst["rope/rope", seed] for arm, seed in worst if arm == held]
        tap.ok(f"winners of {held}", f"{held}: RoPE's worst head is the worst again in {sum(same)} of {len(same)} seeds"
               in told["C3"], told["C3"])
    found, _ = found_in(mechanism.SECTION, reproduce_hypotheses=HYPOTHESES, reproduce_pairs=PAIRS)
    tap.ok("another preset's runs tell none", not any("that RoPE" in text for text in texts_of(found, drawing.Paragraph)))


each_hypothesis_has_a_sentence()
later_claims_are_told_from_the_record()
seeds_are_points_beside_their_mean()
indices_are_beside_the_references()
intervals_of_few_numbers()
tap.finish()
