/* Labelled sequences: sets that grow, JSONL in and out, hostile files. */
#include <stdlib.h>
#include <string.h>
#include "formats/examples.h"

#include "scratch.h"

static szg_status read_text(const char *text, szg_examples *out) {
    return szgi_examples_read_bytes(test_context(), "x.jsonl", text, (int64_t)strlen(text), out);
}

/* Random examples that lean to the corners: one token, the largest id, the largest label. */
static void fill(szg_examples *out, uint32_t purpose, int64_t count) {
    szgi_stream stream = {.seed = test_seed(), .purpose = purpose};
    int32_t tokens[200];
    for (int64_t e = 0; e < count; e++) {
        stream.step = (uint32_t)e;
        int64_t length = 1 + (e % 5 ? szgi_random_below(&stream, 1, 200) : 0);
        for (int64_t i = 0; i < length; i++) {
            int64_t bits = szgi_random_below(&stream, 300 + (uint64_t)i, 32);
            tokens[i] = 1 + (int32_t)szgi_random_below(&stream, 2 + (uint64_t)i,
                                                       ((int64_t)1 << bits) - (bits == 31));
        }
        int32_t label = e % 7 == 1 ? INT32_MAX : (int32_t)szgi_random_below(&stream, 0, 100);
        ck_szg_ok(szgi_examples_add(test_context(), out, length, tokens, label));
    }
}

static void check_equal(const szg_examples *a, const szg_examples *b) {
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->longest, b->longest);
    ck_assert_int_eq(a->largest_token, b->largest_token);
    ck_assert_int_eq(a->largest_label, b->largest_label);
    size_t count = (size_t)a->count;
    ck_assert_mem_eq(a->start, b->start, (count + 1) * sizeof *a->start);
    ck_assert_mem_eq(a->label, b->label, count * sizeof *a->label);
    ck_assert_mem_eq(a->tokens, b->tokens, (size_t)a->start[count] * sizeof *a->tokens);
}

static void check_summary(const szg_examples *set) {
    int64_t longest = 0;
    int32_t token = 0, label = 0;
    for (int64_t e = 0; e < set->count; e++) {
        int64_t count = set->start[e + 1] - set->start[e];
        longest = count > longest ? count : longest;
        label = set->label[e] > label ? set->label[e] : label;
    }
    for (int64_t i = 0; i < set->start[set->count]; i++)
        token = set->tokens[i] > token ? set->tokens[i] : token;
    ck_assert(set->longest == longest && set->largest_token == token);
    ck_assert_int_eq(set->largest_label, label);
}

START_TEST(sets_come_back_equal) {
    szg_examples set = {0}, copy = {0}, again;
    fill(&set, 601, test_trials(2000));
    check_summary(&set);
    ck_szg_ok(szg_examples_append(test_context(), &copy, &set));
    check_equal(&set, &copy);
    szg_examples_close(&copy);
    const char *path = scratch_path("set.jsonl");
    ck_szg_ok(szg_examples_write(test_context(), &set, NULL, set.count, path));
    ck_szg_ok(szg_examples_read(test_context(), path, &again));
    check_equal(&set, &again);
    szg_examples_close(&again);
    ck_assert_ptr_null(again.tokens);
    szg_examples_close(&set);
    szg_examples_close(NULL);
}
END_TEST

START_TEST(order_selects) {
    szg_examples set = {0}, again;
    fill(&set, 602, 9);
    static const int64_t order[] = {8, 0, 8, 3};
    const char *path = scratch_path("order.jsonl");
    ck_szg_ok(szg_examples_write(test_context(), &set, order, 4, path));
    ck_szg_ok(szg_examples_read(test_context(), path, &again));
    ck_assert_int_eq(again.count, 4);
    for (int i = 0; i < 4; i++) {
        int64_t from = set.start[order[i]], count = set.start[order[i] + 1] - from;
        ck_assert_int_eq(again.start[i + 1] - again.start[i], count);
        ck_assert_int_eq(again.label[i], set.label[order[i]]);
        ck_assert_mem_eq(again.tokens + again.start[i], set.tokens + from,
                         (size_t)count * sizeof *set.tokens);
    }
    szg_examples_close(&again);
    szg_examples_close(&set);
}
END_TEST

/* The bytes are those of Python's json.dumps. */
START_TEST(bytes_are_as_documented) {
    szg_examples set = {0};
    ck_szg_ok(szgi_examples_add(test_context(), &set, 3, (int32_t[]){1, 2147483647, 30}, 0));
    ck_szg_ok(szgi_examples_add(test_context(), &set, 1, (int32_t[]){5}, 2147483647));
    const char *path = scratch_path("bytes.jsonl");
    ck_szg_ok(szg_examples_write(test_context(), &set, NULL, 2, path));
    char *text = scratch_read(path, NULL);
    ck_assert_str_eq(text, "{\"tokens\": [1, 2147483647, 30], \"label\": 0}\n"
                           "{\"tokens\": [5], \"label\": 2147483647}\n");
    free(text);
    szg_examples_close(&set);
}
END_TEST

