/* JSONL of labelled sequences: what is read is written, and read again as the same. */
#include <unistd.h>
#include "formats/examples.h"

#include "fuzz.h"

static void check_set(const szg_examples *set) {
    FUZZ_PROMISE(set->count > 0 && set->start[0] == 0);
    for (int64_t e = 0; e < set->count; e++) {
        FUZZ_PROMISE(set->start[e + 1] > set->start[e] && set->label[e] >= 0);
        FUZZ_PROMISE(set->start[e + 1] - set->start[e] <= set->longest);
        FUZZ_PROMISE(set->label[e] <= set->largest_label);
    }
    for (int64_t i = 0; i < set->start[set->count]; i++)
        FUZZ_PROMISE(set->tokens[i] >= 1 && set->tokens[i] <= set->largest_token);
}

static bool equal(const szg_examples *a, const szg_examples *b) {
    size_t count = (size_t)a->count;
    return a->count == b->count && a->longest == b->longest &&
           memcmp(a->start, b->start, (count + 1) * sizeof *a->start) == 0 &&
           memcmp(a->label, b->label, count * sizeof *a->label) == 0 &&
           memcmp(a->tokens, b->tokens, (size_t)a->start[count] * sizeof *a->tokens) == 0;
}

/* A path for what is written. */
static const char *scratch(void) {
    static char path[64];
    if (!*path)
        snprintf(path, sizeof path, "/tmp/szego-fuzz-examples.%ld", (long)getpid());
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    szg_examples set, again;
    szg_context *context = fuzz_context();
    szg_status status = szgi_examples_read_bytes(context, "fuzz", data, (int64_t)size, &set);
    if (status != SZG_OK) {
        FUZZ_REFUSED(status, "fuzz: ");
        return 0;
    }
    check_set(&set);
    FUZZ_PROMISE(szg_examples_write(context, &set, NULL, set.count, scratch()) == SZG_OK);
    FUZZ_PROMISE(szg_examples_read(context, scratch(), &again) == SZG_OK);
    unlink(scratch());
    FUZZ_PROMISE(equal(&set, &again));
    szg_examples_close(&set);
    szg_examples_close(&again);
    return 0;
}
