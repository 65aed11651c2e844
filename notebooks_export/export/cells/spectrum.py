# needs one of: spectrum_eigenvalues(source, kind, re)
"""
## Eigenvalues over the symbol's quantiles

Sorted eigenvalues of the matrix, as points, over the sorted samples of the truncated symbol, as a
line, where the symbol is real. The band is the symbol's certified range, drawn where it bounds the
eigenvalues (`bound_of`): no eigenvalue of a Hermitian Toeplitz matrix lies outside. The range of a
complex symbol's modulus, or of the Toeplitz part of content and logits, is no such bound. As the
order grows, the points follow the line as far as a limit theorem applies (see `theorem` in
`spectrum_summary`); with `--part ratio` they are eigenvalues of Hermitian parts (see `values_of`).
"""
rows, samples, ranges = (table("spectrum_" + name) for name in ("eigenvalues", "samples", "range"))
KEY = "result", "source", "head", "matrix", "n"
rows = where(rows, "kind", "eigenvalue")
rows = rows[np.isfinite(numbers(rows, "re"))]
symbols = {key: part for key, part in split(samples, *KEY)}
certified = {key: part for key, part in split(ranges, *KEY)}
turn, matrices = {}, []
for key, part in split(rows, *KEY):  # the first head of every source before the second of any
    turn[key[:2]] = turn.get(key[:2], 0) + 1
    matrices.append((turn[key[:2]], key, part))
matrices = some([item[1:] for item in sorted(matrices, key=lambda item: item[0])], "spectra", 12)
figure, axes = panels(len(matrices))
if not matrices:
    plt.close(figure)
    print("No eigenvalues of a spectrum are in the arrays.")
for axis, (key, part) in zip(axes, matrices):
    values, imaginary = numbers(part, "re"), np.nan_to_num(numbers(part, "im"))
    axis.set_title(show(key[1], word("head", key[2]), key[3], word("N =", key[4])))
    if np.abs(imaginary).max(initial=0) > 0:
        axis.plot(values, imaginary, ".", color=COLOURS[0], markersize=3)
        axis.set(xlabel="real part", ylabel="imaginary part")
        continue
    missing = numbers(part, "n")[0] - len(values)
    if 0 < missing <= 10**6 and missing == numbers(part, "zeros")[0]:
        values = np.append(values, np.zeros(int(missing)))
    elif missing != 0 and np.isfinite(missing):
        axis.text(0.5, 0.5, "a part of the eigenvalues:\nno quantiles", ha="center",
                  transform=axis.transAxes)
        continue
    if key in certified and texts(certified[key], "bound_of")[0] == "eigenvalues":
        low = numbers(certified[key], "min_lo")[0]
        high = numbers(certified[key], "max_hi")[0]
        if np.isfinite(low) and np.isfinite(high):
            axis.axhspan(low, high, color=COLOURS[4], alpha=0.2, label="certified range")
    curve = np.zeros(0)
    if key in symbols and not np.nan_to_num(numbers(symbols[key], "im")).any():
        curve = np.sort(numbers(symbols[key], "re"))
        axis.plot((np.arange(len(curve)) + 0.5) / len(curve), curve, color=COLOURS[1],
                  label="symbol's quantiles")
    values = np.sort(values)
    at = (np.arange(len(values)) + 0.5) / len(values)
    some_of = np.unique(np.linspace(0, len(values) - 1, min(len(values), 2000)).astype(int))
    axis.plot(at[some_of], values[some_of], ".", color=COLOURS[0], markersize=4,
              label="eigenvalues")
    axis.set(xlabel="quantile", ylabel="eigenvalue")
    bent(axis, np.append(values, curve))
    legend(axis)
plt.show()
