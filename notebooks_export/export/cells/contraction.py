# needs one of: train_contraction(step, layer, head, width_ratio), capture_contraction(step, layer, head, width_ratio), logits_contraction(layer, head, width_ratio), reproduce_contraction(step, layer, head, width_ratio), spectrum_contraction(width_ratio)
"""
## Contraction ratios

Width of the logits' eigenvalues with the positional encoding over that without it (the Hermitian
parts; `width_ratio`): a panel a layer, a line a head, the mean over probes with the area from the least
to the greatest. Below 1 the encoding narrows them. A rotary encoding cannot widen them where all
frequencies share one content matrix (claim B3c); in trained heads they do not. With `content_kind`
zeroed the content has queries and keys of its own.
"""
#@ contraction


contraction(archive)
plt.show()
