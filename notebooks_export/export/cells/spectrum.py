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
#@ spectrum


if not spectrum(archive):
    print("No eigenvalues of a spectrum are in the arrays.")
plt.show()
