/* What the house alone uses of <szego/theory.h>. */
#ifndef SZEGO_THEORY_THEORY_H
#define SZEGO_THEORY_THEORY_H

#include <szego/theory.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

const char *szgi_theorem_name(szg_theorem theorem);

SZG_CHECK_RESULT szg_status szgi_contraction_ratios_of(szg_context *context,
                                                       const szgi_contraction_input *input,
                                                       szg_contraction_ratios *out);

SZGI_END_DECLS

#endif
