# needs one of: verify_samples(id, theta, f, g)
"""
### Counterexamples

Lemma B.1's polynomials f(t) = sum 2 w_i cos(i theta_i + i t) and g, where every theta_i is 0; the
column `theta` is t. Dotted lines stand at the ends of f's range among these samples; what is
certified stands in `verify_certificates`, where `certificate` counts the rows of the same `id`.
"""
curves = []
for (claim, _), part in split(table("verify_samples"), "id", "certificate"):
    again = np.flatnonzero(np.diff(numbers(part, "theta")) < 0) + 1  # of several results
    curves += [((claim, texts(one, "note")[0]), one) for one in np.split(part, again)]
curves = some(curves, "counterexamples", 24)
figure, axes = panels(len(curves))
for axis, (key, part) in zip(axes, curves):
    for i, name in enumerate(("f", "g")):
        axis.plot(numbers(part, "theta"), numbers(part, name), **style(2 * i), label=name)
    f = numbers(part, "f")
    if np.isfinite(f).any():
        for end in (np.nanmin(f), np.nanmax(f)):
            axis.axhline(end, color=COLOURS[0], linestyle=":", linewidth=1)
    axis.set(title=show(*key), xlabel="t")
    legend(axis)
plt.show()
