# needs one of: reproduce_ablation(layer, head, drop), ablate_ablation(layer, head, drop)
"""
## Heads taken away one by one

Test accuracy without one head, layer by layer: a point a head, over all seeds, with the density of
many points around it; crosses are without the whole layer, the line is with every head. A head that
carries the task stands far from the others of its layer. Each way of taking a head away (`method`) has
panels of its own, named at their axes. One seed is a hint, not a finding.
"""
#@ ablation


ablation(archive)
plt.show()
