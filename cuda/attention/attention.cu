/* Attention's entries of the table: the arguments of the kernels. */
#include "attention.cuh"
#include "table.h"

static bool aligned16(const void *at) {
    return reinterpret_cast<uintptr_t>(at) % 16 == 0;
}

static vectors vectors_of(const void *at, int64_t ld, int64_t width) {
    vectors v;
    v.at = static_cast<float *>(const_cast<void *>(at));
    v.ld = ld;
    v.width = static_cast<int>(width);
    v.wide = aligned16(at) && ld % 4 == 0 && width % 4 == 0;
    return v;
}

static rotation rotation_of(const szgi_attention *s, const void *factors, bool coupled) {
    rotation r = {};
    r.wide = true;
    if (!coupled || s->pairs == 0)
        return r;
    r.factors = static_cast<const float *>(factors);
    r.stride = s->factor_stride;
    r.pairs = static_cast<int>(s->pairs);
    r.offset = static_cast<int>(s->rotary_offset);
    r.half = s->half;
    r.wide = aligned16(factors) && r.stride % 4 == 0 && r.offset % 4 == 0 &&
             r.pairs % (r.half ? 4 : 2) == 0;
    return r;
}

static dropping dropping_of(const szgi_attention *s) {
    dropping d = {};
    d.factor = 1;
    if (s->dropout.probability == 0)
        return d;
    d.block = s->dropout.block;
    d.purpose = s->dropout.purpose;
    d.threshold = szgi_network_threshold(s->dropout.probability);
    d.factor = static_cast<float>(1 / (1 - s->dropout.probability));
    d.aligned = s->length % 4 == 0;
    d.kept = static_cast<uint32_t *>(s->kept);
    return d;
}

static rounding rounding_of(szgi_precision precision) {
    static const rounding all[SZGI_PRECISIONS] = {
        {0x1000U, 0xFFFFE000U}, {0, 0xFFFFFFFFU}, {0x8000U, 0xFFFF0000U}};
    return all[precision];
}

/* What logits are made of. */
static attention_call logits_call(const szgi_attention *s, bool coupled) {
    attention_call a = {};
    a.batch = s->batch;
    a.heads = static_cast<int>(s->heads);
    a.length = static_cast<int>(s->length);
    a.q = vectors_of(s->q, s->ldq, s->d_qk);
    a.k = vectors_of(s->k, s->ldk, s->d_qk);
    a.q_rotation = rotation_of(s, s->q_factors, coupled);
    a.k_rotation = rotation_of(s, s->k_factors, coupled);
    a.scale = static_cast<float>(s->scale);
    a.bias = coupled ? static_cast<const float *>(s->bias) : NULL;
    a.narrow = rounding_of(SZGI_PRECISION_F32);
    return a;
}

static attention_call call_of(const session *self, const szgi_attention *s) {
    attention_call a = logits_call(s, true);
    a.v = vectors_of(s->v, s->ldv, s->d_v);
    a.out = vectors_of(s->out, s->ldout, s->d_v);
    a.causal = s->causal;
    a.lengths = s->lengths;
    a.dropout = dropping_of(s);
    a.log_sum = static_cast<float *>(s->log_sum);
    a.narrow = rounding_of(self->precision);
    return a;
}

/* The kernels count positions of a head with 32 bits. */
static szg_status check_length(szg_context *context, const szgi_attention *s) {
    enum { LONGEST = 1 << 28 };
    if (s->length <= LONGEST)
        return SZG_OK;
    return fail(context, SZG_EBACKEND, "length %lld: at most %d here", (long long)s->length,
                LONGEST);
}

static szg_status check_fused(szg_context *context, const szgi_attention *s) {
    SZG_TRY(check_length(context, s));
    if (s->d_qk <= ATTENTION_WIDEST && s->d_v <= ATTENTION_WIDEST)
        return SZG_OK;
    return fail(context, SZG_EBACKEND,
                "at most %d numbers a head here: more heads of a smaller size, or --backend cpu",
                ATTENTION_WIDEST);
}

#define NAMED(context, status, name, s)                                                            \
    named(context, status, name " %lld x %lld heads, length %lld, d_qk %lld, d_v %lld",            \
          (long long)(s)->batch, (long long)(s)->heads, (long long)(s)->length,                    \
          (long long)(s)->d_qk, (long long)(s)->d_v)

/* One bit a weight, each row in words of its own. */
int64_t gpu_attention_kept(const szgi_attention *s) {
    return s->batch * s->heads * s->length * kept_words(s->length) *
           static_cast<int64_t>(sizeof(uint32_t));
}

static szg_status run_forward(szg_context *context, const szgi_attention *s) {
    session *self = session_of(context);
    SZG_TRY(check_fused(context, s));
    return attention_forward(context, self, call_of(self, s));
}

szg_status gpu_attention(szg_context *context, const szgi_attention *s) {
    return NAMED(context, run_forward(context, s), "attention", s);
}

static szg_status run_backward(szg_context *context, const szgi_attention *s,
                               const szgi_attention_gradient *g) {
    session *self = session_of(context);
    SZG_TRY(check_fused(context, s));
    attention_call a = call_of(self, s);
    a.dout = vectors_of(g->dout, g->lddout, s->d_v);
    a.dq = vectors_of(g->dq, g->lddq, s->d_qk);
    a.dk = vectors_of(g->dk, g->lddk, s->d_qk);
    a.dv = vectors_of(g->dv, g->lddv, s->d_v);
    return attention_backward(context, self, a, static_cast<float *>(g->dbias));
}

szg_status gpu_attention_backward(szg_context *context, const szgi_attention *s,
                                  const szgi_attention_gradient *g) {
    return NAMED(context, run_backward(context, s, g), "attention backward", s);
}

static szg_status run_logits(szg_context *context, const szgi_attention *s, bool coupled,
                             void *logits) {
    session *self = session_of(context);
    SZG_TRY(check_length(context, s));
    return attention_logits(context, self, logits_call(s, coupled), static_cast<float *>(logits));
}

szg_status gpu_attention_logits(szg_context *context, const szgi_attention *s, bool coupled,
                                void *logits) {
    return NAMED(context, run_logits(context, s, coupled, logits), "attention logits", s);
}
