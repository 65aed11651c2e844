#include "fuzz.h"

/* Asks every value for every kind: one answer fits, the others are refused with a path. */
static void use_value(szg_json_value value) {
    szg_context *context = fuzz_context();
    const char *text;
    int64_t integer;
    double real;
    bool flag;
    int fits = (szg_json_as_text(context, value, &text) == SZG_OK) +
               (szg_json_as_integer(context, value, &integer) == SZG_OK) +
               (szg_json_as_boolean(context, value, &flag) == SZG_OK) +
               (szg_json_as_array(context, value) == SZG_OK) +
               (szg_json_as_object(context, value) == SZG_OK);
    bool is_real = szg_json_as_real(context, value, &real) == SZG_OK;
    szg_json_kind kind = szg_json_kind_of(value);
    FUZZ_PROMISE(fits == (kind != SZG_JSON_NULL && kind != SZG_JSON_REAL));
    FUZZ_PROMISE(is_real == (kind == SZG_JSON_REAL || kind == SZG_JSON_INTEGER));
    szg_status status = szg_json_as_hex(context, value, &real);
    if (status != SZG_OK)
        FUZZ_REFUSED(status, "fuzz: ");
}

static void walk(szg_json_value value, int depth) {
    use_value(value);
    if (depth == 0)
        return;
    if (szg_json_kind_of(value) == SZG_JSON_OBJECT)
        for (szg_json_value member = {0}; szg_json_next(value, &member);)
            walk(member, depth - 1);
    if (szg_json_kind_of(value) == SZG_JSON_ARRAY)
        for (int64_t i = 0; i < szg_json_count(value); i++)
            walk(szg_json_element(value, i), depth - 1);
}

/* What is printed reads back and prints the same. */
static void print_again(const szg_json *json, int indent) {
    szg_context *context = fuzz_context();
    szg_json *again;
    char *first, *second;
    FUZZ_PROMISE(szg_json_text(context, szg_json_root(json), indent, &first) == SZG_OK);
    FUZZ_PROMISE(szg_json_parse(context, "again", first, (int64_t)strlen(first), &again) == SZG_OK);
    FUZZ_PROMISE(szg_json_text(context, szg_json_root(again), indent, &second) == SZG_OK);
    FUZZ_PROMISE(strcmp(first, second) == 0);
    szg_memory_free(first);
    szg_memory_free(second);
    szg_json_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_json *json;
    szg_status status = szg_json_parse(fuzz_context(), "fuzz", data, (int64_t)size, &json);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    walk(szg_json_root(json), 4);
    print_again(json, 0);
    print_again(json, 2);
    szg_json_close(&json);
    return 0;
}
