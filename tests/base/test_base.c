#include <string.h>

#include "suite.h"

/* The known answers of Random123's kat_vectors for philox4x32-10. */
START_TEST(philox_known_answers) {
    szg_stream stream = {0};
    ck_assert_uint_eq(szg_random_word(&stream, 0), 0x6627e8d5u);
    ck_assert_uint_eq(szg_random_word(&stream, 1), 0xe169c58du);
    ck_assert_uint_eq(szg_random_word(&stream, 2), 0xbc57ac4cu);
    ck_assert_uint_eq(szg_random_word(&stream, 3), 0x9b00dbd8u);
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "philox_known_answers", philox_known_answers);
}
