/* Misspelt words: distances against a slow recursion, and which word is suggested. */
#include <stdio.h>
#include <string.h>
#include "base/random.h"
#include "base/suggest.h"

#include "suite.h"

/* The definition, read off: the least of all ways to treat the last letters. */
static int edits_by_definition(const char *a, int n, const char *b, int m) {
    if (n == 0 || m == 0)
        return n + m;
    int best = edits_by_definition(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    int less = edits_by_definition(a, n - 1, b, m) + 1;
    int more = edits_by_definition(a, n, b, m - 1) + 1;
    best = less < best ? less : best;
    best = more < best ? more : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        int swapped = edits_by_definition(a, n - 2, b, m - 2) + 1;
        best = swapped < best ? swapped : best;
    }
    return best;
}

/* Few letters, so that words resemble each other. */
static int random_word(uint64_t which, char word[8]) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 1};
    int length = (int)szgi_random_below(&stream, 8 * which, 7);
    for (int i = 0; i < length; i++)
        word[i] = (char)('a' + szgi_random_below(&stream, 8 * which + 1 + (uint64_t)i, 3));
    return length;
}

static int edits(const char *a, const char *b) {
    return szgi_edits(a, strlen(a), b, strlen(b));
}

START_TEST(edits_are_those_of_the_definition) {
    for (uint64_t i = 0; i < 2000; i++) {
        char a[8], b[8];
        int n = random_word(2 * i, a), m = random_word(2 * i + 1, b);
        int found = szgi_edits(a, (size_t)n, b, (size_t)m);
        ck_assert_msg(found == edits_by_definition(a, n, b, m), "%.*s %.*s: %d", n, a, m, b, found);
    }
    ck_assert_int_eq(edits("sepctrum", "spectrum"), 1);
    ck_assert_int_eq(edits("ca", "abc"), 3); /* no letter is edited twice */
    ck_assert_int_eq(edits("ROPE", "rope"), 0);
    ck_assert_int_eq(edits("", ""), 0);
}
END_TEST

START_TEST(long_words_are_cut) {
    char a[3 * SZGI_SUGGEST_LENGTH], b[3 * SZGI_SUGGEST_LENGTH];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    ck_assert_int_eq(szgi_edits(a, sizeof a, b, sizeof b), SZGI_SUGGEST_LENGTH);
    szgi_suggestion near = szgi_suggest_begin(a, sizeof a);
    szgi_suggest(&near, a, sizeof a);
    ck_assert_ptr_null(near.word); /* it would not be printed whole */
}
END_TEST

static const struct {
    const char *text, *choices, *wanted; /* NULL: nothing is near */
} cases[] = {
    {"sepctrum", "symbol|spectrum|verify", "spectrum"},
    {"ropes", "nope|rope|t5", "rope"},
    {"Rope", "nope|rope", "rope"},
    {"rpoe", "nope|rope", "rope"},
    {"b1", "A3.2|B1|B1c", "B1"},
    {"repro", "report|reproduce|symbol", "reproduce"}, /* begins it; `report` takes two edits */
    {"repr", "export|reproduce", "reproduce"},         /* begins it */
    {"check", "checkpoint|capture", "checkpoint"},
    {"ch", "checkpoint|capture", NULL}, /* too short to tell */
    {"nonsense", "nope|none|spectrum|report", NULL},
    {"xml", "table|csv|json", NULL},
    {"", "a|b", NULL},
    {"a", "b|c", NULL},
    {"k", "q|kv", NULL},
    {"B9", "B1|B2|b9", "b9"}, /* letter case is no edit */
    {"B9", "B1|B2", NULL},
    {"pee", "qe|pe", "pe"},
    {"abcdef", "abcdxy|abxyzf", "abcdxy"}, /* 2 edits of 6 letters */
    {"abcdef", "abcxyz", NULL},            /* 3 */
    {"abcde", "abcxy", NULL},              /* 2 of 5 */
};

START_TEST(near_words_are_suggested) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[SZGI_SUGGEST_TEXT] = "one of";
        if (cases[i].wanted)
            snprintf(wanted, sizeof wanted, "did you mean %s? One of", cases[i].wanted);
        ck_assert_str_eq(SZGI_DID_YOU_CHOOSE(cases[i].text, cases[i].choices, "one of"), wanted);
    }
    ck_assert_str_eq(SZGI_DID_YOU_CHOOSE("jsn", "csv|json", ""), "did you mean json?");
    ck_assert_str_eq(SZGI_DID_YOU_CHOOSE("xml", "csv|json", ""), "");
}
END_TEST

START_TEST(the_first_of_the_nearest_wins) {
    ck_assert_str_eq(SZGI_DID_YOU_CHOOSE("bat", "cat|hat", ""), "did you mean cat?");
    ck_assert_str_eq(SZGI_DID_YOU_CHOOSE("hat", "cats|hats", ""), "did you mean hats?");
}
END_TEST

TEST_FILE("suggest") {
    test_add(suite, "edits_are_those_of_the_definition", edits_are_those_of_the_definition);
    test_add(suite, "long_words_are_cut", long_words_are_cut);
    test_add(suite, "near_words_are_suggested", near_words_are_suggested);
    test_add(suite, "the_first_of_the_nearest_wins", the_first_of_the_nearest_wins);
}
