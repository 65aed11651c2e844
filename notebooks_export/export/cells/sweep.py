# needs one of: reproduce_sweep(rotated_heads, accuracy)
"""
## Accuracy against the number of rotated heads

The first k heads of every layer rotate, the others have no position: k = 0 is `nope`, all heads is
`rope`. Bars are standard deviations over seeds.
"""
rows = table("reproduce_sweep")
figure, (axis,) = panels(1)
for i, (key, part) in enumerate(some(split(rows, "experiment", "task"), "lines")):
    part = part[np.argsort(numbers(part, "rotated_heads"), kind="stable")]
    axis.errorbar(numbers(part, "rotated_heads"), numbers(part, "accuracy"),
                  np.nan_to_num(np.abs(numbers(part, "spread"))), marker="o", capsize=3, **style(i),
                  label=show(*key))
axis.set(xlabel="heads that rotate", ylabel="test accuracy")
legend(axis)
plt.show()
