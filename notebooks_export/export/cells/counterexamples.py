# needs one of: verify_samples(id, theta, f, g)
"""
### Counterexamples

Lemma B.1's polynomials f(t) = sum 2 w_i cos(i theta_i + i t) and g, where every theta_i is 0; the
column `theta` is t. Dotted lines stand at the ends of f's range among these samples; what is
certified stands in `verify_certificates`, where `certificate` counts the rows of the same `id`.
"""
#@ counterexamples


counterexamples(archive)
plt.show()
