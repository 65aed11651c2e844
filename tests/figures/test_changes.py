#!/usr/bin/python3
"""Changes between checkpoints and softmaxes: sentences against loops over the rows."""
from support import blocks, chance, drawings, drawing, np, tables, tap

from szego.figures import diff, softmax


def by_id(section, made):
    found = {}
    for one in drawings(section, made):
        found.setdefault(one.id, []).append(one)
    return found


def four(value):
    return f"{float(f'{value:.4g}'):g}"


# ---- Changes ----

def change_rows(steps, bases, **more):
    return [{"result": "r", "source": f"c-{step}", "base": base, "stack": None, "step": step, "layer": layer, "head": head,
             "change": chance.uniform(1, 2), "d3": 0.5, "qk_stable_rank": 2.0, "qk_entropy": 1.0,
             "left_angle_1": chance.random(), "right_angle_1": chance.random(), **more}
            for step, base in zip(steps, bases) for layer in range(2) for head in range(6)]


def a_series_is_drawn_by_step():
    rows = change_rows((10, 20, 30), ["first"] * 3)
    rows[0]["change"], rows[-1]["change"] = None, 90.0
    rows.append({**rows[0], "layer": None, "head": None})
    found = by_id(diff.SECTION, tables(diff_diff=rows))
    at = {step: [row["change"] for row in rows if row["step"] == step and row["change"] is not None] for step in (10, 30)}
    text = (f"Against first: at step 30 the QK matrices have changed by {four(min(at[30]))} to {four(max(at[30]))} times their "
            f"norm, most in layer 1, head 5 ({four(min(at[10]))} to {four(max(at[10]))} at step 10). The greatest change is "
            "more than that of unrelated matrices of equal norm, 1.414; a head that stands out: layer 1 head 5.")
    one = found["diff-change"][0]
    tap.ok("the finding has both ends", one.findings[0].startswith(text), f"{one.findings[0]}\n{text}")
    tap.ok("the head that stands out is named", one.caption.endswith("a head that stands out: layer 1 head 5."), one.caption)
    tap.ok("no heat map of a series", set(found) == {"diff-change", "diff-second-order", "diff-stable", "diff-entropy",
                                                     "diff-left", "diff-right"}, str(set(found)))
    rows = change_rows((10, 20), ["first", None])
    tap.ok("bases that differ", by_id(diff.SECTION, tables(diff_diff=rows))["diff-change"][0].title.startswith(
        "Each against the one before: relative change"))


def series_without_a_place_are_counted():
    rows = [{**change_rows((step,), ["first"])[0], "layer": layer, "head": head, "change": 1 + 0.001 * head + layer / 100}
            for step in (10, 20) for layer in range(40) for head in range(32)]
    for row in rows:
        row["change"] = 50.0 if (row["layer"], row["head"], row["step"]) == (35, 7, 20) else row["change"]
    one = by_id(diff.SECTION, tables(diff_diff=rows))["diff-change"][0]
    tap.ok("256 of 1280 heads are drawn, and all are counted", len(one.series()) == 256 and
           "changed by 1 to 50 times their norm, most in layer 35, head 7 (1 to 1.421 at step 10)" in one.findings[0], one.findings[0])
    tap.ok("what stands out is drawn", [of.name for of in one.series() if of.stands_out] == ["layer 35, head 7"] and
           one.caption.startswith("The greatest value of each series lies between 1 (layer 0, head 0) and 50 (layer 35, "
                                  "head 7); a head that stands out: layer 35 head 7."), one.caption)
    tap.ok("the caption is short, the legend counts what is drawn", len(one.caption) < 700 and "1024" not in one.caption
           and one.caption.endswith(" more.") and [of.entry for of in one.series() if of.entry] == ["255 others"],
           one.caption)


