/* Tensors in memory as a set like that of a file. */
#include <string.h>

#include "formats/memory_tensors.h"
#include "suite.h"

static const int64_t two_by_three[] = {2, 3}, none[] = {0, INT64_MAX, 5},
                     large[] = {1 << 30, 1 << 30, 8}, negative[] = {2, -1};
static const float single[] = {1, 2, 3, 4, 5, 6};

static szg_status open_list(const szg_tensor *tensor, int64_t count, szgi_safetensors **out) {
    const szg_tensors list = {SZG_INIT(szg_tensors), .name = "model", .tensor = tensor,
                              .count = count};
    return szgi_memory_tensors_open(test_context(), &list, out);
}

START_TEST(names_and_shapes_are_copied) {
    char name[] = "w", type[] = "F32";
    int64_t shape[] = {2, 3};
    szgi_safetensors *set;
    const szg_tensor tensor[] = {
        {.name = name, .dtype = type, .dims = 2, .shape = shape, .data = single},
        {.name = "a", .dtype = "I64", .data = single},
        {.name = "empty", .dtype = "F16", .dims = 3, .shape = none},
        {.name = "new", .dtype = "Q9", .dims = 2, .shape = shape, .data = single},
        {.name = "odd", .dtype = "F4", .dims = 2, .shape = shape, .data = single}};
    ck_szg_ok(open_list(tensor, 5, &set));
    memset(name, 'x', 1), memset(type, 'x', 3), shape[0] = shape[1] = 77;
    ck_assert_int_eq(szgi_safetensors_count(set), 5);
    ck_assert_str_eq(szgi_safetensors_tensor(set, 0)->name, "a");
    const szgi_tensor *w = szgi_safetensors_find(set, "w");
    ck_assert_int_eq(w->dtype, SZGI_DTYPE_F32);
    ck_assert_str_eq(w->dtype_name, "F32");
    ck_assert_int_eq(w->count, 6);
    ck_assert_int_eq(w->bytes, 24);
    ck_assert_int_eq(w->shape[1], 3);
    ck_assert_str_eq(w->file, "model");
    double x[6];
    ck_szg_ok(szgi_tensor_read(test_context(), w, 0, 6, x));
    for (int i = 0; i < 6; i++)
        ck_assert(x[i] == i + 1);
    ck_assert_int_eq(szgi_safetensors_find(set, "a")->count, 1);
    ck_assert_int_eq(szgi_safetensors_find(set, "empty")->count, 0);
    ck_assert_int_eq(szgi_safetensors_find(set, "new")->dtype, SZGI_DTYPE_OTHER);
    ck_assert_int_eq(szgi_safetensors_find(set, "odd")->bytes, 3);
    ck_assert_ptr_null(szgi_safetensors_metadata(set, "format"));
    ck_szg_ok(szgi_safetensors_check(test_context(), set));
    szgi_safetensors_close(&set);
    ck_szg_ok(open_list(NULL, 0, &set));
    ck_assert_int_eq(szgi_safetensors_count(set), 0);
    szgi_safetensors_close(&set);
}
END_TEST

static int halves(void *user, int64_t index, int64_t offset, int64_t bytes, void *out) {
    int64_t *calls = user;
    ck_assert_int_eq(index, 1);
    for (int64_t i = 0; i < bytes / 2; i++)
        ((uint16_t *)out)[i] = (uint16_t)(offset / 2 + i);
    return ++*calls > 3;
}

/* 100000 numbers of two bytes: blocks of 32768. */
START_TEST(numbers_are_asked_for_in_blocks) {
    const int64_t shape[] = {100000};
    static double x[100000];
    int64_t calls = 0;
    szgi_safetensors *set;
    const szg_tensor tensor[] = {
        {.name = "z", .dtype = "F32", .dims = 2, .shape = two_by_three, .data = single},
        {.name = "b", .dtype = "BF16", .dims = 1, .shape = shape}};
    const szg_tensors list = {SZG_INIT(szg_tensors), .name = "model", .tensor = tensor, .count = 2,
                              .read = halves,        .user = &calls};
    ck_szg_ok(szgi_memory_tensors_open(test_context(), &list, &set));
    const szgi_tensor *b = szgi_safetensors_find(set, "b");
    ck_szg_ok(szgi_tensor_read(test_context(), b, 40000, 60000, x));
    ck_assert_int_eq(calls, 2);
    for (int i = 0; i < 60000 && 40000 + i < 65536; i++)
        ck_assert(memcmp(&x[i], &(double){szgi_real_from_bfloat((uint16_t)(40000 + i))}, 8) == 0);
    ck_szg_ok(szgi_tensor_read(test_context(), b, 0, 1, x));
    ck_szg_fails(SZG_EIO, "model: tensor b: bytes 2 to 3 could not be had",
                 szgi_tensor_read(test_context(), b, 1, 1, x));
    szg_context_cancel(test_context());
    ck_assert_int_eq(szgi_tensor_read(test_context(), b, 1, 1, x), SZG_ECANCEL);
    szgi_safetensors_close(&set);
}
END_TEST

