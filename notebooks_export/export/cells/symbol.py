# needs one of: symbol_samples(theta, re), spectrum_samples(theta, re), checkpoint_samples(theta, re)
"""
## Symbols

The generating function over the angle, its real part as a line and, where it has one, its imaginary
part dashed; dotted lines are the certified minimum and maximum where the symbol is real. A truncated
symbol bounds the eigenvalues at its own order, a Fejer mean does not. The symbol of content, logits
or a trained head's position-position term is that of the Toeplitz part, which bounds nothing else.
With fewer samples than 2 N the line joins points of a curve that swings between them.
"""
name = next(name for name in ("symbol", "spectrum", "checkpoint") if len(table(name + "_samples")))
KEY = "result", "source", "layer", "head", "matrix", "n"
ranges = {key: part for key, part in split(table(name + "_range"), *KEY)}
curves = some(split(table(name + "_samples"), *KEY, "convention"), "symbols", 12)
figure, axes = panels(len(curves))
for axis, (key, part) in zip(axes, curves):
    part = part[np.argsort(numbers(part, "theta"), kind="stable")]
    theta, imaginary = numbers(part, "theta"), np.nan_to_num(numbers(part, "im"))
    axis.plot(theta, numbers(part, "re"), color=COLOURS[0], label="real part")
    if np.abs(imaginary).max(initial=0) > 0:
        axis.plot(theta, imaginary, "--", color=COLOURS[1], label="imaginary part")
    elif key[:6] in ranges:
        for end in ("min_lo", "max_hi"):
            value = numbers(ranges[key[:6]], end)[0]
            if np.isfinite(value):
                axis.axhline(value, color="0.4", linestyle=":", linewidth=1)
    axis.set(title=show(key[1], word("layer", key[2]), word("head", key[3]), key[4],
                        word("N =", key[5]), key[6]),
             xlabel="theta")
    bent(axis, numbers(part, "re"))
    legend(axis)
plt.show()
