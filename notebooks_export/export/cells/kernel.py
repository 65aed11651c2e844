# needs one of: checkpoint_kernel(layer, head, lag, kernel)
"""
## Mean kernel over the lag

The mean logit of a token with its own copy at lag 0, 1, ..., over tokens of all directions alike: a panel
a layer, a line a head. It is the part of a rotary head's logits that depends on the distance alone.
"""
#@ kernel


kernel(archive)
plt.show()
