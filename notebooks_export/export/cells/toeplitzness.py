# needs one of: checkpoint_summary(layer, head, toeplitzness)
"""
## Toeplitzness of a checkpoint

How much of each head's position-position term depends on the distance alone: the share of its
squared Frobenius norm that the means along diagonals carry, layer by head. 1 is a Toeplitz matrix.
"""
rows = table("checkpoint_summary")
rows = rows[np.isfinite(numbers(rows, "toeplitzness"))]
maps = some(split(rows, "result", "source", "matrix"), "matrices", 4)
figure, axes = panels(len(maps))
for axis, (key, part) in zip(axes, maps):
    layers, heads, matrix = grid(part, "layer", "head", "toeplitzness")
    if matrix.size:
        heat(axis, matrix, layers, heads, cmap="cividis", vmin=0, vmax=1)
    axis.set(title=show(*key[1:]), xlabel="head", ylabel="layer")
if not maps:
    plt.close(figure)
    print("No head of this checkpoint has a position-position term of its own.")
plt.show()
