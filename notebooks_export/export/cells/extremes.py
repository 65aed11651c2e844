# needs one of: spectrum_extremes(index, error, gap, resolved)
"""
## Ends of the spectrum

How far each of the outermost eigenvalues may be from its computed value, and the distance to its nearest
neighbour. A filled point is resolved: its error is at most a tenth of the gap and 1e-10 of the norm.
"""
#@ extremes


extremes(archive)
plt.show()
