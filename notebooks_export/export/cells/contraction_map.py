# needs one of: train_contraction(step, layer, head, width_ratio), capture_contraction(step, layer, head, width_ratio), reproduce_contraction(step, layer, head, width_ratio)
"""
### Contraction, every head at once

The same ratios over the training steps, a line of the map a head, layer by layer; the two hues meet
at 1, where the encoding neither narrows nor widens the Hermitian part's spectrum.
"""
rows = table("train_contraction", "capture_contraction", "reproduce_contraction")
layer, head = numbers(rows, "layer"), numbers(rows, "head")
rows = rows[np.isfinite(layer) & np.isfinite(head) & np.isfinite(numbers(rows, "width_ratio"))]
maps = some(split(rows, "result", "run", "probe"), "runs", 4)
figure, axes = panels(len(maps))
for axis, (key, part) in zip(axes, maps):
    heads = some(sorted(split(part, "layer", "head"), key=lambda item: tuple(map(float, item[0]))),
                 "heads", 256)
    steps = np.unique(np.concatenate([numbers(line, "step") for _, line in heads]))
    matrix = np.full((len(heads), len(steps)), np.nan)
    for i, (_, line) in enumerate(heads):
        matrix[i, np.searchsorted(steps, numbers(line, "step"))] = numbers(line, "width_ratio")
    reach = max(1e-12, np.nanmax(np.abs(matrix - 1), initial=0))
    heat(axis, matrix, np.arange(len(heads)), steps, cmap="PuOr", vmin=1 - reach, vmax=1 + reach)
    names = [f"{show(name[0])}.{show(name[1])}" for name, _ in heads]
    at = np.unique(np.linspace(0, len(names) - 1, min(len(names), 16)).astype(int))
    axis.set_yticks(at, [names[i] for i in at])
    axis.set(title=show(*key[:2], word("probe", key[2])), xlabel="step", ylabel="layer.head")
plt.show()
