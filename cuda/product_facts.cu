/* What is told of products: which passes their epilogues took along, by which algorithm they are
 * computed; and algorithms that were chosen before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product_plan.h"

static uint32_t fused_of(const product_key *key) {
    return key->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ? SZGI_EPILOGUE_BIAS | SZGI_EPILOGUE_RELU
           : key->epilogue == CUBLASLT_EPILOGUE_BIAS    ? SZGI_EPILOGUE_BIAS
                                                        : 0;
}

/* Gaps are zeros: compared as bytes. */
static void describe_fact(const session *self, const product_plan *plan, uint32_t separate,
                          szgi_product_fact *out) {
    const product_key *key = &plan->key;
    memset(out, 0, sizeof *out);
    out->backend = self->ops.name;
    out->device = self->device.name;
    out->library = self->plans->library;
    out->m = key->m, out->n = key->n, out->k = key->k;
    out->lda = key->lda, out->ldb = key->ldb, out->ldc = key->ldc;
    out->transpose_a = key->transpose_a, out->transpose_b = key->transpose_b;
    out->add = key->add;
    out->alignment_a = key->align_a, out->alignment_b = key->align_b;
    out->alignment_c = key->align_c, out->alignment_bias = key->align_bias;
    out->fused = fused_of(key);
    out->separate = separate;
    static_assert(sizeof out->algorithm == sizeof plan->algorithm, "an algorithm has 64 bytes");
    memcpy(out->algorithm, &plan->algorithm, sizeof out->algorithm);
    out->candidates = plan->candidates;
    out->microseconds = plan->microseconds;
}

/* Room for one more. */
static szg_status grow_facts(szg_context *context, product_plans *plans) {
    if (plans->facts < plans->room)
        return SZG_OK;
    int64_t room = plans->room > 0 ? 2 * plans->room : 64;
    void *more = realloc(plans->fact, static_cast<size_t>(room) * sizeof *plans->fact);
    if (!more)
        return fail(context, SZG_ENOMEM, "%lld bytes of host memory were refused",
                    (long long)room * (long long)sizeof *plans->fact);
    plans->fact = static_cast<szgi_product_fact *>(more);
    plans->room = room;
    return SZG_OK;
}

static szg_status add_fact(szg_context *context, product_plans *plans,
                           const szgi_product_fact *fact) {
    for (int64_t i = 0; i < plans->facts; i++)
        if (memcmp(&plans->fact[i], fact, sizeof *fact) == 0)
            return SZG_OK;
    SZG_TRY(grow_facts(context, plans));
    memcpy(&plans->fact[plans->facts++], fact, sizeof *fact);
    return SZG_OK;
}

szg_status product_note(szg_context *context, session *self, const product_done *done,
                        uint32_t separate) {
    szgi_product_fact fact;
    describe_fact(self, done->plan, separate, &fact);
    return add_fact(context, self->plans, &fact);
}

void product_facts(const session *self, int64_t room, szgi_product_fact *out, int64_t *count) {
    *count = self->plans ? self->plans->facts : 0;
    for (int64_t i = 0; i < *count && i < room; i++)
        out[i] = self->plans->fact[i];
}

/* ---- What is kept ---- */

const szgi_product_fact *fact_of(const product_plans *plans, const product_key *key) {
    for (int64_t i = 0; i < plans->facts; i++) {
        const szgi_product_fact *f = &plans->fact[i];
        if (f->m == key->m && f->n == key->n && f->k == key->k && f->lda == key->lda &&
            f->ldb == key->ldb && f->ldc == key->ldc && f->transpose_a == (key->transpose_a != 0) &&
            f->transpose_b == (key->transpose_b != 0) && f->add == (key->add != 0) &&
            f->alignment_a == key->align_a && f->alignment_b == key->align_b &&
            f->alignment_c == key->align_c && f->alignment_bias == key->align_bias &&
            f->fused == fused_of(key))
            return f;
    }
    return NULL;
}

/* The fact as this session would tell it: gaps are zeros, names its own. */
static void adopt_fact(const session *self, const szgi_product_fact *kept, szgi_product_fact *out) {
    memset(out, 0, sizeof *out);
    out->backend = self->ops.name;
    out->device = self->device.name;
    out->library = self->plans->library;
    out->m = kept->m, out->n = kept->n, out->k = kept->k;
    out->lda = kept->lda, out->ldb = kept->ldb, out->ldc = kept->ldc;
    out->transpose_a = kept->transpose_a, out->transpose_b = kept->transpose_b;
    out->add = kept->add;
    out->alignment_a = kept->alignment_a, out->alignment_b = kept->alignment_b;
    out->alignment_c = kept->alignment_c, out->alignment_bias = kept->alignment_bias;
    out->fused = kept->fused, out->separate = kept->separate;
    memcpy(out->algorithm, kept->algorithm, sizeof out->algorithm);
    out->candidates = kept->candidates;
    out->microseconds = kept->microseconds;
}

szg_status product_begin(szg_context *context, session *self, bool timed, int64_t count,
                         const szgi_product_fact *kept) {
    const szgi_product_fact *other = NULL;
    SZG_TRY(plans_open(context, self));
    plans_forget(self->plans);
    self->plans->timed = timed;
    for (int64_t i = 0; i < count; i++) {
        szgi_product_fact fact;
        adopt_fact(self, &kept[i], &fact);
        if (strcmp(kept[i].backend, fact.backend) == 0 &&
            strcmp(kept[i].device, fact.device) == 0 && strcmp(kept[i].library, fact.library) == 0)
            SZG_TRY(add_fact(context, self->plans, &fact));
        else
            other = &kept[i];
    }
    if (!other)
        return SZG_OK;
    char text[512];
    snprintf(
        text, sizeof text,
        "products: the algorithms that are kept were chosen for %s on %s with %s, this is %s on "
        "%s with %s: they are chosen anew, and the last bits may differ",
        other->backend, other->device, other->library, self->ops.name, self->device.name,
        self->plans->library);
    cuda_host->say(context, SZG_WARNING, text);
    return SZG_OK;
}