/* One example, many forms: read without a tree, or by Jansson (fields the other way round, an
 * escaped name), the set is the same. */
START_TEST(every_form_of_a_line_is_read_alike) {
    static const char *const forms[] = {
        "{\"tokens\": [7, 8], \"label\": 3}\n",
        "{\"tokens\":[7,8],\"label\":3}",
        "\n\n \t\r\n  {  \"tokens\"\t:  [ 7 ,\t8 ] , \"label\" : 3 } \t\r\n\n",
        "{\"tokens\": [7, 8], \"label\": 3}\r\n\r\n",
        "\xEF\xBB\xBF{\"tokens\": [7, 8], \"label\": 3}\n",
        "{\"label\": 3, \"tokens\": [7, 8]}\n",
        "{\"\\u0074okens\": [7, 8], \"label\": 3}\n",
        "{\"label\":3,\"tokens\":[7,8]}",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        szg_examples set;
        ck_szg_ok(read_text(forms[i], &set));
        ck_assert(set.count == 1 && set.start[0] == 0 && set.start[1] == 2);
        ck_assert(set.tokens[0] == 7 && set.tokens[1] == 8 && set.label[0] == 3);
        ck_assert(set.longest == 2 && set.largest_token == 8 && set.largest_label == 3);
        szg_examples_close(&set);
    }
}
END_TEST

#define GOOD "{\"tokens\": [1], \"label\": 0}\n"
static const struct {
    const char *text, *words;
} bad[] = {
    {"", "x.jsonl: holds no examples"},
    {"\n \n\xEF", "x.jsonl: line 3: column"},
    {"\n\r\n \t", "x.jsonl: holds no examples"},
    {"\xEF\xBB\xBF", "x.jsonl: holds no examples"},
    {GOOD "\xEF\xBB\xBF" GOOD, "line 2: column"},
    {GOOD "5\n", "line 2: column"},
    {GOOD "[1]\n", "line 2: is not an object"},
    {GOOD "\n{\"label\": 3}", "line 3: \"tokens\" is missing"},
    {"{\"tokens\": [1]}", "line 1: \"label\" is missing"},
    {"{\"tokens\": [1], \"label\": 3, \"labels\": 3}", "\"labels\" is not a field of an example"},
    {"{\"tokens\": [1], \"label\": 3, \"tokens\": [1]}", "duplicate"},
    {"{\"label\": 3, \"label\": 3}", "duplicate"},
    {"{\"tokens\": 1, \"label\": 3}", "\"tokens\" is not an array"},
    {"{\"tokens\": [], \"label\": 3}", "\"tokens\" is empty"},
    {"{\"tokens\": [1, 0], \"label\": 3}", "token 1 is 0, which is padding"},
    {"{\"tokens\": [-0], \"label\": 3}", "token 0 is 0, which is padding"},
    {"{\"tokens\": [-1], \"label\": 3}", "token 0 is -1, outside 1 .. 2147483647"},
    {"{\"tokens\": [2147483648], \"label\": 3}", "token 0 is 2147483648, outside"},
    {"{\"tokens\": [9223372036854775807], \"label\": 3}", "is 9223372036854775807, outside"},
    {"{\"tokens\": [99999999999999999999], \"label\": 3}", "line 1: column"},
    {"{\"tokens\": [1.0], \"label\": 3}", "token 0 is not an integer"},
    {"{\"tokens\": [1e2], \"label\": 3}", "token 0 is not an integer"},
    {"{\"tokens\": [\"1\"], \"label\": 3}", "token 0 is not an integer"},
    {"{\"tokens\": [[1]], \"label\": 3}", "token 0 is not an integer"},
    {"{\"tokens\": [null], \"label\": 3}", "token 0 is not an integer"},
    {"{\"tokens\": [NaN], \"label\": 3}", "not valid JSON"},
    {"{\"tokens\": [01], \"label\": 3}", "not valid JSON"},
    {"{\"tokens\": [+1], \"label\": 3}", "not valid JSON"},
    {"{\"tokens\": [1,], \"label\": 3}", "not valid JSON"},
    {"{\"tokens\": [1 2], \"label\": 3}", "not valid JSON"},
    {"{\"tokens\": [1], \"label\": 03}", "not valid JSON"},
    {"{\"tokens\": [1], \"label\": -3}", "\"label\" is -3, outside"},
    {"{\"tokens\": [1], \"label\": 2147483648}", "\"label\" is 2147483648, outside"},
    {"{\"tokens\": [1], \"label\": 3.5}", "\"label\" is not an integer"},
    {"{\"tokens\": [1], \"label\": true}", "\"label\" is not an integer"},
    {"{\"tokens\": [1], \"label\": 3", "not valid JSON"},
    {"{\"tokens\": [1], \"label\": ", "not valid JSON"},
    {"{\"tokens\": [1", "not valid JSON"},
    {"{\"tokens\": [1],\n\"label\": 3}", "line 1: column"},
    {"{\"tokens\": [1], \"label\": 3} x", "not valid JSON"},
    {"{\"tokens\": [1], \"label\": 3}{}", "not valid JSON"},
    {"{\"tokens\": [1], \"label\": 3, \"\xFF\": 1}", "not valid JSON"},
};

