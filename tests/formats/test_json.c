#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/csv.h"
#include "formats/json.h"

#include "scratch.h"

static szg_status parse(const char *text, szgi_json **out) {
    return szgi_json_parse(test_context(), "config.json", text, (int64_t)strlen(text), out);
}

/* Every bit pattern that is a number reads back from decimal and hexadecimal text. */
START_TEST(numbers_read_back) {
    szgi_stream stream = {.seed = test_seed(), .purpose = 11};
    char text[SZGI_REAL_TEXT];
    static const double corners[] = {
        0.0,       -0.0,    0.1,      1e23,      DBL_MAX,           DBL_MIN,
        0x1p-1074, 1 / 3.0, INFINITY, -INFINITY, 9007199254740993.0};
    for (uint64_t i = 0; i < (uint64_t)test_trials(20000); i++) {
        uint64_t bits =
            (uint64_t)szgi_random_word(&stream, 2 * i) << 32 | szgi_random_word(&stream, 2 * i + 1);
        double x, y = 0, z = 0;
        memcpy(&x, &bits, sizeof x);
        if (i < sizeof corners / sizeof *corners)
            x = corners[i];
        else if (i % 3 == 0)
            x = test_real(&stream, i);
        ck_assert_msg(szgi_real_parse(szgi_real_text(x, text), &y), "%s", text);
        ck_assert_msg(isnan(x) ? isnan(y) : memcmp(&x, &y, sizeof x) == 0, "%a: %s", x, text);
        ck_assert_msg(szgi_real_parse(szgi_hex_text(x, text), &z), "%s", text);
        ck_assert_msg(isnan(x) ? isnan(z) : memcmp(&x, &z, sizeof x) == 0, "%a: %s", x, text);
    }
    ck_assert_str_eq(szgi_real_text(0.1, text), "0.1");
    ck_assert_str_eq(szgi_real_text(NAN, text), "nan");
}
END_TEST

START_TEST(half_numbers_are_refused) {
    static const char *const bad[] = {"",          " 1",  "1 ",   "1,5", "1e999", "-1e999",
                                      "0x1p99999", "one", "1.5x", "--1", "+"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double x = 7;
        ck_assert_msg(!szgi_real_parse(bad[i], &x) && x == 7, "\"%s\" passed", bad[i]);
    }
}
END_TEST

START_TEST(members_are_read) {
    szgi_json *json;
    ck_szg_ok(parse("{\"rope_parameters\": {\"rope_theta\": 10000, \"factor\": 0.5}, "
                    "\"heads\": [1, 2, \"three\", null, true], \"x\": \"0x1.8p+1\"}",
                    &json));
    szgi_json_value root = szgi_json_root(json), rope = szgi_json_member(root, "rope_parameters");
    szgi_json_value heads = szgi_json_member(root, "heads");
    double x;
    int64_t n;
    bool flag;
    const char *text;
    ck_szg_ok(szgi_json_as_real(test_context(), szgi_json_member(rope, "rope_theta"), &x));
    ck_assert_double_eq(x, 10000);
    ck_szg_ok(szgi_json_as_integer(test_context(), szgi_json_element(heads, 1), &n));
    ck_assert_int_eq(n, 2);
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_element(heads, 2), &text));
    ck_assert_str_eq(text, "three");
    ck_szg_ok(szgi_json_as_boolean(test_context(), szgi_json_element(heads, 4), &flag));
    ck_assert(flag);
    ck_szg_ok(szgi_json_as_hex(test_context(), szgi_json_member(root, "x"), &x));
    ck_assert_double_eq(x, 3);
    ck_szg_ok(szgi_json_as_array(test_context(), heads));
    ck_szg_ok(szgi_json_as_object(test_context(), rope));
    ck_assert_int_eq(szgi_json_count(heads), 5);
    ck_assert_int_eq(szgi_json_count(root), 3);
    ck_assert(szgi_json_has(rope, "factor") && !szgi_json_has(rope, "nothing"));
    ck_assert(szgi_json_kind_of(szgi_json_element(heads, 3)) == SZGI_JSON_NULL);
    ck_assert(szgi_json_kind_of(szgi_json_element(heads, 5)) == SZGI_JSON_ABSENT);
    ck_assert(szgi_json_kind_of(szgi_json_element(heads, -1)) == SZGI_JSON_ABSENT);
    char order[64] = "";
    for (szgi_json_value at = {0}; szgi_json_next(root, &at);)
        strcat(strcat(order, at.key), " ");
    ck_assert_str_eq(order, "rope_parameters heads x ");
    szgi_json_close(&json);
    ck_assert_ptr_null(json);
}
END_TEST

