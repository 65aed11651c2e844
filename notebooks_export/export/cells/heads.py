# needs one of: checkpoint_spectra(layer, head, re)
"""
## Singular values by head

Singular values of each head of a checkpoint, the largest first: a panel a layer, a line a head.
"""
#@ heads


if not heads(archive):
    print("No singular values of heads are in the arrays.")
plt.show()
