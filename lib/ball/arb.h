/* Arb's numbers for this room and those above: its headers under FLINT 2, which has Arb apart, and
 * FLINT 3, which contains it (no other file knows which), exact phases as balls, enclosures as
 * doubles, entries of a szgi_ball_matrix. Arb's operations are used as they are. They cannot fail:
 * what has no value is a ball without bounds, and its enclosure is [-inf, inf]. */
#ifndef SZEGO_BALL_ARB_H
#define SZEGO_BALL_ARB_H

#if __has_include(<flint/acb_mat.h>)
#include <flint/arb_mat.h>
#include <flint/acb_mat.h>
#include <flint/acb_poly.h>
#define SZGI_BALL_LIBRARY "FLINT " FLINT_VERSION
#else
#include <arb_mat.h>
#include <acb_mat.h>
#include <acb_poly.h>
#define SZGI_BALL_LIBRARY "FLINT " FLINT_VERSION ", Arb"
#endif
#include <flint/fmpq.h>

#include "ball/ball.h"
#include "ball/caches.h"
#include "base/memory.h"

enum { BITS_MIN = 53, BITS_MAX = 65536 };

/* SZG_EINVAL unless bits is in BITS_MIN .. BITS_MAX. */
SZG_CHECK_RESULT szg_status szgi_check_bits(szg_context *context, int64_t bits);

/* SZG_EDATA unless `phase` is finite or has q >= 1; the message calls it `what` number `index`. The
 * functions below need a phase that passes. */
SZG_CHECK_RESULT szg_status szgi_check_phase(szg_context *context, const szgi_phase *phase,
                                             const char *what, int64_t index);

/* z = e^{i multiplier phase}, z = weight e^{i multiplier phase} and x = phase; exact inputs, `bits`
 * of working precision. */
void szgi_phase_exp(acb_t z, const szgi_phase *phase, int64_t multiplier, slong bits);
void szgi_phase_polar(acb_t z, double weight, int64_t multiplier, const szgi_phase *phase,
                      slong bits);
void szgi_phase_angle(arb_t x, const szgi_phase *phase, slong bits);

/* sum += x y, rounded after the product and after the sum. */
void szgi_ball_accumulate(arb_t sum, const arb_t x, const arb_t y, slong bits);

/* The smallest interval of doubles that contains x; [-inf, inf] where x is no finite ball. */
szg_interval szgi_interval_of(const arb_t x);

/* Doubles not below and not above x. */
double szgi_upper_double(const arf_t x);
double szgi_lower_double(const arf_t x);

/* Entry (i, j), 0 <= i < rows, 0 <= j < columns, to read and to write. */
acb_ptr szgi_ball_matrix_entry(szgi_ball_matrix *matrix, int64_t i, int64_t j);

#endif
