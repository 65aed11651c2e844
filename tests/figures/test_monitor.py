#!/usr/bin/python3
"""Attention while a model trains: what is largest at each step, what passes the threshold and when, and the words."""
from support import SEED, blocks, chance, drawing, np, tables, tap, texts_of

from szego.figures import monitor

BOUND_OF = "input-norm, bfloat16"


def row(step, layer, head, most, bound, least=-1.0, threshold=100.0, result="run", **more):
    """A row as the monitor writes it."""
    seen = None if most is None else max(abs(most), abs(least))
    return {"result": result, "step": step, "rank": 0, "layer": layer, "head": head, "largest_logit": most,
            "smallest_logit": least if most is not None else None, "bound": bound,
            "bound_of": BOUND_OF if bound is not None else "no bound: ALiBi has none", "threshold": threshold,
            "headroom": threshold / bound if bound else None, "headroom_seen": threshold / seen if seen else None,
            "entropy_min": 0.5, **more}


def drawn(rows):
    """{id: drawing} of the section, and its sentences."""
    found = blocks(monitor.SECTION, tables(monitor_monitor=rows))
    return {one.id: one for one in found if isinstance(one, drawing.Drawing)}, texts_of(found, drawing.Paragraph)


def run(sizes, bounds, steps=(0, 100, 200)):
    """One head of two carries these; the other has small ones."""
    return [row(step, 0, head, size if head else 1.0, bound if head else 2.0)
            for step, size, bound in zip(steps, sizes, bounds) for head in (0, 1)]


def captions_answer_the_question():
    for name, rows, want in (
            ("nothing comes near", run((2, 3, 4.0), (5, 6, 8.0)),
             "With the weights of the observed steps no input takes a head beyond the threshold of 100. Largest modulus of a "
             "logit: proved at most 8 (layer 0 head 1, step 200), a headroom of 12.5; seen 4 (layer 0 head 1, step 200), a "
             "headroom of 25. The proved headroom was 20 at step 0 and 12.5 at step 200."),
            ("the proof is lost", run((2, 3, 4.0), (5, 200, 800.0)),
             "No head exceeded the threshold of 100 at an observed step, but the weights stopped excluding it at step 100 "
             "(layer 0 head 1). Largest modulus of a logit: proved at most 800 (layer 0 head 1, step 200), a headroom of "
             "0.125; seen 4 (layer 0 head 1, step 200), a headroom of 25. The proved headroom was 20 at step 0 and 0.125 at "
             "step 200."),
            ("it is exceeded", run((2, 3, 400.0), (5, 200, 800.0)),
             "Layer 0 head 1 exceeded the threshold of 100 at step 200. The weights stopped excluding it at step 100, 100 "
             "steps before. Largest modulus of a logit: proved at most 800 (layer 0 head 1, step 200), a headroom of 0.125; "
             "seen 400 (layer 0 head 1, step 200), a headroom of 0.25. The proved headroom was 20 at step 0 and 0.125 at "
             "step 200."),
            ("both at once", run((2, 300, 3.0), (5, 400, 5.0)),
             "Layer 0 head 1 exceeded the threshold of 100 at step 100. The weights stopped excluding it at the same step. "
             "Largest modulus of a logit: proved at most 400 (layer 0 head 1, step 100), a headroom of 0.25; seen 300 "
             "(layer 0 head 1, step 100), a headroom of 0.3333. The proved headroom was 20 at step 0 and 20 at step 200."),
            ("a head lacks a bound", run((2, 3, 4.0), (5, None, 8.0)),
             "With the weights of the observed steps no input takes a head that has a bound beyond the threshold of 100. "
             "Largest modulus of a logit: proved at most 8 (layer 0 head 1, step 200), a headroom of 12.5; seen 4 (layer 0 "
             "head 1, step 200), a headroom of 25. The proved headroom was 20 at step 0 and 12.5 at step 200. 1 of 2 heads "
             "has no bound at some step (ALiBi has none)."),
            ("a logit is not a number", run((2, np.nan, 4.0), (5, 200, 8.0)),
             "Layer 0 head 1 had logits that are not finite at step 100. The weights stopped excluding it at the same step. "
             "Largest modulus of a logit: proved at most 200 (layer 0 head 1, step 100), a headroom of 0.5; not finite "
             "(layer 0 head 1, step 100). The proved headroom was 20 at step 0 and 12.5 at step 200. Not drawn: 1 value that "
             "is not finite."),
            ("the weights are infinite", run((2, 3, 4.0), (5, 6, np.inf)),
             "No head exceeded the threshold of 100 at an observed step, but the weights stopped excluding it at step 200 "
             "(layer 0 head 1). Largest modulus of a logit: not bounded (layer 0 head 1, step 200); seen "
             "4 (layer 0 head 1, step 200), a headroom of 25. The proved headroom was 20 at step 0 and 0 at step 200.")):
        got = drawn(rows)[0]["monitor-headroom"].caption
        tap.ok(f"words: {name}", got == want, got)


def assumptions_are_said():
    rows = run((2, 3), (5, 6), (0, 100))
    for one in rows:
        one["bound_of"] += "; assumed: LayerNorm subtracts the exact mean"
    assumed = drawn(rows)[0]["monitor-headroom"].caption
    tap.ok("words: what a proof assumes", "The proof assumes that LayerNorm subtracts the exact mean." in assumed, assumed)


