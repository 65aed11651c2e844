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

void szgi_enclose_root(szgi_increasing *function, const void *data, const arb_t lo, const arb_t hi,
                       arb_t root) {
    enum { HALVINGS = 140 };
    arf_t below, above, middle;
    arb_t at, value;
    arf_init(below), arf_init(above), arf_init(middle);
    arb_init(at), arb_init(value);
    arb_get_lbound_arf(below, lo, SZGI_CLOSED_BITS);
    arb_get_ubound_arf(above, hi, SZGI_CLOSED_BITS);
    for (int i = 0; i < HALVINGS; i++) {
        arf_add(middle, below, above, 2 * SZGI_CLOSED_BITS, ARF_RND_DOWN);
        arf_mul_2exp_si(middle, middle, -1);
        arb_set_arf(at, middle);
        function(data, at, value);
        if (arb_is_positive(value))
            arf_set(above, middle);
        else if (arb_is_negative(value))
            arf_set(below, middle);
        else
            break;
    }
    arb_set_interval_arf(root, below, above, SZGI_CLOSED_BITS);
    arb_clear(value), arb_clear(at);
    arf_clear(middle), arf_clear(above), arf_clear(below);
}

szg_status szgi_closed_certify(szg_context *context, const szg_matrix *matrix,
                               szg_spectrum *spectrum) {
    arb_t least, largest;
    (void)context;
    if (spectrum->zeros == spectrum->n) {
        spectrum->min = spectrum->max = (szg_interval){0, 0};
        spectrum->certified = true;
        return SZG_OK;
    }
    arb_init(least), arb_init(largest);
    forms[matrix->kind]->ends(matrix->rows, matrix->of.parameter, least, largest);
    spectrum->min = szgi_interval_of(least);
    spectrum->max = szgi_interval_of(largest);
    spectrum->certified = true;
    arb_clear(largest), arb_clear(least);
    return SZG_OK;
}

szg_status szgi_closed_eigen(szg_context *context, const szg_matrix *matrix,
                             const szg_spectra_options *options, szg_spectrum *out) {
    return forms[matrix->kind]->eigenvalues(context, matrix, options, out);
}
