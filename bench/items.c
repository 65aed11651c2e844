#include <string.h>

#include "private.h"

const bench_item bench_items[] = {
    {"machine", "ceilings: matrix product and memory", bench_machine, BENCH_CPU},
    {"toeplitz", "full spectrum, real symmetric Toeplitz, against dsyevd", bench_toeplitz,
     BENCH_CPU},
    {"hermitian", "full spectrum, Hermitian Toeplitz, against zheevd", bench_hermitian, BENCH_CPU},
    {"batch-symmetric", "1,000 symmetric 128 x 128 against a loop over dsyevd",
     bench_batch_symmetric, BENCH_CPU},
    {"batch-singular", "1,000 times singular values, 128 x 128, against a loop over dgesdd",
     bench_batch_singular, BENCH_CPU},
    {"batch-general", "1,000 times eigenvalues, 128 x 128, against a loop over dgeev",
     bench_batch_general, BENCH_CPU},
    {"rotary-kernel", "spectrum of the rotary mean kernel, d = 128, N = 10^9", bench_rotary_kernel,
     BENCH_CPU},
    {"rotary-logits", "factored rotary logits, N = 131,072, d = 128: eigen- and singular values",
     bench_rotary_logits, BENCH_CPU},
    {"symbol-range", "certified range of symbols of degree 4095", bench_symbol_range, BENCH_CPU},
    {"train", "training and evaluation at the paper's size, attention alone, against PyTorch",
     bench_train, BENCH_ANYWHERE},
    {"batch", "10,000 symmetric 128 x 128 on a GPU against the cpu", bench_device_batch,
     BENCH_DEVICE},
    {"dense", "full spectrum, symmetric, N = 8192, on a GPU against the cpu", bench_device_dense,
     BENCH_DEVICE},
    {"crossover", "sizes from which a GPU beats the cpu (SZEGO_CUDA_CROSSOVER=0)",
     bench_device_crossover, BENCH_NAMED},
    {NULL, NULL, NULL, BENCH_CPU},
};

bool bench_is_default(szg_context *context, const bench_item *item) {
    return item->place == BENCH_ANYWHERE ||
           item->place == (bench_on_device(context) ? BENCH_DEVICE : BENCH_CPU);
}

const bench_item *bench_find(const char *name) {
    for (const bench_item *item = bench_items; item->name; item++)
        if (strcmp(item->name, name) == 0)
            return item;
    return NULL;
}

static const szg_column columns[] = {
    {"item", SZG_TEXT, "what is timed"},
    {"input", SZG_TEXT, "the matrix"},
    {"n", SZG_INTEGER, "order of the matrix, or degree of the symbol"},
    {"ours", SZG_TEXT, "what szego does"},
    {"rival", SZG_TEXT, "what it is compared with"},
    {"pairs", SZG_INTEGER, "alternating pairs of runs"},
    {"ours_s", SZG_REAL, "median, seconds"},
    {"ours_low_s", SZG_REAL, "fastest, seconds"},
    {"ours_high_s", SZG_REAL, "slowest, seconds"},
    {"rival_s", SZG_REAL, "median, seconds"},
    {"rival_low_s", SZG_REAL, "fastest, seconds"},
    {"rival_high_s", SZG_REAL, "slowest, seconds"},
    {"ratio", SZG_REAL, "rival over ours: median over the pairs"},
    {"ratio_low", SZG_REAL, "least over the pairs"},
    {"ratio_high", SZG_REAL, "largest over the pairs"},
    {"ratio_one_thread", SZG_REAL, "the rival on one thread over ours: median over the pairs"},
    {"target_ratio", SZG_REAL, "the ratio that was set as the goal"},
    {"target_s", SZG_REAL, "the time that was set as the goal, seconds"},
    {"met", SZG_TEXT, "yes or no, where there is a goal"},
    {"difference", SZG_REAL, "largest difference of the answers over the norm"},
    {"peak_mib", SZG_REAL, "largest resident memory during ours, MiB"},
    {"note", SZG_TEXT, "remarks"},
};

szg_status bench_table_open(szg_context *context, szg_table **table) {
    return szg_table_open(context, "bench", columns, sizeof columns / sizeof *columns, table);
}
