/* What the files of the section about symbols share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_SYMBOL_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_SYMBOL_H

#include "spectrum.h"

/* Point masses as stems over the angle. */
SZG_CHECK_RESULT szg_status symbol_draw_atoms(page *page, rows atoms, budget *budget);

#endif
