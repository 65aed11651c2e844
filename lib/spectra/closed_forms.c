/* The list of closed forms, by the kind of matrix. */
#include "closed_form.h"

static const closed_form *const forms[SZG_MATRIX_KINDS] = {
#define SZG_CLOSED_FORM(NAME, name, words, method) [SZG_MATRIX_##NAME] = &szgi_closed_form_##name,
#include <szego/closed_forms.def>
};

bool szgi_spectrum_is_closed(const szg_matrix *matrix) {
    return forms[matrix->kind];
}

bool szgi_spectrum_is_summable(const szg_matrix *matrix) {
    const closed_form *form = forms[matrix->kind];
    return form && form->summable(matrix->of.parameter);
}

szg_status szgi_closed_eigen(szg_context *context, const szg_matrix *matrix,
                             const szg_spectra_options *options, szg_spectrum *out) {
    return forms[matrix->kind]->eigenvalues(context, matrix, options, out);
}
