/* How fast this machine trains a preset's model: a few steps of it. */
#include "reproduce_private.h"
#include "train/run/trainer.h"

enum { SEQUENCES = 16, STEPS = 3 }; /* the first step is not timed: it touches new memory */

static szg_status time_steps(szg_context *context, trainer *parts, double *out) {
    double each = szgi_model_operations_per_token(parts->model).training, operations = 0;
    double begin = 0;
    for (int64_t step = 0; step < STEPS; step++) {
        double capture = 0;
        szgi_tally tally;
        if (step == 1)
            begin = szgi_context_seconds(context);
        SZG_TRY(szgi_trainer_step(context, parts, step, NULL, &capture, &tally));
        operations += step > 0 ? each * (double)szgi_trainer_batch_tokens(parts) : 0;
    }
    *out = operations / (szgi_context_seconds(context) - begin);
    return SZG_OK;
}

static szg_status time_config(szg_context *context, const szg_train_config *config,
                              const szg_dataset *data, double *out) {
    szg_train_options options = {SZG_INIT(szg_train_options), .config = config, .data = data};
    trainer parts;
    SZG_TRY(szgi_trainer_open(context, &options, &parts));
    szg_status status = szgi_model_initialise(context, parts.model, 0);
    if (status == SZG_OK)
        status = szgi_trainer_set_tally(context, &parts, &(szgi_tally){0});
    if (status == SZG_OK)
        status = time_steps(context, &parts, out);
    szgi_trainer_close(context, &parts);
    return status;
}

szg_status szg_reproduction_rate(szg_context *context, const szg_reproduction *reproduction,
                                 double *out) {
    SZGI_ENTER(context);
    szg_train_config config = *reproduction->run[0].config;
    szg_dataset data;
    config.data.examples = SEQUENCES * 4; /* whole batches in the training split */
    config.data.train_part = .75;
    config.loop.batch = SEQUENCES;
    config.capture.every = 0;
    SZG_TRY(szg_dataset_open(context, &config, &data));
    szg_status status = time_config(context, &config, &data, out);
    szg_dataset_close(&data);
    return status;
}