/* A message names the file and the whole path, also of values that occur several times. */
START_TEST(messages_name_the_path) {
    szgi_json *json;
    double x;
    int64_t n;
    const char *text;
    ck_szg_ok(
        parse("{\"a\": null, \"rope\": {\"theta\": null, \"list\": [0, {\"y\": 1.5}]}}", &json));
    szgi_json_value root = szgi_json_root(json), rope = szgi_json_member(root, "rope");
    szgi_json_value y = szgi_json_member(szgi_json_element(szgi_json_member(rope, "list"), 1), "y");
    ck_szg_fails(SZG_EDATA, "config.json: rope.theta: is null, not a real number",
                 szgi_json_as_real(test_context(), szgi_json_member(rope, "theta"), &x));
    ck_szg_fails(SZG_EDATA, "config.json: rope.factor: is missing",
                 szgi_json_as_real(test_context(), szgi_json_member(rope, "factor"), &x));
    ck_szg_fails(SZG_EDATA, "config.json: rope.list[1].y: is a real number, not an integer",
                 szgi_json_as_integer(test_context(), y, &n));
    ck_szg_fails(SZG_EDATA, "config.json: rope.list[7]: is missing",
                 szgi_json_as_text(test_context(),
                                   szgi_json_element(szgi_json_member(rope, "list"), 7), &text));
    ck_szg_fails(SZG_EDATA, "config.json: none: is missing",
                 szgi_json_as_text(test_context(),
                                   szgi_json_member(szgi_json_member(root, "none"), "deeper"),
                                   &text));
    ck_szg_fails(SZG_EDATA, "rope.list[1].y.z: is missing: its parent is a real number",
                 szgi_json_as_text(test_context(), szgi_json_member(y, "z"), &text));
    ck_szg_fails(SZG_EDATA, "config.json: is an object, not an array",
                 szgi_json_as_array(test_context(), root));
    ck_assert(szgi_json_fail(test_context(), y, "%d is odd", 3) == SZG_EDATA);
    ck_assert_str_eq(szg_context_message(test_context()), "config.json: rope.list[1].y: 3 is odd");
    szgi_json_close(&json);
}
END_TEST

START_TEST(bad_documents_are_refused) {
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "line 1"},
        {"{\"a\": 1,\n \"a\": 2}", "duplicate"},
        {"{\"a\": \"\xFF\"}", "decode"},
        {"{\"a\": \"\\u0000\"}", "\\u0000"},
        {"{\"a\": 1} x", "end of file expected"},
        {"{\"a\": 1e999}", "real"},
        {"{\"a\": 99999999999999999999}", "integer"},
        {"{\"a\": NaN}", "NaN"},
        {"{\"a\": 1,}", "string"},
        {"[1\n,\n2", "line 3"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szgi_json *json;
        ck_szg_fails(SZG_EDATA, bad[i].words, parse(bad[i].text, &json));
        ck_szg_fails(SZG_EDATA, "config.json: line ", parse(bad[i].text, &json));
        ck_assert_ptr_null(json);
    }
    char deep[10000];
    szgi_json *json;
    memset(deep, '[', sizeof deep);
    ck_szg_fails(SZG_EDATA, "depth",
                 szgi_json_parse(test_context(), "deep", deep, sizeof deep, &json));
    ck_szg_fails(SZG_EIO, "cannot be read",
                 szgi_json_read(test_context(), scratch_path("none.json"), &json));
    ck_szg_fails(SZG_EDATA, "config.json: is a Git LFS pointer, not the file itself: git lfs pull",
                 szgi_json_read(
                     test_context(),
                     scratch_text("config.json", "version https://git-lfs.github.com/spec/v1\noid"),
                     &json));
}
END_TEST

static szg_status build(szgi_json **out) {
    szg_context *context = test_context();
    szgi_json *list = NULL;
    szg_status status;
    *out = NULL;
    SZG_TRY_GOTO(status, szgi_json_open_object(context, out), fail);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &list), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, *out, "text", "a\"b\\c\n\x01\x7F\xC3\xA9"),
                 fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, *out, "bad\xFF", "\xE2\x82"), fail);
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, *out, "least", INT64_MIN), fail);
    SZG_TRY_GOTO(status, szgi_json_add_real(context, *out, "tenth", 0.1), fail);
    SZG_TRY_GOTO(status, szgi_json_add_real(context, *out, "nan", (double)NAN), fail);
    SZG_TRY_GOTO(status, szgi_json_add_hex(context, *out, "hex", 0.1), fail);
    SZG_TRY_GOTO(status, szgi_json_add_boolean(context, *out, "flag", true), fail);
    SZG_TRY_GOTO(status, szgi_json_add_real(context, list, NULL, 1), fail);
    SZG_TRY_GOTO(status, szgi_json_add_real(context, list, NULL, -0.0), fail);
    SZG_TRY_GOTO(status, szgi_json_add(context, *out, "list", &list), fail);
    return SZG_OK;
fail:
    szgi_json_close(&list);
    szgi_json_close(out);
    return status;
}

