/* Sinusoidal absolute positions (Vaswani et al. 2017). P P^T = sum_t cos(k theta_t) (claim R3.2).
 */
#include "encoding/cosines.h"
#include "encoding/record.h"

static const szgi_key keys[] = {
    {.name = "dim",
     .type = SZGI_KEY_INTEGER,
     .fallback = "64",
     .min = 2,
     .max = 1048576,
     .doc = "dimension of the position vectors, even"},
    {.name = "base",
     .type = SZGI_KEY_REAL,
     .fallback = "10000",
     .min = 1,
     .max = 1e15,
     .doc = "theta_t = base^(-2t/dim)"},
};

static szg_status open_absolute(szg_context *context, szg_encoding *encoding) {
    encoding->dim = szgi_spec_integer(encoding->spec, "dim");
    return szgi_sinusoid_open(context, encoding->spec, "dim", encoding->state);
}

static void close_absolute(void *state) {
    szgi_sinusoid_close(state);
}

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)head, (void)matrix;
    szgi_sinusoid_facts(encoding->state, facts);
}

static void input_of(const szg_encoding *encoding, int64_t i, double *p) {
    szgi_sinusoid_row(encoding->state, i, p);
}

const encoding_record szgi_encoding_absolute = {
    .traits = {.class = {.name = "absolute",
                         .doc = "sinusoidal positions added to the input",
                         .reference = "Vaswani et al. 2017",
                         KEYS(keys)},
               .attaches = SZGI_ATTACH_INPUT},
    .state_size = sizeof(sinusoid),
    .open = open_absolute,
    .close = close_absolute,
    .facts = facts_of,
    .input = input_of,
    .follows = {{"dim", FOLLOWS_WIDTH}},
};
