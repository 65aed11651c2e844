#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"

static szg_status same_number(szg_context *context, szgi_json_value first, szgi_json_value second) {
    double a, b;
    SZG_TRY(szgi_json_as_real(context, first, &a));
    SZG_TRY(szgi_json_as_real(context, second, &b));
    if (a != b)
        return szgi_json_fail(context, second,
                              "is %.17g, but '%s' is %.17g: they are two names of one value", b,
                              first.key, a);
    return SZG_OK;
}

szg_status szgi_config_find(szg_context *context, szgi_json_value object,
                            const char *const *aliases, szgi_json_value *out) {
    *out = szgi_json_member(object, aliases[0]);
    bool found = false;
    for (const char *const *alias = aliases; *alias; alias++) {
        if (!szgi_json_has(object, *alias))
            continue;
        szgi_json_value value = szgi_json_member(object, *alias);
        if (found)
            SZG_TRY(same_number(context, *out, value));
        else
            *out = value;
        found = true;
    }
    return SZG_OK;
}

szg_status szgi_config_integer(szg_context *context, szgi_json_value object,
                               const char *const *aliases, int64_t least, int64_t *out) {
    szgi_json_value value;
    SZG_TRY(szgi_config_find(context, object, aliases, &value));
    SZG_TRY(szgi_json_as_integer(context, value, out));
    if (*out < least)
        return szgi_json_fail(context, value, "is %" PRId64 ", and must be at least %" PRId64, *out,
                              least);
    return SZG_OK;
}

szg_status szgi_config_flag(szg_context *context, szgi_json_value object, const char *key,
                            bool otherwise, bool *out) {
    *out = otherwise;
    if (!szgi_json_has(object, key))
        return SZG_OK;
    return szgi_json_as_boolean(context, szgi_json_member(object, key), out);
}

szg_status szgi_config_positive(szg_context *context, szgi_json_value value, double *out) {
    SZG_TRY(szgi_json_as_real(context, value, out));
    if (!(*out > 0) || !isfinite(*out))
        return szgi_json_fail(context, value, "is %.17g, and must be positive and finite", *out);
    return SZG_OK;
}

const char *szgi_config_quantisation(szgi_json_value root, char *text, size_t size) {
    static const struct {
        const char *method, *name;
    } names[] = {{"gptq", "GPTQ"}, {"awq", "AWQ"}, {"fp8", "FP8"}, {"mxfp4", "MXFP4"}};
    szgi_json_value settings = szgi_json_member(root, "quantization_config");
    const char *method, *type = "";
    if (!szgi_json_has(settings, "quant_method") ||
        szgi_json_as_text(NULL, szgi_json_member(settings, "quant_method"), &method) != SZG_OK)
        return NULL;
    if (szgi_json_has(settings, "bnb_4bit_quant_type") &&
        szgi_json_as_text(NULL, szgi_json_member(settings, "bnb_4bit_quant_type"), &type) != SZG_OK)
        type = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(method, names[i].method) == 0)
            method = names[i].name;
    snprintf(text, size, "%s%s%s", method, *type ? " " : "",
             strcmp(type, "nf4") == 0   ? "NF4"
             : strcmp(type, "fp4") == 0 ? "FP4"
                                        : type);
    return text;
}

szg_status szgi_text_append(szg_context *context, char **text, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t before = *text ? strlen(*text) : 0;
    size_t size = before + 2 + strlen(sentence) + 1;
    char *whole;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &whole));
    snprintf(whole, size, "%s%s%s", before ? *text : "", before ? "; " : "", sentence);
    szgi_memory_free(*text);
    *text = whole;
    return SZG_OK;
}
