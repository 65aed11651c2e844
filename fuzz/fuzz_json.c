#include "base/memory.h"
#include "formats/json.h"
#include "fuzz.h"

/* Asks every value for every kind: one answer fits, the others are refused with a path. */
static void use_value(szgi_json_value value) {
    szg_context *context = fuzz_context();
    const char *text;
    int64_t integer;
    double real;
    bool flag;
    int fits = (szgi_json_as_text(context, value, &text) == SZG_OK) +
               (szgi_json_as_integer(context, value, &integer) == SZG_OK) +
               (szgi_json_as_boolean(context, value, &flag) == SZG_OK) +
               (szgi_json_as_array(context, value) == SZG_OK) +
               (szgi_json_as_object(context, value) == SZG_OK);
    bool is_real = szgi_json_as_real(context, value, &real) == SZG_OK;
    szgi_json_kind kind = szgi_json_kind_of(value);
    FUZZ_PROMISE(fits == (kind != SZGI_JSON_NULL && kind != SZGI_JSON_REAL));
    FUZZ_PROMISE(is_real == (kind == SZGI_JSON_REAL || kind == SZGI_JSON_INTEGER));
    szg_status status = szgi_json_as_hex(context, value, &real);
    if (status != SZG_OK)
        FUZZ_REFUSED(status, "fuzz: ");
}

static void walk(szgi_json_value value, int depth) {
    use_value(value);
    if (depth == 0)
        return;
    if (szgi_json_kind_of(value) == SZGI_JSON_OBJECT)
        for (szgi_json_value member = {0}; szgi_json_next(value, &member);)
            walk(member, depth - 1);
    if (szgi_json_kind_of(value) == SZGI_JSON_ARRAY)
        for (int64_t i = 0; i < szgi_json_count(value); i++)
            walk(szgi_json_element(value, i), depth - 1);
}

/* What is printed reads back and prints the same. */
static void print_again(const szgi_json *json, int indent) {
    szg_context *context = fuzz_context();
    szgi_json *again;
    char *first, *second;
    FUZZ_PROMISE(szgi_json_text(context, szgi_json_root(json), indent, &first) == SZG_OK);
    FUZZ_PROMISE(szgi_json_parse(context, "again", first, (int64_t)strlen(first), &again) ==
                 SZG_OK);
    FUZZ_PROMISE(szgi_json_text(context, szgi_json_root(again), indent, &second) == SZG_OK);
    FUZZ_PROMISE(strcmp(first, second) == 0);
    szgi_memory_free(first);
    szgi_memory_free(second);
    szgi_json_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_json *json;
    szg_status status = szgi_json_parse(fuzz_context(), "fuzz", data, (int64_t)size, &json);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    walk(szgi_json_root(json), 4);
    print_again(json, 0);
    print_again(json, 2);
    szgi_json_close(&json);
    return 0;
}
