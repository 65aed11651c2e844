#!/usr/bin/python3
"""Relations of two numbers: sentences, intervals and centred runs against those made apart."""
import statistics

from support import drawing, found_in, np, tap, texts_of

from szego.figures import relations

FIRST = {"result": "rep", "relation": "R", "x": "contraction", "x_layer": None, "x_step": 0, "y": "accuracy",
         "y_layer": None, "y_step": None}
SECOND = {**FIRST, "relation": "S", "x": "curvature", "x_step": None, "y": "index", "y_layer": 1}


def row(base, kind, arms, failed, missing, correlation, lo, hi, statement):
    return {**base, "kind": kind, "arms": arms, "failed": failed, "missing": missing, "correlation": correlation, "lo": lo,
            "hi": hi, "statement": statement}


RELATIONS = [row(FIRST, "between", 4, 1, 2, -0.5, -0.9, 0.25, "Negative: <it>."),
             row(FIRST, "within", 2, 1, 0, 0.75, 0.5, 0.875, "Negative: <it>."),
             row(SECOND, "between", 0, 0, 8, None, None, None, "Is it $so?"),
             row(SECOND, "within", 0, 0, 8, None, None, None, "Is it $so?"),
             row({**FIRST, "relation": "T"}, "between", 5, 0, 0, -0.9, -0.95, -0.5, "Below 0.")]
ARMS = [{**FIRST, "arm": arm, "runs": runs, "x_mean": x[0], "x_lo": x[1], "x_hi": x[2], "y_mean": y[0], "y_lo": y[1],
         "y_hi": y[2]} for arm, runs, x, y in (
             ("e/rope", 3, (0.9, 0.8, 1.0), (0.95, 0.9, 1.0)), ("e/nope", 3, (1.0, 1.0, 1.0), (0.2, 0.1, 0.3)),
             ("e/alibi", 1, (3.0, None, None), (0.5, None, None)), ("e/t5", 2, (20.0, 10.0, 30.0), (0.6, 0.5, 0.7)),
             ("e/none", 0, (None, None, None), (None, None, None)))]
RUNS = [{**FIRST, "arm": arm, "seed": seed, "x_value": x, "y_value": y} for arm, seed, x, y in (
    ("e/rope", 1, 0.8, 0.9), ("e/rope", 2, 0.9, 0.95), ("e/rope", 3, 1.0, 1.0), ("e/nope", 1, 1.0, 0.2),
    ("e/nope", 2, 1.0, 0.1), ("e/t5", 1, 10.0, 0.5), ("e/t5", 2, 30.0, 0.7), ("e/t5", 3, None, 0.7), ("e/one", 1, 1.0, 1.0),
    ("e/same", 1, 1.0, 1.0), ("e/same", 2, 1 + 1e-9, 2.0))]


def each_relation_has_a_sentence():
    found, drawn = found_in(relations.SECTION, reproduce_relations=RELATIONS, reproduce_relation_arms=ARMS)
    tap.ok("between arms", drawn[0].caption == "Negative: <it>. Exploratory. Between 4 arms the correlation is negative: −0.5,"
           " 95% interval [−0.9, 0.25], which contains 0; 1 run lacks a number; 2 runs are not finished.", drawn[0].caption)
    tap.ok("one without an arm has a sentence alone", "S: Is it $so? Exploratory. Between 0 arms no correlation is computed: it takes two at least; 8 "
           "runs are not finished." in texts_of(found, drawing.Paragraph), str(texts_of(found, drawing.Paragraph)))
    tap.ok("intervals without 0 are counted, and what chance gives", texts_of(found, drawing.Finding) == [
        "Relations, exploratory: of 5 correlations 3 have a 95% interval, and 2 of these do not contain 0; if all were 0, "
        "about 1 in 20 would not."], str(texts_of(found, drawing.Finding)))
    tap.ok("every relation is listed", [len(one.rows) for one in found if isinstance(one, drawing.Listing)] == [5])


