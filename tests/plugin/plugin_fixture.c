/* A plugin of three calls, built several times: as it should be, with another ABI, with another
 * version. Its table gives products that no other table gives; everything else is left out. */
#include <stdlib.h>
#include "plugin/abi.h"

static const szgi_host *host;

typedef struct session {
    szgi_ops ops;
    szgi_linalg_ops linalg;
    szgi_precision precision;
} session;

/* c[0] = the precision, so that a caller sees which session it reached. */
static szg_status gemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                       double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                       double beta, double *c, int64_t ldc) {
    (void)op_a, (void)op_b, (void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta;
    (void)ldc, (void)m, (void)n;
    if (k == 13)
        return host->fail_prefix(context, host->fail(context, SZG_EBACKEND, "unlucky"), "gemm");
    c[0] = ((session *)(void *)host->ops_of(context))->precision;
    return SZG_OK;
}

static szg_status devices(szg_context *context, int room, szg_device *out, int *count) {
    (void)context;
    *count = 2;
    if (room > 0)
        out[0] = (szg_device){.name = "Fixture 1", .major = 7, .available = -1};
    if (room > 1)
        out[1] = (szg_device){.name = "Fixture 2", .major = 9, .usable = true};
    return SZG_OK;
}

static szg_status open_session(szg_context *context, szgi_precision precision, szgi_ops **out) {
    if (getenv("FIXTURE_REFUSES"))
        return host->fail(context, SZG_EBACKEND, "no device today");
    session *self = calloc(1, sizeof *self);
    if (!self)
        return SZG_ENOMEM;
    self->ops.name = "cuda:fixture";
    self->ops.linalg = &self->linalg;
    self->linalg.gemm = gemm;
    self->precision = precision;
    *out = &self->ops;
    return SZG_OK;
}

static void close_session(szgi_ops *ops) {
    setenv("FIXTURE_CLOSED", "1", 1);
    free(ops);
}

static const szgi_plugin plugin = {.abi = FIXTURE_ABI,
                                   .version = FIXTURE_VERSION,
                                   .libraries = "Fixture 1.0",
                                   .devices = devices,
                                   .open = open_session,
                                   .close = close_session};

SZG_BEGIN_DECLS
const szgi_plugin *szego_plugin(const szgi_host *given);
SZG_END_DECLS

const szgi_plugin *szego_plugin(const szgi_host *given) {
    host = given;
    return &plugin;
}
