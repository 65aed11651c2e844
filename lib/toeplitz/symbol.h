/* What the house alone uses of <szego/symbol.h>. */
#ifndef SZEGO_TOEPLITZ_SYMBOL_H
#define SZEGO_TOEPLITZ_SYMBOL_H

#include <szego/symbol.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* Certified range of |a| for any kind, as szg_symbol_modulus_range, from one FFT in double
 * precision: for many small matrices at once. The maximum is enclosed to 0.12%; the minimum to
 * 0.25% of the maximum's square in its square, so that its lower end is 0 where |a| comes below a
 * twentieth of its maximum. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_symbol_modulus_enclosure(szg_context *context,
                                                          const szg_toeplitz *toeplitz,
                                                          szg_range *out);

SZGI_END_DECLS

#endif
