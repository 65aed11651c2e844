/* What a model's own arithmetic may add to its logits: docs/explanation/theory.md, "Logits that a
 * model rounds". `unit` is the unit roundoff of the type that queries and keys have: 2^-8 of
 * bfloat16, 2^-11 of float16, 2^-24 of float32. Sums are in single precision at least. With unit 0
 * the answers are those of exact arithmetic: 0, or a factor 1. */
#ifndef SZG_CHECKPOINT_ROUNDING_H
#define SZG_CHECKPOINT_ROUNDING_H

#include <stdbool.h>

/* No computed vector of `terms` normalised numbers is longer, before its gains. */
double szgi_round_root(double terms, double unit);
/* Of W x with `terms` columns, relative to the Frobenius norm of W and to ||x||: weights that are
 * rounded to the type, and the sums. */
double szgi_round_products(double terms, double unit);
/* Of biases and shifts, relative to the moduli that they are the sum of. */
double szgi_round_shift(double terms, double unit);
/* The norm of what `size` numbers lose below the least normal one. */
double szgi_round_least(double size, double unit);
/* Of q . k from unrounded q and k of `size` numbers, relative to the product of their norms. */
double szgi_round_logit(double size, bool rotates, double unit);
/* The factor of q . k where both are normalised over `terms` numbers, rotation and product
 * included; terms 0: they are clipped. */
double szgi_round_normed(double terms, double size, bool rotates, double unit);
/* The factor of the logit: scale, what is added, and the type of the answer. */
double szgi_round_answer(double unit);

#endif
