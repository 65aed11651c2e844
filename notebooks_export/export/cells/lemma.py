# needs one of: verify_lemma(max_f_lo, max_f_hi, max_g_lo, max_g_hi)
"""
### Lemma B.1 over trials

max|f| against max|g|, and the widths, over random and adversarial weights and phases. Error bars are
the certified enclosures. The lemma says that max|f| is at most max|g|. Claim L3 says the same of the
widths; its verdict is in the ledger. Where sizes lie far apart, quotients are drawn.
"""
#@ lemma


lemma(archive)
plt.show()
