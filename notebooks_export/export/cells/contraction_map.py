# needs one of: train_contraction(step, layer, head, width_ratio), capture_contraction(step, layer, head, width_ratio), reproduce_contraction(step, layer, head, width_ratio)
"""
### Contraction, every head at once

The same ratios over the training steps, a line of the map a head, layer by layer; the two hues meet
at 1, where the encoding neither narrows nor widens the Hermitian part's spectrum. Blue: it narrows.
"""
#@ contraction_map


contraction_map(archive, over="step")
plt.show()
