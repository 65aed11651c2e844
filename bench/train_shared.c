/* What the training rows on the CPU and on a device share. */
#include <stdio.h>
#include <string.h>

#include "device.h"

szg_status bench_train_configure(szg_context *context, const bench_size *size, const char *encoding,
                                 szg_train_config *config) {
    SZG_TRY(szgi_train_config_profile(context, SZG_PROFILE_TEXT, encoding, config));
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

szg_status bench_train_row(szg_context *context, bench_run *run, const char *encoding,
                           const char *what) {
    char input[128];
    snprintf(input, sizeof input, "%s: %s", encoding, what);
    return bench_row(context, run, input);
}

/* ---- Sizes ---- */

static const bench_size cpu_paper = {64, 128, 6, 256, 512, 16, 128, 574, 72, 0.1};
static const bench_size cpu_small = {8, 32, 2, 64, 128, 4, 32, 574, 72, 0.1};
static const bench_size device_paper = {512, 128, 6, 256, 512, 16, 128, 574, 72, 0.1};
static const bench_size device_small = {4, 16, 1, 32, 32, 2, 16, 64, 8, 0.1};

const bench_size *bench_train_size(szg_context *context, const bench_run *run) {
    if (bench_on_device(context))
        return run->options.quick ? &device_small : &device_paper;
    return run->options.quick ? &cpu_small : &cpu_paper;
}

/* ---- The rival ---- */

/* A peer on the device, in the context's precision. */
static szg_status move_to_device(szg_context *context, bench_peer *peer) {
    char request[64], answer[64];
    snprintf(request, sizeof request, "device %s", bench_precision(context));
    SZG_TRY(bench_peer_ask(context, peer, request, answer, sizeof answer));
    if (strcmp(answer, "none") == 0)
        return szgi_fail(context, SZG_EBACKEND, "PyTorch sees no device");
    return bench_peer_ask(context, peer, "version", peer->version, sizeof peer->version);
}

szg_status bench_rival_open(szg_context *context, const bench_run *run, bench_peer *peer) {
    bool device = bench_on_device(context);
    *peer = (bench_peer){0};
    if (run->options.alone)
        return SZG_OK;
    bench_peer_options options = {.program = &bench_peer_torch,
                                  .threads = szg_context_threads(context),
                                  .plain = device,
                                  .log = run->options.rival_log};
    szg_status status = bench_peer_open(context, &options, peer);
    if (status == SZG_OK && device)
        status = move_to_device(context, peer);
    if (status == SZG_OK)
        return SZG_OK;
    bench_peer_close(peer);
    if (status != SZG_EBACKEND)
        return status;
    szgi_say(context, SZG_WARNING, "%s; the rival's columns stay empty",
             szg_context_message(context));
    return SZG_OK;
}

const char *bench_no_rival(const bench_run *run) {
    return run->options.alone ? "no rival was wanted" : "no PyTorch here";
}