def nothing_is_proved_without_bounds():
    rows = [row(step, 0, head, 3.0, None) for step in (0, 10) for head in (0, 1)]
    found, _ = drawn(rows)
    want = ("No head exceeded the threshold of 100 at an observed step. Nothing is proved. Largest modulus of a logit: seen 3 "
            "(layer 0 head 1, step 0), a headroom of 33.33. 2 of 2 heads have no bound at some step (ALiBi has none).")
    got = found["monitor-headroom"].caption
    tap.ok("words without a bound", got == want, got)
    tap.ok("one line, and the threshold", [one.name for one in found["monitor-headroom"].series()] == ["largest logit seen"]
           and found["monitor-headroom"].panels[0].rules[0].at == 100)
    tap.ok("no map of bounds", "monitor-map" not in found and "monitor-bound" not in found, str(list(found)))


def lines_are_the_largest_of_all_heads():
    """Against maxima over plain lists, with negative logits, empty cells and rows without a head."""
    steps, want, rows = range(0, 70, 10), {}, []
    for step in steps:
        for layer in range(3):
            for head in range(4):
                most, least = chance.choice((0.0, chance.uniform(-9, 9))), chance.uniform(-20, -10)
                bound = None if chance.random() < 0.2 else chance.uniform(20, 90)
                rows.append(row(step, layer, head, most, bound, least))
                for name, value in (("bound", bound), ("seen", max(abs(most), abs(least)))):
                    if value is not None:
                        want[name, step] = max(want.get((name, step), 0), value)
        rows.append({**row(step, 3, 0, None, None), "head": None, "seen": "not observed"})
    chance.shuffle(rows)
    one = drawn(rows)[0]["monitor-headroom"]
    for series, name in zip(one.series(), ("bound", "seen")):
        tap.ok(f"the line of {name}", series.x.tolist() == list(steps) and
               series.y.tolist() == [want[name, step] for step in steps], f"seed {SEED}: {series.y}")
        places = [(f"{rows[i]['layer']}.{rows[i]['head']}") for step in steps for i in range(len(rows))
                  if rows[i]["step"] == step and rows[i]["head"] is not None and
                  want[name, step] in (rows[i]["bound"] if name == "bound" else abs(rows[i]["smallest_logit"] or 0),)]
        tap.ok(f"the head of {name}", series.head == places, f"seed {SEED}: {series.head} {places}")


def proofs_are_rounded_outwards():
    value = 100 / 3  # 33.333... as a bound is 33.34, and the headroom 2.999...
    found, _ = drawn([row(0, 0, 0, 1.0, np.nextafter(value, 100))])
    text = found["monitor-headroom"].caption
    tap.ok("a bound is rounded up, its headroom down", "proved at most 33.34 " in text and "a headroom of 2.999;" in text, text)
    text = found["monitor-map"].caption
    tap.ok("the map's least headroom too",
           text == "Least headroom: 2.999 in layer 0 head 0, at step 0. Below 1 in 0 of 1 head.", text)
    tap.ok("one step is no course", set(found) == {"monitor-headroom", "monitor-map"}, str(list(found)))


def processes_of_a_run_are_one_figure():
    """Folders rank-0 and rank-1 hold other heads, or the same heads with other tokens."""
    rows = [row(step, 0, head, float(size), 50.0, result=f"a/rank-{rank}") for step in (0, 10)
            for rank, head, size in ((0, 0, 2), (1, 0, 4), (1, 1, 8))]
    rows += [row(step, 0, 0, 30.0, 60.0, result="b") for step in (0, 10)]
    found = blocks(monitor.SECTION, tables(monitor_monitor=rows))
    made = [one for one in found if isinstance(one, drawing.Drawing)]
    titles = [one.title for one in made if one.id == "monitor-headroom"]
    tap.ok("a figure for each run", titles == ["a: largest logit of all heads", "b: largest logit of all heads"], str(titles))
    course = next(one for one in made if one.id == "monitor-largest")
    tap.ok("a head of two processes is one line, from the least to the greatest",
           [(one.name, one.y.tolist()) for one in course.series()] == [("head 0", [3.0, 3.0]), ("head 1", [8.0, 8.0])] and
           course.series()[0].lo.tolist() == [2.0, 2.0], str([(one.name, one.y) for one in course.series()]))


def thresholds_are_not_mixed():
    rows = [row(step, 0, 0, 3.0, 50.0, threshold=limit) for step, limit in ((0, 100.0), (10, 40.0))]
    found = blocks(monitor.SECTION, tables(monitor_monitor=rows))
    texts = [one.caption for one in found if isinstance(one, drawing.Drawing) and one.id == "monitor-headroom"]
    tap.ok("each threshold has its figure", len(texts) == 2 and "takes a head beyond the threshold of 100" in texts[0] and
           "stopped excluding it at step 10" in texts[1], str(texts))


def findings_name_the_run():
    found, texts = drawn(run((2, 3, 4.0), (5, 6, 8.0)))
    want = "Run: with the weights of the observed steps no input takes a head beyond the threshold of 100. Largest"
    tap.ok("the finding", found["monitor-headroom"].findings[0].startswith(want), str(found["monitor-headroom"].findings))
    tap.ok("the other figures have none", not any(one.findings for name, one in found.items() if name != "monitor-headroom"))
    tap.ok("the section says what a headroom is", "The threshold divided by the bound is the proved headroom" in texts[0])


captions_answer_the_question()
assumptions_are_said()
nothing_is_proved_without_bounds()
lines_are_the_largest_of_all_heads()
proofs_are_rounded_outwards()
processes_of_a_run_are_one_figure()
thresholds_are_not_mixed()
findings_name_the_run()
tap.finish()
