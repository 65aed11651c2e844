/* What a step of a run does with the clock of the whole run: learning rate and order of examples.
 */
#include <math.h>

#include "run_private.h"

int64_t szgi_train_epoch_steps(const szg_loop_config *loop, int64_t examples) {
    return examples / loop->batch + (examples % loop->batch > 0);
}

double szgi_train_learning_rate(const szg_loop_config *loop, int64_t step, int64_t total) {
    int64_t warmup = (int64_t)floor(loop->warmup * (double)total);
    if (step < warmup)
        return loop->learning_rate * (double)step / (double)warmup;
    double progress = total > warmup ? (double)(step - warmup) / (double)(total - warmup) : 1;
    return loop->learning_rate * (1 + cos(M_PI * progress)) / 2;
}

void szgi_train_order(uint64_t seed, int64_t epoch, int64_t count, int64_t *order) {
    szgi_stream stream = {.seed = seed, .step = (uint32_t)epoch, .purpose = PURPOSE_ORDER};
    for (int64_t i = 0; i < count; i++) {
        int64_t j = szgi_random_below(&stream, (uint64_t)i, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

szgi_step_block szgi_train_block(const szg_loop_config *loop, uint64_t seed, int64_t step,
                                 int64_t total) {
    return (szgi_step_block){.seed = seed,
                             .step = (uint32_t)step,
                             .finite = 1,
                             .learning_rate = szgi_train_learning_rate(loop, step, total),
                             .correction1 = 1 - pow(loop->beta1, (double)(step + 1)),
                             .correction2 = 1 - pow(loop->beta2, (double)(step + 1))};
}
