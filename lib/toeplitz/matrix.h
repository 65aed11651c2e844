/* What the house alone uses of <szego/matrix.h>. */
#ifndef SZEGO_TOEPLITZ_MATRIX_H
#define SZEGO_TOEPLITZ_MATRIX_H

#include <szego/matrix.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

struct szgi_logit_numbers; /* "network/network.h" */

/* One of <szego/closed_forms.def>, whose number is checked by the questions. */
szg_matrix szgi_matrix_closed_form(szg_matrix_kind kind, int64_t n, double parameter);

/* Numbers that a device computed of an n x n matrix that it keeps. */
szg_matrix szgi_matrix_device(int64_t n, const struct szgi_logit_numbers *numbers);

/* The view takes over a Toeplitz matrix, or an array from szgi_memory_alloc that it points to, and
 * frees it in szg_matrix_close. On failure the caller still owns them. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_matrix_own(szg_context *context, szg_matrix *matrix,
                                            szg_toeplitz *toeplitz, double *numbers);

/* kind, rows and columns make sense together: SZG_EINVAL for SZG_MATRIX_NONE, a kind outside the
 * enumeration, sizes below 1. */
SZG_CHECK_RESULT szg_status szgi_matrix_check(szg_context *context, const szg_matrix *matrix);

/* An array of entries, real or complex. */
bool szgi_matrix_is_dense(const szg_matrix *matrix);
/* Complex entries. */
bool szgi_matrix_is_complex(const szg_matrix *matrix);
/* Entries that depend on i - j alone, by the kind's definition. */
bool szgi_matrix_is_toeplitz(const szg_matrix *matrix);

SZGI_END_DECLS

#endif
