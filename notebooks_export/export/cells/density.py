# needs one of: spectrum_density(lambda, density, error, resolution)
"""
## Spectral density

The share of a long kernel's eigenvalues for each unit of their value, smoothed by Jackson's kernel. The area
is one standard error to either side, and the grey bars are the kernel's standard deviation: nothing finer
is resolved.
"""
#@ density


density(archive)
plt.show()
