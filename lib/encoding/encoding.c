#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "formats/coefficients.h"
#include "encoding/record.h"

static szg_status take_spec(szg_context *context, szg_encoding *encoding) {
    const encoding_record *record = szgi_encoding_record_at(szgi_spec_class_index(encoding->spec));
    encoding->record = record;
    encoding->attaches = record->traits.attaches;
    encoding->heads = 1;
    encoding->matrices = 1;
    encoding->limit = INT64_MAX;
    SZG_TRY(szgi_memory_take(context, record->state_size, 1, &encoding->state));
    return record->open ? record->open(context, encoding) : SZG_OK;
}

szg_status szgi_encoding_take_spec(szg_context *context, szgi_spec *spec, szg_encoding **out) {
    *out = NULL;
    szg_encoding *encoding;
    szg_status status = szgi_memory_alloc(context, 1, &encoding);
    if (status != SZG_OK) {
        szgi_spec_close(&spec);
        return status;
    }
    encoding->spec = spec;
    status = take_spec(context, encoding);
    if (status != SZG_OK)
        szg_encoding_close(&encoding);
    *out = encoding;
    return status;
}

szg_status szg_encoding_parse(szg_context *context, const char *spec, szg_encoding **out) {
    szgi_spec *parsed;
    *out = NULL;
    SZGI_ENTER(context);
    SZG_TRY(szgi_encoding_spec_parse(context, spec, &parsed));
    return szgi_encoding_take_spec(context, parsed, out);
}

szg_status szgi_encoding_open(szg_context *context, const char *name, const szgi_key_value *values,
                              int64_t count, szg_encoding **out) {
    szgi_spec *spec;
    *out = NULL;
    SZG_TRY(szgi_encoding_spec_open(context, name, values, count, &spec));
    return szgi_encoding_take_spec(context, spec, out);
}

szg_status szgi_encoding_open_completed(szg_context *context, const char *spec,
                                        const szgi_key_value *values, int64_t count,
                                        szg_encoding **out) {
    szgi_spec *parsed;
    *out = NULL;
    SZG_TRY(szgi_encoding_spec_parse(context, spec, &parsed));
    szg_status status = szgi_spec_add(context, parsed, values, count);
    if (status == SZG_OK)
        return szgi_encoding_take_spec(context, parsed, out);
    szgi_spec_close(&parsed);
    return status;
}

void szg_encoding_close(szg_encoding **encoding) {
    if (!encoding || !*encoding)
        return;
    szg_encoding *e = *encoding;
    if (e->state && e->record->close)
        e->record->close(e->state);
    szgi_memory_free(e->state);
    szgi_memory_free(e->bad);
    szgi_spec_close(&e->spec);
    szgi_memory_free(e);
    *encoding = NULL;
}

const char *szg_encoding_spec(const szg_encoding *encoding) {
    return szgi_spec_canonical(encoding->spec);
}

int64_t szg_encoding_heads(const szg_encoding *encoding) {
    return encoding->heads;
}

int64_t szgi_encoding_dimension(const szg_encoding *encoding) {
    return encoding->dim;
}

int64_t szgi_encoding_input_dimension(const szg_encoding *encoding) {
    if (!(encoding->attaches & SZGI_ATTACH_INPUT))
        return 0;
    return encoding->input_dim ? encoding->input_dim : encoding->dim;
}

int szgi_encoding_attaches(const szg_encoding *encoding) {
    return encoding->attaches;
}

int64_t szg_encoding_matrices(const szg_encoding *encoding) {
    return encoding->matrices;
}

/* ---- Rotation ---- */

bool szgi_encoding_gives(const szg_encoding *encoding, const char *key) {
    const szgi_spec_class *class = &encoding->record->traits.class;
    for (int64_t i = 0; i < class->keys; i++)
        if (strcmp(class->key[i].name, key) == 0)
            return szgi_spec_given(encoding->spec, key);
    return false;
}

double szgi_encoding_base(const szg_encoding *encoding) {
    return encoding->attaches & SZGI_ATTACH_ROTARY ? szgi_spec_real(encoding->spec, "base") : NAN;
}

const char *szgi_encoding_pairing(const szg_encoding *encoding) {
    if (!(encoding->attaches & SZGI_ATTACH_ROTARY))
        return NULL;
    return szgi_spec_text(encoding->spec, "pairing");
}

szg_status szgi_encoding_need_pairing(szg_context *context, const szg_encoding *encoding) {
    if (!szgi_encoding_pairing(encoding) || szgi_encoding_gives(encoding, "pairing"))
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%s: queries and keys do not show which dimensions rotate together: add "
                     "pairing=half (t with t + rotary/2: most models of Hugging Face, Llama, Qwen, "
                     "Gemma and GPT-NeoX among them) or pairing=interleaved (2t with 2t + 1: the "
                     "original RoPE and Llama, GPT-J, Cohere, decoders of szego)",
                     szg_encoding_spec(encoding));
}

/* ---- Arguments ---- */

szg_status szgi_encoding_check_head(szg_context *context, const szg_encoding *encoding,
                                    int64_t head) {
    if (head >= 0 && head < encoding->heads && !(encoding->bad && encoding->bad[head]))
        return SZG_OK;
    if (head >= 0 && head < encoding->heads)
        return szgi_fail(context, SZG_EDATA,
                         "%s: head %" PRId64 ": a coefficient is NaN or infinite, or their moduli "
                         "sum beyond %g, so that results overflow: divide them by a power of two",
                         szg_encoding_spec(encoding), head, SZGI_COEFFICIENTS_SUM);
    return szgi_fail(context, SZG_EINVAL, "%s: head %" PRId64 " is outside 0 .. %" PRId64,
                     szg_encoding_spec(encoding), head, encoding->heads - 1);
}

szg_status szgi_encoding_check_length(szg_context *context, const szg_encoding *encoding,
                                      int64_t n) {
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "%s: N = %" PRId64 " must be at least 1",
                         szg_encoding_spec(encoding), n);
    if (n > encoding->limit)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: N = %" PRId64 " goes beyond the %" PRId64
                         " positions that it is defined for",
                         szg_encoding_spec(encoding), n, encoding->limit);
    return SZG_OK;
}

szg_status szgi_encoding_lacks(szg_context *context, const szg_encoding *encoding,
                               const char *what) {
    return szgi_fail(context, SZG_EDOMAIN, "%s has no %s", szg_encoding_spec(encoding), what);
}
