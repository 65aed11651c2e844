# needs one of: train_contraction(step, layer, head, width_ratio), capture_contraction(step, layer, head, width_ratio), logits_contraction(layer, head, width_ratio), reproduce_contraction(step, layer, head, width_ratio), spectrum_contraction(width_ratio)
"""
## Contraction ratios

Width of the logits' eigenvalues with the positional encoding over that without it (the Hermitian
parts; `width_ratio`), a line a head. Below 1 the encoding narrows them. A rotary encoding cannot
widen them where all frequencies share one content matrix (claim B3c); in trained heads they do not.
With `content_kind` zeroed the content has queries and keys of its own.
"""
rows = table("train_contraction", "capture_contraction", "logits_contraction",
             "reproduce_contraction", "spectrum_contraction")
rows = rows[np.isfinite(numbers(rows, "width_ratio"))]
runs = some(split(rows, "result", "run", "source", "probe", "layer"), "panels")
figure, axes = panels(len(runs))
for axis, (key, part) in zip(axes, runs):
    steps = numbers(part, "step")
    x = "step" if len(np.unique(steps[np.isfinite(steps)])) > 1 else "head"
    lines = split(part, "head") if x == "step" else [(("",), part)]
    for i, ((head,), line) in enumerate(some(lines, "heads", 16)):
        line = line[np.argsort(numbers(line, x), kind="stable")]
        at = numbers(line, x)
        at = at if np.isfinite(at).any() else np.arange(len(line))
        axis.plot(at, numbers(line, "width_ratio"), marker=".", **style(i),
                  label=show(word("head", head)) if head else None)
    axis.axhline(1, color="0.4", linewidth=0.8)
    axis.set(title=show(*key[:3], word("probe", key[3]), word("layer", key[4])),
             xlabel=x, ylabel="width ratio")
    legend(axis)
plt.show()
