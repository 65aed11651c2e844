/* What every file of this room shares: Arb's headers under FLINT 2 and FLINT 3, checks of
 * arguments, conversions between Arb's numbers and doubles. */
#ifndef SZG_BALL_ARB_PRIVATE_H
#define SZG_BALL_ARB_PRIVATE_H

#if __has_include(<flint/acb_mat.h>)
#include <flint/acb_mat.h>
#include <flint/acb_poly.h>
#else
#include <acb_mat.h>
#include <acb_poly.h>
#endif
#include <flint/fmpq.h>

#include "ball/ball.h"
#include "base/memory.h"
#include "caches.h"

enum { BITS_MIN = 53, BITS_MAX = 65536 };

/* SZG_EINVAL unless bits is in BITS_MIN .. BITS_MAX. */
SZG_CHECK_RESULT szg_status szgi_check_bits(szg_context *context, int64_t bits);

/* SZG_EDATA unless `phase` is finite or has q >= 1; the message calls it `what` number `index`. */
SZG_CHECK_RESULT szg_status szgi_check_phase(szg_context *context, const szgi_phase *phase,
                                             const char *what, int64_t index);

/* z = e^{i multiplier phase} and x = phase; exact inputs, `bits` of working precision. */
void szgi_phase_exp(acb_t z, const szgi_phase *phase, int64_t multiplier, slong bits);
void szgi_phase_angle(arb_t x, const szgi_phase *phase, slong bits);

/* The smallest interval of doubles that contains x. */
szg_interval szgi_interval_of(const arb_t x);

/* Doubles not below and not above x. */
double szgi_upper_double(const arf_t x);
double szgi_lower_double(const arf_t x);

#endif
