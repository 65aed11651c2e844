#include <string.h>

#include "private.h"

/* Limits: several times what the item takes on two cores, or is predicted to take on a GPU with the
 * compiling of PyTorch; dsyevd at N = 8192 takes minutes. */
#define TRAINED(encoding, what, text, measure, place, seconds)                                     \
    { "train:" encoding ":" what, text ", " encoding, measure, place, seconds, encoding }

#define CROSSED(kind, text, seconds)                                                               \
    {                                                                                              \
        "crossover:" kind, "sizes from which a GPU beats the cpu: " text, bench_device_crossover,  \
            BENCH_NAMED, seconds, kind                                                             \
    }

const bench_item bench_items[] = {
    {"machine:product", "ceiling: matrix product, order 1024, f64", bench_machine_product,
     BENCH_CPU, 60, NULL},
    {"machine:copy", "ceiling: memory copied, of a GPU its own", bench_machine_copy, BENCH_ANYWHERE,
     60, NULL},
    {"machine:transfer", "bytes from the host to a GPU and back", bench_machine_transfer,
     BENCH_DEVICE, 60, NULL},
    {"toeplitz", "full spectrum, real symmetric Toeplitz, against dsyevd", bench_toeplitz,
     BENCH_CPU, 3600, NULL},
    {"random-lags", "full spectrum, Gaussian lags, against two halves by LAPACK", bench_random_lags,
     BENCH_CPU, 3600, NULL},
    {"hermitian", "full spectrum, Hermitian Toeplitz, against zheevd", bench_hermitian, BENCH_CPU,
     600, NULL},
    {"certified", "proof of a spectrum's ends, or of each value", bench_certified, BENCH_CPU, 600,
     NULL},
    {"batch-symmetric", "1,000 symmetric 128 x 128 against a loop over dsyevd",
     bench_batch_symmetric, BENCH_CPU, 300, NULL},
    {"batch-singular", "1,000 times singular values, 128 x 128, against a loop over dgesdd",
     bench_batch_singular, BENCH_CPU, 300, NULL},
    {"batch-general", "1,000 times eigenvalues, 128 x 128, against a loop over dgeev",
     bench_batch_general, BENCH_CPU, 600, NULL},
    {"batch-small", "symmetric matrices of orders 32 to 256 against dsyevd, one matrix a thread",
     bench_batch_small, BENCH_CPU, 300, NULL},
    {"rotary-kernel", "spectrum of the rotary mean kernel, d = 128, N = 10^9", bench_rotary_kernel,
     BENCH_CPU, 60, NULL},
    {"rotary-logits", "factored rotary logits, N = 131,072, d = 128: eigen- and singular values",
     bench_rotary_logits, BENCH_CPU, 300, NULL},
    {"softmax", "softmax statistics of queries and keys, N to 131,072: single against double",
     bench_softmax, BENCH_CPU, 600, NULL},
    {"symbol-range", "certified range of symbols of degree 4095", bench_symbol_range, BENCH_CPU,
     300, NULL},
    {"extremes", "ten eigenvalues at each end of long kernels against SciPy's eigsh",
     bench_extremes, BENCH_CPU, 900, NULL},
    {"density", "spectral density of 128 moments, N = 10^6 and 10^7, against NumPy", bench_density,
     BENCH_CPU, 900, NULL},
    {"checkpoint:heads", "spectra of every head of a checkpoint against NumPy",
     bench_checkpoint_heads, BENCH_CPU, 300, NULL},
    {"checkpoint:positional", "what the tables of positional heads add to the command",
     bench_checkpoint_positional, BENCH_CPU, 120, NULL},
    {"checkpoint:stages", "where the time of a head goes", bench_checkpoint_stages, BENCH_CPU, 120,
     NULL},
    {"checkpoint:large", "minutes for 70 and 405 billion parameters, from one key head of each",
     bench_checkpoint_large, BENCH_CPU, 120, NULL},
    {"train:product", "ceiling: matrix product in a decoder's precision", bench_train_product,
     BENCH_ANYWHERE, 120, NULL},
    TRAINED("rope", "first", "the first training step, and one by itself", bench_train_first,
            BENCH_DEVICE, 60),
    TRAINED("rope", "step", "training steps at the paper's size against PyTorch", bench_train_step,
            BENCH_ANYWHERE, 300),
    TRAINED("rope", "operations", "where a step's time goes", bench_train_operations,
            BENCH_ANYWHERE, 60),
    TRAINED("rope", "evaluation", "forward, loss, accuracy against PyTorch", bench_train_evaluation,
            BENCH_CPU, 300),
    {"train:attention", "attention alone, forward, against PyTorch", bench_train_attention,
     BENCH_CPU, 120, NULL},
    TRAINED("rope", "capture", "steps with a capture every 50", bench_train_capture, BENCH_DEVICE,
            120),
    TRAINED("rope", "epoch", "an epoch with test and checkpoint", bench_train_epoch, BENCH_DEVICE,
            120),
    TRAINED("rope", "ablation", "every head left out", bench_train_ablation, BENCH_DEVICE, 120),
    TRAINED("mla", "first", "the first training step, and one by itself", bench_train_first,
            BENCH_DEVICE, 60),
    TRAINED("mla", "step", "training steps at the paper's size against PyTorch", bench_train_step,
            BENCH_ANYWHERE, 300),
    TRAINED("mla", "operations", "where a step's time goes", bench_train_operations, BENCH_ANYWHERE,
            60),
    TRAINED("mla", "evaluation", "forward, loss, accuracy against PyTorch", bench_train_evaluation,
            BENCH_CPU, 300),
    TRAINED("mla", "capture", "steps with a capture every 50", bench_train_capture, BENCH_DEVICE,
            120),
    TRAINED("mla", "epoch", "an epoch with test and checkpoint", bench_train_epoch, BENCH_DEVICE,
            120),
    TRAINED("mla", "ablation", "every head left out", bench_train_ablation, BENCH_DEVICE, 120),
    TRAINED("nope", "epoch", "an epoch with test and checkpoint", bench_train_epoch, BENCH_DEVICE,
            120),
    TRAINED("nope", "ablation", "every head left out", bench_train_ablation, BENCH_DEVICE, 120),
    {"train:table1", "Table 1, extrapolated from epochs and ablations of the run",
     bench_train_table1, BENCH_DEVICE, 60, NULL},
    {"batch:plain", "10,000 symmetric 128 x 128 on a GPU against the cpu", bench_device_batch,
     BENCH_DEVICE, 120, NULL},
    {"batch:checked", "the same, each checked by trace and norm", bench_device_batch_checked,
     BENCH_DEVICE, 120, NULL},
    {"dense", "full spectrum, symmetric, N = 8192, on a GPU against the cpu", bench_device_dense,
     BENCH_DEVICE, 240, NULL},
    CROSSED("product", "products", 120),
    CROSSED("symmetric", "eigenvalues of a symmetric matrix", 180),
    CROSSED("general", "eigenvalues of a general matrix", 180),
    CROSSED("singular", "singular values of a matrix", 180),
    CROSSED("symmetric-batched", "eigenvalues of many symmetric matrices", 240),
    CROSSED("singular-batched", "singular values of many matrices", 240),
    {NULL, NULL, NULL, BENCH_CPU, 0, NULL},
};