def a_pair_is_a_map():
    for step in (None, 10):
        rows = change_rows((step,), ["dir/$base"])
        found = by_id(diff.SECTION, tables(diff_diff=rows))
        tap.ok(f"heat maps of a pair at step {step}", set(found) == {"diff-change-map", "diff-left-map", "diff-right-map"})
    values = [row["change"] for row in rows]
    least = rows[int(np.argmin(values))]
    text = f"change of the QK matrix {four(min(values))} to {four(max(values))} over 12 heads (smallest in " \
           f"layer {least['layer']}, head {least['head']}; "
    one = found["diff-change-map"][0]
    tap.ok("its finding", text in one.findings[0] and one.findings[0].startswith("c-10 against $base: "), one.findings[0])
    tap.ok("one row", "in the one head" in by_id(diff.SECTION, tables(diff_diff=rows[:1]))["diff-change-map"][0].findings[0])
    rows = change_rows((10,), ["x"], stack="encoder") + change_rows((10,), ["x"], stack="decoder")
    tap.ok("a figure a stack", len(by_id(diff.SECTION, tables(diff_diff=rows))["diff-change-map"]) == 2)


# ---- Softmax ----

def softmax_rows(steps=(0, 10), **more):
    return [{"result": "r", "source": "s", "matrix": "logits", "step": step, "layer": layer, "head": head, "probe": probe,
             "n": 5 + probe, "mask": "causal", "entropy_normalised": chance.uniform(0.5, 1), "first_share": chance.random(),
             "largest_logit": 1e300 if head == 1 else 2.0, **more}
            for step in steps for layer in range(2) for head in range(5) for probe in range(2)]


def even_weights():
    """Weights that are all equal, summed by loops over queries and keys."""
    for mask in ("causal", "none"):
        rows = softmax_rows(mask=mask)
        one = by_id(softmax.SECTION, tables(logits_statistics=rows))["softmax-entropy"][0]
        last = [row for row in rows if row["step"] == 10]
        even = np.mean([np.mean([1 / (i + 1 if mask == "causal" else row["n"]) for i in range(1, row["n"])])
                        for row in last])
        text = (f"The first token gets {four(np.mean([row['first_share'] for row in last]))} of the weight on average; even "
                f"weights would give it {four(even)}.")
        tap.ok(f"the first token's weight, mask {mask}", one.findings[0].endswith(text), f"{one.findings[0]}\n{text}")
    one = by_id(softmax.SECTION, tables(logits_statistics=softmax_rows(mask="window")))["softmax-entropy"][0]
    tap.ok("of another mask no even weight is told", "even weights" not in one.findings[0])


def softmax_figures():
    rows = softmax_rows()
    found = by_id(softmax.SECTION, tables(logits_statistics=rows))
    tap.ok("maps, and courses of several steps", set(found) == {
        "softmax-entropy", "softmax-first", "softmax-largest", "softmax-entropy-course", "softmax-largest-course"},
        str(set(found)))
    last = [np.mean([row["entropy_normalised"] for row in rows if (row["step"], row["layer"], row["head"]) ==
                     (10, layer, head)]) for layer in range(2) for head in range(5)]
    tap.ok("maps are of the last step", np.allclose(found["softmax-entropy"][0].cells.value.ravel(), last, rtol=1e-14))
    single = by_id(softmax.SECTION, tables(logits_statistics=softmax_rows((3,))))
    tap.ok("one step is no course", "softmax-entropy-course" not in single)
    found = by_id(softmax.SECTION, tables(logits_statistics=[{**row, "layer": None} for row in softmax_rows((3,))]))
    tap.ok("files without a layer are points", set(found) == {"softmax-heads"} and
           [one.name for one in found["softmax-heads"][0].series()] == ["entropy over its maximum",
                                                                       "weight of the first token"])
    tap.ok("a missing column is told", any(
        isinstance(one, drawing.Paragraph) and "entropies are not drawn" in one.text
        for one in blocks(softmax.SECTION, tables(logits_statistics=[{"result": "r", "layer": 0, "head": 0}]))))


a_series_is_drawn_by_step()
series_without_a_place_are_counted()
a_pair_is_a_map()
even_weights()
softmax_figures()
tap.finish()
