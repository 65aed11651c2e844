/* What the training rows on the CPU and on a device share. */
#include <stdio.h>

#include "train.h"

szg_status bench_train_configure(szg_context *context, const bench_size *size, const char *encoding,
                                 szg_train_config *config) {
    SZG_TRY(szg_train_config_profile(context, SZG_PROFILE_TEXT, encoding, config));
    config->model.vocabulary = size->vocabulary;
    config->model.width = size->width;
    config->model.hidden = size->hidden;
    config->model.layers = size->layers;
    config->model.heads = size->heads;
    config->model.latent_query = config->model.latent_kv = size->latent;
    config->model.max_length = size->length;
    config->model.dropout = size->dropout;
    return SZG_OK;
}

szg_status bench_peer_run(szg_context *context, bench_peer *peer, const char *request) {
    char answer[64];
    return bench_peer_ask(context, peer, request, answer, sizeof answer);
}

szg_status bench_peer_model(szg_context *context, bench_peer *peer, const char *encoding,
                            const bench_size *s) {
    char request[256];
    if (peer->process == 0)
        return SZG_OK;
    snprintf(request, sizeof request, "open %s %lld %lld %lld %lld %lld %lld %lld %lld %lld %g",
             encoding, (long long)s->batch, (long long)s->length, (long long)s->width,
             (long long)s->hidden, (long long)s->layers, (long long)s->heads, (long long)s->latent,
             (long long)s->vocabulary, (long long)s->classes, s->dropout);
    return bench_peer_run(context, peer, request);
}

const char *bench_peer_name(const bench_peer *peer) {
    static char name[96];
    if (peer->process == 0)
        return NULL;
    snprintf(name, sizeof name, "PyTorch %s", peer->version);
    return name;
}

szg_status bench_train_row(szg_context *context, szg_table *table, const char *encoding,
                           const char *what) {
    char input[96];
    snprintf(input, sizeof input, "%s: %s", encoding, what);
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "item", "train"));
    return szg_table_set_text(context, table, "input", input);
}

szg_status bench_train_ratio(szg_context *context, szg_table *table, double ratio, double target) {
    SZG_TRY(szg_table_set_real(context, table, "ratio", ratio));
    SZG_TRY(szg_table_set_real(context, table, "target_ratio", target));
    return szg_table_set_text(context, table, "met", ratio >= target ? "yes" : "no");
}
