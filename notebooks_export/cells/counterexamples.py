# needs one of: verify_samples(id, theta, f, g)
"""
### Counterexamples

What the claim compares, as curves over theta: the two symbols f and g. Where a claim says that one
stays within the other's range, the dotted lines at the ends of f's range show by how much it does
not.
"""
curves = some(split(table("verify_samples"), "id", "note"), "counterexamples")
figure, axes = panels(len(curves))
for axis, (key, part) in zip(axes, curves):
    part = part[np.argsort(numbers(part, "theta"), kind="stable")]
    for i, name in enumerate(("f", "g")):
        axis.plot(numbers(part, "theta"), numbers(part, name), **style(2 * i), label=name)
    f = numbers(part, "f")
    if np.isfinite(f).any():
        for end in (np.nanmin(f), np.nanmax(f)):
            axis.axhline(end, color=COLOURS[0], linestyle=":", linewidth=1)
    axis.set(title=show(*key), xlabel="theta")
    legend(axis)
plt.show()