const bench_item *bench_find(const char *name) {
    const bench_item *item = bench_items;
    while (strcmp(item->name, name) != 0)
        item++;
    return item;
}

bool bench_is_named(const bench_item *item, const char *name) {
    size_t length = strlen(name);
    return strncmp(item->name, name, length) == 0 &&
           (item->name[length] == 0 || item->name[length] == ':');
}

bool bench_exists(const char *name) {
    for (const bench_item *item = bench_items; item->name; item++)
        if (bench_is_named(item, name))
            return true;
    return false;
}

static bool needs_device(const bench_item *item) {
    return item->place == BENCH_DEVICE || item->place == BENCH_NAMED;
}

bool bench_is_asked(szg_context *context, const bench_item *item, const char *name) {
    if (name && strcmp(item->name, name) == 0)
        return true;
    if (name && !bench_is_named(item, name))
        return false;
    if (item->place == BENCH_NAMED && name)
        return bench_on_device(context);
    return item->place == BENCH_ANYWHERE ||
           item->place == (bench_on_device(context) ? BENCH_DEVICE : BENCH_CPU);
}

szg_status bench_check(szg_context *context, const char *name) {
    bool any = false, device = bench_on_device(context);
    for (const bench_item *item = bench_items; item->name; item++) {
        if (!bench_is_asked(context, item, name) || (needs_device(item) && !device))
            continue;
        if (item->measure == bench_device_crossover)
            SZG_TRY(bench_crossover_check(context));
        any = true;
    }
    if (any)
        return SZG_OK;
    if (device)
        return szgi_fail(context, SZG_EBACKEND,
                         "the items %s measure the cpu: leave --backend out, or name one of "
                         "`szego bench --list` whole",
                         name);
    return szgi_fail(context, SZG_EBACKEND,
                     "the item %s measures a GPU: add --backend cuda, on a machine that has one",
                     name);
}
