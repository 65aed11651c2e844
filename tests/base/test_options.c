/* Structs that callers fill: of this release, of an earlier one, of a later one, and of none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <szego/version.h>
#include "base/options.h"

#include "suite.h"

/* One struct as three releases know it. */
typedef struct first_options {
    size_t size;
    int64_t count;
} first_options;

typedef struct own_options {
    size_t size;
    int64_t count;
    double tolerance;
    const char *name;
} own_options;

typedef struct later_options {
    size_t size;
    int64_t count;
    double tolerance;
    const char *name;
    int64_t added, more;
} later_options;

static szg_status copy(const void *from, own_options *out) {
    memset(out, 0xff, sizeof *out); /* what is not copied must be cleared */
    return szgi_options_copy(test_context(), "own_options", from, out, sizeof *out);
}

START_TEST(the_own_struct_is_copied) {
    own_options options = {SZG_INIT(own_options), .count = 3, .tolerance = 0.5, .name = "x"}, own;
    ck_szg_ok(SZGI_OPTIONS(test_context(), own_options, &options, &own));
    ck_assert_uint_eq(own.size, sizeof own);
    ck_assert_int_eq(own.count, 3);
    ck_assert_double_eq(own.tolerance, 0.5);
    ck_assert_str_eq(own.name, "x");
    ck_szg_ok(copy(NULL, &own));
    ck_assert_uint_eq(own.size, sizeof own);
    ck_assert(own.count == 0 && own.tolerance == 0 && !own.name);
}
END_TEST

/* Its bytes stand alone in a block, behind which a sanitizer sees every read; what stands behind
 * the second one is not zero. */
START_TEST(an_earlier_struct_is_read_to_its_end) {
    own_options own;
    first_options *alone = malloc(sizeof *alone);
    *alone = (first_options){SZG_INIT(first_options), .count = 7};
    ck_szg_ok(copy(alone, &own));
    free(alone);
    ck_assert_int_eq(own.count, 7);
    ck_assert(own.tolerance == 0 && !own.name);
    struct {
        first_options options;
        char behind[sizeof own];
    } crowded = {.options = {SZG_INIT(first_options), .count = 8}};
    memset(crowded.behind, 0xee, sizeof crowded.behind);
    ck_szg_ok(copy(&crowded, &own));
    ck_assert_uint_eq(own.size, sizeof own);
    ck_assert_int_eq(own.count, 8);
    ck_assert(own.tolerance == 0 && !own.name);
}
END_TEST

START_TEST(a_later_struct_is_taken_where_its_new_fields_are_zero) {
    own_options own;
    later_options options = {SZG_INIT(later_options), .count = 5, .name = "y"};
    ck_szg_ok(copy(&options, &own));
    ck_assert_uint_eq(own.size, sizeof own);
    ck_assert_int_eq(own.count, 5);
    ck_assert_str_eq(own.name, "y");
    options.more = 1; /* the last byte counts as the first does */
    ck_szg_fails(SZG_EINVAL, "own_options: {SZG_INIT(own_options)} made 48 bytes",
                 copy(&options, &own));
    options.more = 0;
    options.added = INT64_MIN;
    ck_szg_fails(SZG_EINVAL, "the 32 bytes that szego " /* and its version */,
                 copy(&options, &own));
}
END_TEST

START_TEST(a_struct_that_nobody_initialised_is_refused) {
    own_options own, options = {.count = 1};
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 4097, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.size = sizes[i];
        ck_szg_fails(SZG_EINVAL, "own_options: its field `size` is ", copy(&options, &own));
        ck_assert_ptr_nonnull(
            strstr(szg_context_message(test_context()), "{SZG_INIT(own_options)}"));
    }
}
END_TEST

START_TEST(a_context_opens_for_earlier_and_later_callers) {
    szg_context *context;
    struct {
        szg_context_options options;
        int64_t added;
    } later = {.options = {SZG_INIT(szg_context_options), .threads = 2}};
    later.options.size = sizeof later;
    ck_assert_int_eq(szg_context_open(&later.options, &context), SZG_OK);
    ck_assert_int_eq(szg_context_threads(context), 2);
    szg_context_close(&context);
    later.added = 1;
    ck_assert_int_eq(szg_context_open(&later.options, &context), SZG_EINVAL);
    ck_assert_ptr_null(context);
    szg_context_options earlier = {SZG_INIT(szg_context_options), .threads = 3,
                                   .message = (szg_message_fn *)(uintptr_t)1};
    earlier.size = offsetof(szg_context_options, message);
    ck_assert_int_eq(szg_context_open(&earlier, &context), SZG_OK);
    ck_assert_int_eq(szg_context_threads(context), 3);
    szgi_say(context, SZG_NOTE, "an earlier caller has no callback"); /* else a jump to 1 */
    szg_context_close(&context);
    earlier.size = 0;
    ck_assert_int_eq(szg_context_open(&earlier, &context), SZG_EINVAL);
}
END_TEST

START_TEST(the_version_is_one_number_and_one_text) {
    char text[32];
    ck_assert_int_eq(szg_version_number(), SZG_VERSION_NUMBER);
    snprintf(text, sizeof text, "%d.%d.%d", SZG_VERSION_NUMBER / 1000000,
             SZG_VERSION_NUMBER / 1000 % 1000, SZG_VERSION_NUMBER % 1000);
    ck_assert_str_eq(szg_version(), text);
}
END_TEST

TEST_FILE("options") {
    test_add(suite, "the_own_struct_is_copied", the_own_struct_is_copied);
    test_add(suite, "an_earlier_struct_is_read_to_its_end", an_earlier_struct_is_read_to_its_end);
    test_add(suite, "a_later_struct_is_taken_where_its_new_fields_are_zero",
             a_later_struct_is_taken_where_its_new_fields_are_zero);
    test_add(suite, "a_struct_that_nobody_initialised_is_refused",
             a_struct_that_nobody_initialised_is_refused);
    test_add(suite, "a_context_opens_for_earlier_and_later_callers",
             a_context_opens_for_earlier_and_later_callers);
    test_add(suite, "the_version_is_one_number_and_one_text",
             the_version_is_one_number_and_one_text);
}