def arms_are_points_with_intervals():
    one = found_in(relations.SECTION, reproduce_relations=RELATIONS, reproduce_relation_arms=ARMS)[1][0]
    points = [series for series in one.series() if series.marks == "points"]
    across = [series for series in one.series() if series.marks == "line"]
    tap.ok("a point an arm that has means", [(series.name, float(series.x[0]), float(series.y[0])) for series in points] ==
           [("e/rope", 0.9, 0.95), ("e/nope", 1, 0.2), ("e/alibi", 3, 0.5), ("e/t5", 20, 0.6)])
    tap.ok("three have an interval along x, in the arm's colour", [(s.x.tolist(), s.y.tolist(), s.colour) for s in across] ==
           [([0.8, 1], [0.95, 0.95], 0), ([1, 1], [0.2, 0.2], 1), ([10, 30], [0.6, 0.6], 3)])
    tap.ok("and along y", [np.isfinite(series.lo[0]) for series in points] == [True, True, False, True])
    tap.ok("ratios are on a log axis, accuracies are not", (one.x.kind, one.y.kind) == ("log", "linear"))
    tap.ok("axes name what they show", (one.x.label, one.y.label) == ("ratio of widths, step 0", "accuracy"))
    one = found_in(relations.SECTION, reproduce_relation_arms=[{**SECOND, "arm": "a", "x_mean": 1.0, "y_mean": 2.0}])[1][0]
    tap.ok("means over steps say so", one.x.label == "curvature, mean of the early steps" or
           one.x.label.endswith("Hessian, mean of the early steps"), one.x.label)
    below = found_in(relations.SECTION, reproduce_relations=RELATIONS, reproduce_relation_arms=[{**ARMS[0], "relation": "T"}])[1][0]
    tap.ok("an interval below 0 does not contain it", below.caption == "Below 0. Exploratory. Between 5 arms the correlation is "
           "negative: −0.9, 95% interval [−0.95, −0.5], which does not contain 0.", below.caption)
    tap.ok("arms alone say so", one.caption == "The table of relations does not have this one.")


def runs_are_centred_in_their_arms():
    one, = found_in(relations.SECTION, reproduce_relations=RELATIONS, reproduce_relation_runs=RUNS)[1]
    made = {series.name: (series.x, series.y) for series in one.series()}
    right = set(made) == {"e/rope", "e/t5"}
    for name, parts in made.items():
        for values, column in zip(parts, ("x_value", "y_value")):
            own = [run[column] for run in RUNS if run["arm"] == name and run["x_value"] is not None]
            right &= np.allclose(values, [(v - statistics.fmean(own)) / statistics.stdev(own) for v in own])
    tap.ok("in units of the arm's deviation", right)
    tap.ok("axes name what they show", [one.x.label, one.y.label] == [
        f"{name} (standard deviations from the arm's mean)" for name in ("ratio of widths, step 0", "accuracy")], one.x.label)
    few = texts_of(found_in(relations.SECTION, reproduce_relations=RELATIONS[2:4])[0], drawing.Finding)
    tap.ok("no interval is said", few == ["Relations, exploratory: of 2 correlations none has a 95% interval."], str(few))
    tap.ok("arms that do not vary are named", one.caption.endswith("Not drawn, because a number does not vary: e/nope, "
                                                                 "e/one, e/same."), one.caption)
    tap.ok("within arms", "Within 2 arms the correlation is positive: 0.75, 95% interval [0.5, 0.875], which does not contain "
           "0; 1 run lacks a number." in one.caption, one.caption)
    found, drawn = found_in(relations.SECTION, reproduce_relations=RELATIONS, reproduce_relation_runs=RUNS[3:5])
    tap.ok("a relation whose runs never vary is named", not drawn and "Not drawn, because in no arm both numbers vary: R: "
           "accuracy over ratio of widths, step 0." in texts_of(found, drawing.Paragraph), str(texts_of(found, drawing.Paragraph)))
    far = [{**run, "x_value": x} for run, x in zip(RUNS[:3], (0.0, 1e300, 0.5e300))]
    one = found_in(relations.SECTION, reproduce_relations=RELATIONS, reproduce_relation_runs=far)[1]
    tap.ok("numbers of any size are centred", len(one) == 1 and np.allclose(one[0].series()[0].x, [-1, 1, 0]))


each_relation_has_a_sentence()
arms_are_points_with_intervals()
runs_are_centred_in_their_arms()
tap.finish()
