/* The list of encodings: what each record promises, and encodings opened from values. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/memory.h"
#include "encoding/record.h"
#include "suite.h"

#define VALUES(array) array, sizeof array / sizeof *array
#define INTEGER(key_, value)                                                                       \
    { .key = key_, .type = SZGI_KEY_INTEGER, .integer = value }
#define REAL(key_, value)                                                                          \
    { .key = key_, .type = SZGI_KEY_REAL, .real = value }
#define WORD(key_, value)                                                                          \
    { .key = key_, .type = SZGI_KEY_CHOICE, .text = value }
#define TEXT(key_, value)                                                                          \
    { .key = key_, .type = SZGI_KEY_TEXT, .text = value }
#define LIST(key_, ...)                                                                            \
    {                                                                                              \
        .key = key_, .type = SZGI_KEY_LIST, .list = (const int64_t[]){__VA_ARGS__},                \
        .count = sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t)                                  \
    }

/* ---- Records ---- */

/* The functions that the room calls without asking are there. */
START_TEST(records_are_whole) {
    for (int64_t i = 0; i < szgi_encoding_classes(); i++) {
        const encoding_record *record = szgi_encoding_record_at(i);
        const szgi_encoding_traits *traits = &record->traits;
        const char *name = traits->class.name;
        ck_assert_msg(szgi_encoding_class_at(i) == &traits->class, "%s", name);
        ck_assert_msg(szgi_encoding_traits_of(name) == traits, "%s is listed twice", name);
        ck_assert_msg(*traits->class.doc && record->facts, "%s", name);
        ck_assert_msg(!(traits->attaches & SZGI_ATTACH_INPUT) == !record->input, "%s", name);
        ck_assert_msg(!(traits->attaches & SZGI_ATTACH_ROTARY) == !record->rotary, "%s", name);
        ck_assert_msg(!record->table == !record->table_initial, "%s", name);
        ck_assert_msg(!record->symbol == !record->symbol_range, "%s", name);
        ck_assert_msg(!record->state_size == !record->open, "%s", name);
        const int last = sizeof record->follows / sizeof *record->follows - 1;
        ck_assert_msg(!record->follows[last].key, "%s: follows has no end", name);
        ck_assert_msg(!traits->released.key == !traits->released.value, "%s", name);
    }
}
END_TEST

/* The table of keys has every class and key once, in their order, and nothing else. */
START_TEST(keys_are_listed) {
    szg_context *context = test_context();
    szg_table *table;
    ck_szg_ok(szg_encoding_keys(context, &table));
    int64_t row = 0, name = szg_table_find(table, "key"), least = szg_table_find(table, "min");
    for (int64_t i = 0; i < szgi_encoding_classes(); i++) {
        const szgi_spec_class *class = szgi_encoding_class_at(i);
        for (int64_t j = 0; j < class->keys || (j == 0 && !class->keys); j++, row++) {
            ck_assert_str_eq(szg_table_get_text(table, row, 0), class->name);
            ck_assert_str_eq(szg_table_get_text(table, row, 1), class->doc);
            ck_assert_int_eq(szg_table_is_empty(table, row, name), class->keys == 0);
            if (!class->keys)
                continue;
            const szgi_key *key = &class->key[j];
            ck_assert_str_eq(szg_table_get_text(table, row, name), key->name);
            ck_assert_str_eq(szg_table_get_text(table, row, szg_table_find(table, "doc")),
                             key->doc);
            bool number = key->type != SZGI_KEY_TEXT && key->type != SZGI_KEY_CHOICE;
            ck_assert_int_eq(szg_table_is_empty(table, row, least), !number);
            ck_assert(!number || szg_table_get_real(table, row, least) == key->min);
        }
    }
    ck_assert_int_eq(szg_table_rows(table), row);
    szg_table_close(&table);
    for (int64_t after = 1;; after++) {
        szgi_memory_fail_after(context, after);
        szg_status status = szg_encoding_keys(context, &table);
        szgi_memory_fail_after(context, 0);
        szg_table_close(&table);
        if (status == SZG_OK)
            break;
        ck_assert_int_eq(status, SZG_ENOMEM);
        ck_assert_int_lt(after, 100000);
    }
}
END_TEST

