/* model.safetensors.index.json beside two shards: what is accepted names only tensors that are
 * there, and an index made of what was read is accepted and gives the same. */
#include "base/memory.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "fuzz.h"

/* Two tensors in the first shard, one in the second. */
static void write_shards(void) {
    static const double numbers[4] = {1, 2, 3, 4};
    static const int64_t shape[2] = {2, 2};
    static const char *const names[] = {"a", "b", "c"};
    szgi_tensor tensor[3];
    for (int i = 0; i < 3; i++)
        tensor[i] = (szgi_tensor){.name = names[i],
                                  .dtype = SZGI_DTYPE_F64,
                                  .dims = 2,
                                  .shape = shape,
                                  .data = (const unsigned char *)numbers};
    szg_context *context = fuzz_context();
    const char *one = fuzz_file("1.safetensors", "", 0), *two = fuzz_file("2.safetensors", "", 0);
    FUZZ_PROMISE(szgi_safetensors_write(context, one, tensor, 2, NULL, 0) == SZG_OK);
    FUZZ_PROMISE(szgi_safetensors_write(context, two, tensor + 2, 1, NULL, 0) == SZG_OK);
}

/* The text of an index of what was read. */
static char *index_of(const szgi_safetensors *set) {
    szg_context *context = fuzz_context();
    szgi_json *root, *map;
    char *text;
    FUZZ_PROMISE(szgi_json_open_object(context, &root) == SZG_OK);
    FUZZ_PROMISE(szgi_json_open_object(context, &map) == SZG_OK);
    for (int64_t i = 0; i < szgi_safetensors_count(set); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(set, i);
        const char *file = strrchr(tensor->file, '/') + 1;
        FUZZ_PROMISE(szgi_json_add_text(context, map, tensor->name, file) == SZG_OK);
    }
    FUZZ_PROMISE(szgi_json_add(context, root, "weight_map", &map) == SZG_OK);
    FUZZ_PROMISE(szgi_json_text(context, szgi_json_root(root), 0, &text) == SZG_OK);
    szgi_json_close(&root);
    return text;
}

static void check_equal(const szgi_safetensors *a, const szgi_safetensors *b) {
    FUZZ_PROMISE(szgi_safetensors_count(a) == szgi_safetensors_count(b));
    for (int64_t i = 0; i < szgi_safetensors_count(a); i++) {
        const szgi_tensor *left = szgi_safetensors_tensor(a, i);
        const szgi_tensor *right = szgi_safetensors_find(b, left->name);
        FUZZ_PROMISE(right && strcmp(left->file, right->file) == 0 && left->count == 4);
        double numbers[2][4];
        FUZZ_PROMISE(szgi_tensor_read(fuzz_context(), left, 0, 4, numbers[0]) == SZG_OK);
        FUZZ_PROMISE(szgi_tensor_read(fuzz_context(), right, 0, 4, numbers[1]) == SZG_OK);
        FUZZ_PROMISE(memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0);
    }
}

static void check_again(const szgi_safetensors *set) {
    szgi_safetensors *again;
    char *text = index_of(set);
    fuzz_file("model.safetensors.index.json", text, strlen(text));
    FUZZ_PROMISE(szgi_safetensors_open(fuzz_context(), fuzz_folder(), &again) == SZG_OK);
    check_equal(set, again);
    szgi_safetensors_close(&again);
    szgi_memory_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szgi_safetensors *set;
    write_shards();
    fuzz_file("model.safetensors.index.json", data, size);
    szg_status status = szgi_safetensors_open(fuzz_context(), fuzz_folder(), &set);
    if (status == SZG_OK) {
        FUZZ_PROMISE(szgi_safetensors_count(set) >= 1);
        check_again(set);
    } else {
        FUZZ_PROMISE(set == NULL);
        FUZZ_REFUSED(status, fuzz_folder());
    }
    szgi_safetensors_close(&set);
    fuzz_clean();
    return 0;
}
