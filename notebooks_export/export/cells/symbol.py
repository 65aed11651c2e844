# needs one of: symbol_samples(theta, re), spectrum_samples(theta, re), checkpoint_samples(theta, re)
"""
## Symbols

The generating function over the angle; of a complex one its modulus, its real and its imaginary part.
The band is the certified range, with dots at its ends. A truncated symbol bounds the eigenvalues at its
own order, a Fejer mean does not. The symbol of content, logits or a trained head's position-position
term is that of the Toeplitz part, which bounds nothing else. With fewer samples than 2 N the line joins
points of a curve that swings between them.
"""
#@ symbol


symbol(archive)
plt.show()
