# needs one of: spectrum_summary(source, lambda_min, lambda_max)
"""
## Ranges of all encodings

The eigenvalues of each encoding, over all heads, beside the range that its symbol certifies for them.
Where eigenvalues are complex, singular values are drawn, from 0 to the certified maximum of abs(a).
"""
#@ ranges


ranges(archive)
plt.show()
