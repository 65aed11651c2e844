# needs one of: checkpoint_frequencies(layer, theta, energy)
"""
## Rotary energy by frequency

How much of each head's coupling sits in which rotary frequency: squared norm of the pair's 2 x 2
block, a line a layer. The line is the mean over heads, the area reaches from the least to the
greatest. Low frequencies, on the left, turn slowly.
"""
#@ rotary


rotary(archive)
plt.show()
