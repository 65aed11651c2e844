# needs one of: reproduce_ablation(layer, head, drop), ablate_ablation(layer, head, drop)
"""
## Heads taken away one by one

How much test accuracy the model loses without one head, layer by layer: a point a head, over all
seeds, with the density of the points around it and a line at the median. A head that carries the
task stands far from its layer's median. Each way of taking a head away (`method`) has panels of its
own, named at their axes. One seed is a hint, not a finding.
"""
rows = table("reproduce_ablation", "ablate_ablation")
rows = rows[np.isfinite(numbers(rows, "head"))]  # without a head: all of the layer at once
models = some(split(rows, "experiment", "task", "encoding", "method"), "models")
figure, axes = panels(len(models))
for axis, ((*key, method), part) in zip(axes, models):
    for k, ((layer,), group) in enumerate(some(split(part, "layer"), "layers", 32)):
        drop = numbers(group, "drop")
        drop = drop[np.isfinite(drop)]
        if len(drop) > 2 and np.ptp(drop) > 0:
            violin = axis.violinplot(drop, [k], widths=0.8, showmedians=True, showextrema=False)
            violin["bodies"][0].set_facecolor(COLOURS[0])
            violin["cmedians"].set_color("black")
        spread = (np.arange(len(drop)) % 5 - 2) * 0.03
        axis.plot(k + spread, drop, ".", color=COLOURS[1], markersize=5)
        axis.axhline(0, color="0.6", linewidth=0.8)
    layers = [show(layer) for (layer,), _ in split(part, "layer")][:32]
    axis.set_xticks(range(len(layers)), layers)
    axis.set(title=show(*key), xlabel="layer",
             ylabel=show("drop of accuracy", word("method", method)))
plt.show()