START_TEST(bad_lines_are_refused) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szg_examples set;
        ck_szg_fails(SZG_EDATA, bad[i].words, read_text(bad[i].text, &set));
        ck_assert_ptr_null(set.tokens);
        ck_assert_int_eq(set.count, 0);
    }
    szg_examples set;
    static const char nul[] = "{\"tokens\": [1], \"label\": 3}\0\n";
    ck_szg_fails(SZG_EDATA, "line 1: column",
                 szgi_examples_read_bytes(test_context(), "x.jsonl", nul, sizeof nul - 1, &set));
    ck_szg_fails(SZG_EIO, "none.jsonl",
                 szg_examples_read(test_context(), scratch_path("none.jsonl"), &set));
    ck_szg_fails(SZG_EDATA, "empty.jsonl: holds no examples",
                 szg_examples_read(test_context(), scratch_text("empty.jsonl", ""), &set));
}
END_TEST

/* Nesting and lines beyond reason end in a message, not in the stack or the memory. */
START_TEST(huge_lines_are_refused) {
    int64_t size = 17 << 20;
    char *text = malloc((size_t)size);
    szg_examples set;
    memset(text, '[', (size_t)size);
    ck_szg_fails(SZG_EDATA, "line 1: has 17825792 bytes, 16777216 are the most",
                 szgi_examples_read_bytes(test_context(), "x.jsonl", text, size, &set));
    ck_szg_fails(SZG_EDATA, "depth",
                 szgi_examples_read_bytes(test_context(), "x.jsonl", text, 100000, &set));
    free(text);
}
END_TEST

START_TEST(bad_examples_are_not_added) {
    szg_examples set = {0};
    ck_szg_fails(SZG_EINVAL, "0 tokens",
                 szgi_examples_add(test_context(), &set, 0, (int32_t[]){1}, 3));
    ck_szg_fails(SZG_EINVAL, "label -1",
                 szgi_examples_add(test_context(), &set, 1, (int32_t[]){1}, -1));
    ck_szg_fails(SZG_EINVAL, "token 1 is 0",
                 szgi_examples_add(test_context(), &set, 2, (int32_t[]){1, 0}, 3));
    ck_assert_int_eq(set.count, 0);
    szg_examples_close(&set);
}
END_TEST

/* A refused allocation leaves the set as it was: at every size about the powers of two. */
START_TEST(sets_survive_failed_allocations) {
    szg_examples set = {0};
    int32_t tokens[50];
    for (int32_t i = 0; i < 50; i++)
        tokens[i] = i + 1;
    for (int64_t e = 0; e < 300; e++) {
        ck_survives_failed_allocations(
            -1, szgi_examples_add(test_context(), &set, 1 + e % 50, tokens, (int32_t)e));
        ck_assert_int_eq(set.count, e + 1);
        check_summary(&set);
    }
    for (int64_t e = 0; e < 300; e++) {
        ck_assert_int_eq(set.label[e], e);
        ck_assert_int_eq(set.start[e + 1] - set.start[e], 1 + e % 50);
        ck_assert_mem_eq(set.tokens + set.start[e], tokens, (size_t)(1 + e % 50) * sizeof *tokens);
    }
    const char *path = scratch_path("set.jsonl");
    ck_survives_failed_allocations(1, szg_examples_write(test_context(), &set, NULL, 300, path));
    szg_examples_close(&set);
    ck_survives_failed_allocations(3, szg_examples_read(test_context(), path, &set));
    szg_examples_close(&set);
}
END_TEST

TEST_FILE("examples") {
    test_add(suite, "sets_come_back_equal", sets_come_back_equal);
    test_add(suite, "order_selects", order_selects);
    test_add(suite, "bytes_are_as_documented", bytes_are_as_documented);
    test_add(suite, "every_form_of_a_line_is_read_alike", every_form_of_a_line_is_read_alike);
    test_add(suite, "bad_lines_are_refused", bad_lines_are_refused);
    test_add(suite, "huge_lines_are_refused", huge_lines_are_refused);
    test_add(suite, "bad_examples_are_not_added", bad_examples_are_not_added);
    test_add(suite, "sets_survive_failed_allocations", sets_survive_failed_allocations);
}