START_TEST(bad_lists_are_refused) {
    static const struct {
        szg_tensor tensor;
        szg_status status;
        const char *words;
    } bad[] = {
        {{.name = NULL, .dtype = "F32", .data = single}, SZG_EDATA, "tensor 1 has no name"},
        {{.name = "", .dtype = "F32", .data = single}, SZG_EDATA, "tensor 1 has no name"},
        {{.name = "\xff", .dtype = "F32", .data = single}, SZG_EDATA, "its name is not UTF-8"},
        {{.name = "w", .dtype = "F32", .data = single}, SZG_EDATA, "tensor w: is there twice"},
        {{.name = "v", .dtype = NULL, .data = single}, SZG_EINVAL, "v: no type is given"},
        {{.name = "v", .dtype = "F32", .dims = -1, .shape = two_by_three, .data = single},
         SZG_EINVAL,
         "v: -1 dimensions without sizes"},
        {{.name = "v", .dtype = "F32", .dims = 2, .data = single},
         SZG_EINVAL,
         "v: 2 dimensions without sizes"},
        {{.name = "v", .dtype = "F32", .dims = INT64_MAX, .shape = two_by_three, .data = single},
         SZG_EINVAL,
         "dimensions without sizes"},
        {{.name = "v", .dtype = "F32", .dims = 2, .shape = negative, .data = single},
         SZG_EDATA,
         "v: a size of -1 is negative"},
        {{.name = "v", .dtype = "F32", .dims = 3, .shape = large, .data = single},
         SZG_EDATA,
         "v: the sizes multiply beyond 64 bits"},
        {{.name = "v", .dtype = "F32", .dims = 2, .shape = two_by_three},
         SZG_EINVAL,
         "v: has no data, and `read` is NULL"},
    };
    szgi_safetensors *set;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const szg_tensor tensor[] = {
            {.name = "w", .dtype = "F32", .dims = 2, .shape = two_by_three, .data = single},
            bad[i].tensor};
        ck_szg_fails(bad[i].status, bad[i].words, open_list(tensor, 2, &set));
        ck_assert_ptr_null(set);
    }
    ck_szg_fails(SZG_EINVAL, "-1 tensors", open_list(NULL, -1, &set));
    ck_szg_fails(SZG_EINVAL, "2 tensors, and no array of them", open_list(NULL, 2, &set));
}
END_TEST

static szg_status open_and_close(void) {
    const szg_tensor tensor[] = {
        {.name = "w", .dtype = "F32", .dims = 2, .shape = two_by_three, .data = single},
        {.name = "v", .dtype = "BF16", .dims = 2, .shape = two_by_three, .refusal = "is away"}};
    szgi_safetensors *set;
    SZG_TRY(open_list(tensor, 2, &set));
    const szgi_tensor *v = szgi_safetensors_find(set, "v");
    ck_assert_str_eq(szgi_tensor_remedy(v), "is away");
    ck_assert_int_eq(v->dtype, SZGI_DTYPE_OTHER);
    szgi_safetensors_close(&set);
    return SZG_OK;
}

START_TEST(refused_allocations) {
    ck_survives_failed_allocations(7, open_and_close());
}
END_TEST

TEST_FILE("memory_tensors") {
    test_add(suite, "names_and_shapes_are_copied", names_and_shapes_are_copied);
    test_add(suite, "numbers_are_asked_for_in_blocks", numbers_are_asked_for_in_blocks);
    test_add(suite, "bad_lists_are_refused", bad_lists_are_refused);
    test_add(suite, "refused_allocations", refused_allocations);
}
