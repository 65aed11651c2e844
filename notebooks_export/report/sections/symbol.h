/* What the files of the section about symbols share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_SYMBOL_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_SYMBOL_H

#include "spectrum.h"

/* Whether the symbol of these samples, a polynomial of degree n - 1, may oscillate more often than
 * they can show: their curve and quantiles then miss what the certified ends see. */
bool szgi_symbol_is_coarse(rows samples);

/* Point masses as stems over the angle. */
SZG_CHECK_RESULT szg_status szgi_symbol_draw_atoms(page *page, rows atoms, budget *budget);

#endif
