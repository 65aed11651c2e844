"""The spectrum of a kernel of your own: every eigenvalue, and a range that is proved to hold them.

usage: python3 kernel.py [FIGURE.png]
"""
import sys

import numpy as np
import szego

if len(sys.argv) > 2 or sys.argv[-1].startswith("-"):
    sys.exit(__doc__)

N = 1024
lags = np.exp(-np.arange(64)**2 / 8.0)  # a_k = a_-k = e^(-k^2 / 8); 0 from lag 64 on

found = szego.spectrum(lags, N)
eigenvalues = found.eigenvalues
print(f"{len(eigenvalues)} eigenvalues from {eigenvalues[0]:.6g} to {eigenvalues[-1]:.6g}")
print(f"residual {found.residual:.1e}")  # found.residual_meaning says of what
print(f"every eigenvalue lies in [{found.range.lo!r}, {found.range.hi!r}], certified")
print(f"theorem: {found.theorem.sentence}")

# The range needs no eigenvalue, so that you have it for any order.
wide = szego.symbol(lags, 10**9)
print(f"order 10^9: every eigenvalue lies in [{wide.range.lo!r}, {wide.range.hi!r}]")

if len(sys.argv) > 1:
    axes = szego.plot.spectrum(found, symbol=szego.symbol(lags, N))
    axes.figure.savefig(sys.argv[1], dpi=200)
