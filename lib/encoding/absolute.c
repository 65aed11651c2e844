/* Sinusoidal absolute positions (Vaswani et al. 2017). P P^T = sum_t cos(k theta_t) (claim R3.2).
 */
#include "base/memory.h"
#include "encoding_private.h"

static const szgi_key keys[] = {
    {.name = "dim",
     .type = SZG_KEY_INTEGER,
     .fallback = "64",
     .min = 2,
     .max = 1048576,
     .doc = "dimension of the position vectors, even"},
    {.name = "base",
     .type = SZG_KEY_REAL,
     .fallback = "10000",
     .min = 1,
     .max = 1e15,
     .doc = "theta_t = base^(-2t/dim)"},
};

static szg_status open_absolute(szg_context *context, szg_encoding *encoding) {
    int64_t dim = szgi_spec_integer(encoding->spec, "dim");
    SZG_TRY(szgi_require_even(context, encoding, "dim", dim));
    encoding->attaches = SZG_ATTACH_INPUT;
    encoding->dim = dim;
    SZG_TRY(szgi_memory_alloc(context, dim / 2, sizeof(double), &encoding->theta));
    szgi_cosines_frequencies(dim / 2, dim, szgi_spec_real(encoding->spec, "base"), encoding->theta);
    encoding->rotary =
        (szg_rotary){.dim = dim, .pairs = dim / 2, .theta = encoding->theta, .amplitude = 1};
    return szgi_cosines_atoms(context, dim / 2, encoding->theta, false, &encoding->atoms);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)head, (void)matrix;
    szgi_cosines_facts(&encoding->rotary, encoding->atoms, "position gram",
                       (double)encoding->rotary.pairs, facts);
}

const encoding_type szgi_encoding_absolute = {
    .class = {.name = "absolute",
              .doc = "sinusoidal positions added to the input",
              .key = keys,
              .keys = sizeof keys / sizeof *keys},
    .open = open_absolute,
    .facts = facts_of,
    .input = szgi_cosines_input,
    .follows = {{"dim", FOLLOWS_WIDTH}},
};
