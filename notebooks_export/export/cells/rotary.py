# needs one of: checkpoint_frequencies(layer, theta, energy)
"""
## Rotary energy by frequency

How much of each head's coupling sits in which rotary frequency: squared norm of the pair's 2 x 2
block, summed over a layer's heads, as a share of the layer. Low frequencies, on the left, turn slowly.
"""
rows = table("checkpoint_frequencies")
rows = rows[numbers(rows, "theta") > 0]
models = some(split(rows, "result", "source"), "checkpoints", 4)
figure, axes = panels(len(models))
for axis, (key, part) in zip(axes, models):
    for i, ((layer,), group) in enumerate(some(split(part, "layer"), "layers", 16)):
        theta, pair = np.unique(numbers(group, "theta"), return_inverse=True)
        energy = np.bincount(pair, np.nan_to_num(numbers(group, "energy")))
        axis.plot(theta, energy / max(energy.sum(), 1e-300), marker=".", **style(i),
                  label=show(word("layer", layer)))
    axis.set_xscale("log")
    axis.set(title=show(*key), xlabel="theta", ylabel="share of the layer's energy")
    legend(axis)
if not models:
    plt.close(figure)
plt.show()