START_TEST(built_documents_print_and_read_back) {
    static const char want[] =
        "{\"text\":\"a\\\"b\\\\c\\n\\u0001\\u007f\xC3\xA9\",\"bad\xEF\xBF\xBD\":"
        "\"\xEF\xBF\xBD\xEF\xBF\xBD\","
        "\"least\":-9223372036854775808,\"tenth\":0.1,\"nan\":null,"
        "\"hex\":\"0x1.999999999999ap-4\",\"flag\":true,\"list\":[1.0,-0.0]}";
    szgi_json *json, *again;
    char *text, *second;
    ck_szg_ok(build(&json));
    ck_szg_ok(szgi_json_text(test_context(), szgi_json_root(json), 0, &text));
    ck_assert_str_eq(text, want);
    ck_szg_ok(szgi_json_write(test_context(), json, scratch_path("built.json")));
    ck_szg_ok(szgi_json_read(test_context(), scratch_path("built.json"), &again));
    ck_szg_ok(szgi_json_text(test_context(), szgi_json_root(again), 0, &second));
    ck_assert_str_eq(second, want);
    ck_szg_fails(SZG_EINVAL, "an element cannot be added to an object",
                 szgi_json_add_boolean(test_context(), json, NULL, true));
    szgi_memory_free(text);
    szgi_memory_free(second);
    szgi_json_close(&json);
    szgi_json_close(&again);
}
END_TEST

START_TEST(indented_text_is_stable) {
    szgi_json *json;
    char *text;
    ck_szg_ok(parse("{\"a\": {\"b\": [1, 2], \"c\": []}, \"d\": [[1], {}]}", &json));
    ck_szg_ok(szgi_json_text(test_context(), szgi_json_root(json), 2, &text));
    ck_assert_str_eq(text, "{\n  \"a\": {\n    \"b\": [1, 2],\n    \"c\": []\n  },\n"
                           "  \"d\": [\n    [1],\n    {}\n  ]\n}");
    szgi_memory_free(text);
    szgi_json_close(&json);
}
END_TEST

/* Of a part of a document, which the copy outlives; messages still name the file. */
START_TEST(copies_are_their_own) {
    szgi_json *json, *copy, *none;
    char *text;
    int64_t value;
    ck_szg_ok(parse("{\"a\": {\"b\": [1, -0.0, \"x\"], \"c\": {}}}", &json));
    ck_szg_ok(szgi_json_copy(test_context(), szgi_json_member(szgi_json_root(json), "a"), &copy));
    ck_szg_fails(
        SZG_EDATA, "z: is missing",
        szgi_json_copy(test_context(), szgi_json_member(szgi_json_root(json), "z"), &none));
    szgi_json_close(&json);
    ck_szg_ok(szgi_json_text(test_context(), szgi_json_root(copy), 0, &text));
    ck_assert_str_eq(text, "{\"b\":[1,-0.0,\"x\"],\"c\":{}}");
    ck_szg_fails(
        SZG_EDATA, "config.json: c: is ",
        szgi_json_as_integer(test_context(), szgi_json_member(szgi_json_root(copy), "c"), &value));
    szgi_memory_free(text);
    szgi_json_close(&copy);
}
END_TEST

START_TEST(full_disks_are_noticed) {
    szgi_json *json;
    ck_szg_ok(build(&json));
    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    ck_szg_fails(SZG_EIO, "cannot be written: No space left",
                 szgi_json_print(test_context(), szgi_json_root(json), 0, full));
    fclose(full);
    ck_szg_fails(SZG_EIO, "cannot be written",
                 szgi_json_write(test_context(), json, scratch_path("no/such/folder.json")));
    szgi_json_close(&json);
}
END_TEST

START_TEST(json_survives_failed_allocations) {
    szgi_json *json, *copy;
    char *text;
    const char *path = scratch_path("built.json");
    ck_survives_failed_allocations(1, build(&json));
    /* The growing text, its memory, the copy. */
    ck_survives_failed_allocations(2,
                                   szgi_json_text(test_context(), szgi_json_root(json), 0, &text));
    szgi_memory_free(text);
    ck_survives_failed_allocations(1, szgi_json_copy(test_context(), szgi_json_root(json), &copy));
    szgi_json_close(&copy);
    ck_survives_failed_allocations(1, szgi_json_write(test_context(), json, path));
    szgi_json_close(&json);
    ck_survives_failed_allocations(1, szgi_json_read(test_context(), path, &json));
    szgi_json_close(&json);
}
END_TEST

TEST_FILE("json") {
    test_add(suite, "numbers_read_back", numbers_read_back);
    test_add(suite, "half_numbers_are_refused", half_numbers_are_refused);
    test_add(suite, "members_are_read", members_are_read);
    test_add(suite, "messages_name_the_path", messages_name_the_path);
    test_add(suite, "bad_documents_are_refused", bad_documents_are_refused);
    test_add(suite, "built_documents_print_and_read_back", built_documents_print_and_read_back);
    test_add(suite, "indented_text_is_stable", indented_text_is_stable);
    test_add(suite, "copies_are_their_own", copies_are_their_own);
    test_add(suite, "full_disks_are_noticed", full_disks_are_noticed);
    test_add(suite, "json_survives_failed_allocations", json_survives_failed_allocations);
}