START_TEST(traits_by_name) {
    static const struct {
        const char *spec;
        int attaches;
    } cases[] = {{"nope", 0},
                 {"absolute:dim=8", SZGI_ATTACH_INPUT},
                 {"alibi", SZGI_ATTACH_BIAS},
                 {"rope:", SZGI_ATTACH_ROTARY},
                 {"rope+absolute", SZGI_ATTACH_ROTARY | SZGI_ATTACH_INPUT},
                 {"rope-bias:dim=8", SZGI_ATTACH_BIAS},
                 {"mla:rope=8", SZGI_ATTACH_ROTARY | SZGI_ATTACH_DECOUPLED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const szgi_encoding_traits *traits = szgi_encoding_traits_of(cases[i].spec);
        ck_assert_ptr_nonnull(traits);
        ck_assert_int_eq(traits->attaches, cases[i].attaches);
    }
    static const char *const unknown[] = {"", ":", "rop", "ropes", "rope,dim=4", "Rope", " rope"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        ck_assert_msg(!szgi_encoding_traits_of(unknown[i]), "'%s'", unknown[i]);
    ck_assert_str_eq(szgi_encoding_traits_of("alibi")->released.key, "slopes");
    ck_assert(szgi_encoding_traits_of("rope")->released.sinusoid);
    ck_assert(!szgi_encoding_traits_of("rope+absolute")->released.sinusoid);
    ck_assert(!szgi_encoding_traits_of("rope-bias")->released.sinusoid);
}
END_TEST

/* ---- From values ---- */

/* The encoding of the values is that of the text: the same SPEC, facts and rotation, bit for bit.
 */
static void check_values(const char *text, const char *name, const szgi_key_value *values,
                         int64_t count) {
    szg_encoding *from_text, *from_values;
    ck_szg_ok(szg_encoding_parse(test_context(), text, &from_text));
    ck_szg_ok(szgi_encoding_open(test_context(), name, values, count, &from_values));
    ck_assert_str_eq(szg_encoding_spec(from_values), szg_encoding_spec(from_text));
    ck_assert_int_eq(szg_encoding_heads(from_values), szg_encoding_heads(from_text));
    int64_t last = szg_encoding_heads(from_text) - 1;
    szg_kernel_facts want, got;
    ck_szg_ok(szg_encoding_facts(test_context(), from_text, last, 0, &want));
    ck_szg_ok(szg_encoding_facts(test_context(), from_values, last, 0, &got));
    ck_assert(got.parameter == want.parameter && got.pairs == want.pairs);
    ck_assert(got.unrotated == want.unrotated && got.rank_bound == want.rank_bound);
    for (int64_t t = 0; t < want.pairs; t++)
        ck_assert(got.theta[t] == want.theta[t]);
    szg_encoding_close(&from_text);
    szg_encoding_close(&from_values);
}

START_TEST(values_are_the_text) {
    /* Numbers that no short decimal is equal to: a printed SPEC must not be read in between. */
    const szgi_key_value rope[] = {REAL("factor", 8),         INTEGER("dim", 64),
                                   REAL("base", 500000),      WORD("pairing", "half"),
                                   WORD("scaling", "yarn"),   REAL("original", 8192),
                                   REAL("beta_slow", 1.0 / 3)};
    check_values("rope:dim=64,base=500000,pairing=half,scaling=yarn,factor=8,original=8192,"
                 "beta_slow=0.3333333333333333",
                 "rope", VALUES(rope));
    const szgi_key_value partial[] = {LIST("rotate", 0, 1, 2, 5, 7, 8), INTEGER("heads", 9)};
    check_values("rope:heads=9,rotate=0-2+5+7-8", "rope", VALUES(partial));
    const szgi_key_value one[] = {LIST("rotate", 3), INTEGER("heads", 4)};
    check_values("rope:heads=4,rotate=3", "rope", VALUES(one));
    const szgi_key_value kms[] = {REAL("rho", -0.1)};
    check_values("kms:rho=-0.1", "kms", VALUES(kms));
    const szgi_key_value whole[] = {INTEGER("rho", 0)}; /* a whole number is a number */
    check_values("kms:rho=0", "kms", VALUES(whole));
    const szgi_key_value t5[] = {INTEGER("seed", 9007199254740992), REAL("std", 1e-300)};
    check_values("t5:seed=9007199254740992,std=1e-300", "t5", VALUES(t5));
    check_values("nope", "nope", NULL, 0);
}
END_TEST

/* A number is kept to the bit, and so it is where its SPEC is read again. */
START_TEST(numbers_are_kept) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 0x5245};
    for (int64_t trial = 0; trial < test_trials(200); trial++) {
        double rho = 2 * szgi_random_uniform(&stream, (uint64_t)trial) - 1;
        const szgi_key_value values[] = {REAL("rho", trial % 2 ? rho : ldexp(rho, -900))};
        szg_encoding *kept, *again;
        ck_szg_ok(szgi_encoding_open(test_context(), "kms", VALUES(values), &kept));
        ck_szg_ok(szg_encoding_parse(test_context(), szg_encoding_spec(kept), &again));
        szg_kernel_facts facts[2];
        ck_szg_ok(szg_encoding_facts(test_context(), kept, 0, 0, &facts[0]));
        ck_szg_ok(szg_encoding_facts(test_context(), again, 0, 0, &facts[1]));
        ck_assert(facts[0].parameter == values[0].real && facts[1].parameter == values[0].real);
        szg_encoding_close(&kept);
        szg_encoding_close(&again);
    }
}
END_TEST

static void check_refused(const char *words, const char *name, const szgi_key_value *values,
                          int64_t count) {
    szg_encoding *encoding = NULL;
    ck_szg_fails(SZG_EINVAL, words,
                 szgi_encoding_open(test_context(), name, values, count, &encoding));
    ck_assert_ptr_null(encoding);
}

