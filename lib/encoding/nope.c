#include "encoding/record.h"

static void facts_of(const szg_encoding *encoding, int64_t head, int64_t matrix,
                     szg_kernel_facts *facts) {
    (void)encoding, (void)head, (void)matrix;
    *facts = (szg_kernel_facts){
        .matrix = "zero",
        .form = SZG_FORM_ZERO,
        .definiteness = SZG_DEFINITE_ZERO,
        .structure = SZG_KERNEL_ZERO,
        .kind = SZG_TOEPLITZ_SYMMETRIC,
        .rank_bound = 0,
        .rank_exact = true,
        .summable = true,
        .degree = -1,
        .line = "Without positions the kernel is the zero matrix: ratios to it do not exist",
    };
}

const encoding_record szgi_encoding_nope = {
    .traits = {.class = {.name = "nope",
                         .doc = "no positional encoding",
                         .reference = "Haviv et al. 2022"}},
    .facts = facts_of,
};
