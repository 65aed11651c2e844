/* What the files of the factored matrix share. */
#ifndef SZG_FACTORED_PRIVATE_H
#define SZG_FACTORED_PRIVATE_H

#include <szego/factored.h>
#include "toeplitz_private.h"

/* Shapes and pointers; the second looks at the numbers of A and B too. */
SZG_CHECK_RESULT szg_status szg_factored_check(szg_context *context, const szg_factored *f);
SZG_CHECK_RESULT szg_status szg_factored_check_finite(szg_context *context, const szg_factored *f);

#endif