START_TEST(refused_values) {
    const szgi_key_value values[] = {
        WORD("dim", "64"),      INTEGER("pairing", 1),       REAL("dim", 64),
        INTEGER("dim", 0),      REAL("base", 0.5),           REAL("base", NAN),
        REAL("base", INFINITY), WORD("pairing", "diagonal"), LIST("rotate", 2, 2),
        LIST("rotate", 2, 1),   LIST("rotate", 0, 65536),    LIST("rotate", -1, 0),
        INTEGER("rho", 1),      INTEGER("dim", INT64_MIN),   TEXT("dim", "64"),
        WORD("pairing", ""),    INTEGER("base", INT64_MIN),  LIST("rotate", INT64_MAX, 3),
    };
    static const char *const words[] = {
        "rope: key dim takes a whole number, not a word",
        "rope: key pairing takes a word, not a whole number",
        "rope: key dim takes a whole number, not a number",
        "rope: dim=0 is outside its range 2 .. 1048576",
        "rope: base=0.5 is outside its range 1 .. ",
        "rope: base=nan is not a finite number",
        "rope: base=inf is not a finite number",
        "rope: pairing=diagonal is unknown: one of interleaved|half",
        "rope: rotate=2+2 is not an ascending list",
        "rope: rotate=2+1 is not an ascending list",
        "rope: rotate=0+65536 is outside its range",
        "rope: rotate=-1-0 is outside its range",
        "rope: key \"rho\" is unknown",
        "rope: dim=-9223372036854775808 is outside its range",
        "rope: key dim takes a whole number, not a text",
        "rope: key pairing has no value",
        "rope: base=-9.223372036854776e+18 is outside its range",
        "rope: rotate=9223372036854775807+3 is outside its range",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check_refused(words[i], "rope", &values[i], 1);
    const szgi_key_value twice[] = {INTEGER("dim", 8), INTEGER("dim", 8)};
    check_refused("rope: key dim is given twice", "rope", VALUES(twice));
    const szgi_key_value empty[] = {{.key = "rotate", .type = SZGI_KEY_LIST}};
    check_refused("rope: key rotate has no value", "rope", VALUES(empty));
    const szgi_key_value comma[] = {TEXT("path", "a,b.npy")};
    check_refused("file: path=a,b.npy holds a comma", "file", VALUES(comma));
    check_refused("kms: key rho is missing", "kms", NULL, 0);
    check_refused("encoding \"ropes\" is unknown", "ropes", NULL, 0);
    check_refused("encoding \"rope:dim=8\" is unknown", "rope:dim=8", NULL, 0);
}
END_TEST

static szg_status open_and_close(void) {
    const szgi_key_value values[] = {INTEGER("heads", 4), LIST("rotate", 0, 1, 3),
                                     REAL("base", 100)};
    szg_encoding *encoding;
    szg_status status = szgi_encoding_open(test_context(), "rope", VALUES(values), &encoding);
    szg_encoding_close(&encoding);
    return status;
}

START_TEST(allocation_failures) {
    /* Handle, SPEC, its keys, a text for each of them, the list, the canonical text, rotation. */
    ck_survives_failed_allocations(10, open_and_close());
}
END_TEST

/* ---- Lags ---- */

/* The lags of a described structure by their definitions, and as the bias of a decoder. */
START_TEST(lags_follow_from_the_structure) {
    enum { N = 6 };
    static const char *const specs[] = {"alibi:heads=1", "kms:rho=-0.5"};
    for (int which = 0; which < 2; which++) {
        szg_encoding *encoding;
        ck_szg_ok(szg_encoding_parse(test_context(), specs[which], &encoding));
        szg_kernel_facts facts;
        ck_szg_ok(szg_encoding_facts(test_context(), encoding, 0, 0, &facts));
        double bias[2 * N - 1];
        ck_szg_ok(szgi_encoding_bias(test_context(), encoding, 0, N, bias));
        szg_toeplitz *kernel;
        ck_szg_ok(szg_encoding_kernel(test_context(), encoding, 0, 0, N, &kernel));
        for (int k = 1 - N; k < N; k++) {
            double want = which == 0 ? -0x1p-8 * abs(k) : ldexp(k % 2 ? -1 : 1, -abs(k));
            ck_assert(bias[k + N - 1] == want); /* powers of two: exact */
            ck_assert(szg_toeplitz_at(kernel, k).re == want);
        }
        ck_assert(!signbit(bias[N - 1]) || which == 1); /* 0, not -0 */
        szg_toeplitz_close(&kernel);
        szg_encoding_close(&encoding);
    }
}
END_TEST

TEST_FILE("records") {
    test_add(suite, "records_are_whole", records_are_whole);
    test_add(suite, "keys_are_listed", keys_are_listed);
    test_add(suite, "traits_by_name", traits_by_name);
    test_add(suite, "values_are_the_text", values_are_the_text);
    test_add(suite, "numbers_are_kept", numbers_are_kept);
    test_add(suite, "refused_values", refused_values);
    test_add(suite, "allocation_failures", allocation_failures);
    test_add(suite, "lags_follow_from_the_structure", lags_follow_from_the_structure);
}
