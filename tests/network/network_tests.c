#include <stdlib.h>
#include "plugin/backend.h"

#include "network_tests.h"

static const unsigned char GUARD = 0xA5;

/* ---- Contexts ---- */

static szg_context *opened(int threads, const char *backend) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads};
    szg_context *context;
    if (szg_context_open(&options, &context) != SZG_OK)
        abort();
    if (strcmp(backend, "reference64") == 0)
        szgi_context_set_ops(context, szgi_ops_reference64());
    else
        ck_on(context, szg_backend_select(context, backend));
    return context;
}

/* Contexts live as long as the program; opened when first asked for. */
static szg_context *contexts[5];

static void close_contexts(void) {
    for (int i = 0; i < 5; i++)
        szg_context_close(&contexts[i]);
}

/* Registered behind each: a plugin that the first one loads takes its leave at the exit too, and
 * its contexts go before it. */
static szg_context *context_at(int at, int threads, const char *backend) {
    if (!contexts[at]) {
        contexts[at] = opened(threads, backend);
        if (atexit(close_contexts) != 0)
            abort();
    }
    return contexts[at];
}

szg_context *tested(int which) {
    static const int threads[] = {1, 2, 5};
    const char *name = getenv("SZG_TEST_BACKEND");
    return context_at(which, threads[which], name ? name : "cpu");
}

szg_context *plain(void) {
    return context_at(3, 1, "reference");
}

szg_context *oracle(void) {
    return context_at(4, 1, "reference64");
}

/* ---- Random numbers ---- */

/* FNV-1a: cases draw different numbers, and the same ones when they run alone. */
static uint32_t hash_of(const char *text) {
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

szgi_stream draw_stream(void) {
    static uint32_t step;
    static const char *drawing; /* the case that draws */
    if (drawing != tcase_name()) {
        drawing = tcase_name();
        step = hash_of(drawing);
    }
    return (szgi_stream){.seed = test_seed(), .step = step++, .purpose = 0x4E45};
}

int64_t draw_below(int64_t bound) {
    szgi_stream stream = draw_stream();
    return szgi_random_below(&stream, 0, bound);
}

int64_t draw_of(const int64_t *sizes, int64_t count) {
    return sizes[draw_below(count)];
}

static double moderate(const szgi_stream *stream, uint64_t index) {
    double x = test_real(stream, index);
    return (double)(float)(fabs(x) > 1000 ? x * 1e-8 : x);
}

double draw_real(void) {
    szgi_stream stream = draw_stream();
    return moderate(&stream, 0);
}

/* ---- Slots ---- */

int add_matrix(op_trial *trial, slot_role role, const char *name, int64_t rows, int64_t columns,
               int64_t ld, bool wanted) {
    ck_assert_int_lt(trial->slots, SLOTS);
    op_slot *slot = &trial->slot[trial->slots];
    *slot = (op_slot){.name = name,
                      .role = role,
                      .of = -1,
                      .count = wanted ? rows * ld : 0,
                      .columns = columns,
                      .ld = ld};
    szgi_stream stream = draw_stream();
    slot->values = new_numbers(slot->count);
    for (int64_t i = 0; i < slot->count; i++)
        slot->values[i] = i % ld < columns ? moderate(&stream, (uint64_t)i) : (double)NAN;
    return trial->slots++;
}

int add_slot(op_trial *trial, slot_role role, const char *name, int64_t count, bool wanted) {
    return add_matrix(trial, role, name, 1, count, count, wanted);
}

void blank(op_trial *trial, int at) {
    for (int64_t i = 0; i < trial->slot[at].count; i++)
        trial->slot[at].values[i] = NAN;
}

int add_ints(op_trial *trial, const char *name, int64_t count, int64_t least, int64_t bound) {
    int at = add_slot(trial, SLOT_INPUT, name, count, true);
    trial->slot[at].kind = SLOT_INTS;
    for (int64_t i = 0; i < count; i++)
        trial->slot[at].values[i] = (double)(least + draw_below(bound - least));
    return at;
}

int add_longs(op_trial *trial, slot_role role, const char *name, int64_t count,
              const int64_t *values) {
    int at = add_slot(trial, role, name, count, true);
    trial->slot[at].kind = SLOT_LONGS;
    for (int64_t i = 0; i < count; i++)
        trial->slot[at].values[i] = values ? (double)values[i] : 0;
    return at;
}

int add_blocks(op_trial *trial, const char *name, int64_t count) {
    int at = add_slot(trial, SLOT_INPUT, name, count * BLOCK_NUMBERS, true);
    trial->slot[at].kind = SLOT_BLOCK;
    for (int64_t i = 0; i < count; i++) {
        const double values[BLOCK_NUMBERS] = {
            (double)draw_below(1 << 30), (double)draw_below(1000), 1, 0.01, .5, .25, 0};
        memcpy(trial->slot[at].values + i * BLOCK_NUMBERS, values, sizeof values);
    }
    return at;
}

int add_block(op_trial *trial) {
    return add_blocks(trial, "block", 1);
}

double largest(const op_trial *trial, int at) {
    double top = 0;
    for (int64_t i = 0; i < trial->slot[at].count; i++)
        top = fabs(trial->slot[at].values[i]) > top ? fabs(trial->slot[at].values[i]) : top;
    return top;
}

void close_trial(op_trial *trial) {
    for (int s = 0; s < trial->slots; s++)
        szgi_memory_free(trial->slot[s].values);
}

/* ---- On a table ---- */

static int64_t element_size(szg_context *context, const op_slot *slot) {
    return slot->kind == SLOT_REALS   ? szgi_network_real_size(context)
           : slot->kind == SLOT_INTS  ? (int64_t)sizeof(int32_t)
           : slot->kind == SLOT_LONGS ? (int64_t)sizeof(int64_t)
           : slot->kind == SLOT_BLOCK ? (int64_t)sizeof(szgi_step_block)
                                      : (int64_t)sizeof(szgi_tally);
}

/* Numbers of an element. */
static int64_t numbers_of(const op_slot *slot) {
    return slot->kind == SLOT_BLOCK ? BLOCK_NUMBERS : slot->kind == SLOT_TALLY ? 3 : 1;
}

static int64_t elements(const op_slot *slot) {
    return slot->count / numbers_of(slot);
}

/* An element of any kind. */
typedef union element {
    float single;
    double both;
    int32_t integer;
    int64_t big;
    szgi_step_block block;
    szgi_tally tally;
} element;

static element packed(slot_kind kind, int64_t size, const double *from) {
    element e = {.both = from[0]};
    if (kind == SLOT_REALS && size == 4)
        e.single = (float)from[0];
    else if (kind == SLOT_INTS)
        e.integer = (int32_t)from[0];
    else if (kind == SLOT_LONGS)
        e.big = (int64_t)from[0];
    else if (kind == SLOT_BLOCK)
        e.block =
            (szgi_step_block){(uint64_t)from[0], (uint32_t)from[1], (uint32_t)from[2], from[3],
                              from[4],           from[5],           (int64_t)from[6]};
    else if (kind == SLOT_TALLY)
        e.tally = (szgi_tally){from[0], (int64_t)from[1], (int64_t)from[2]};
    return e;
}

static void unpacked(slot_kind kind, int64_t size, const element *e, double *to) {
    const szgi_step_block *b = &e->block;
    const double block[BLOCK_NUMBERS] = {(double)b->seed,  b->step,        b->finite,
                                         b->learning_rate, b->correction1, b->correction2,
                                         (double)b->first};
    const double tally[] = {e->tally.loss, (double)e->tally.counted, (double)e->tally.correct};
    if (kind == SLOT_BLOCK)
        memcpy(to, block, sizeof block);
    else if (kind == SLOT_TALLY)
        memcpy(to, tally, sizeof tally);
    else
        *to = kind == SLOT_INTS    ? e->integer
              : kind == SLOT_LONGS ? (double)e->big
              : size == 4          ? (double)e->single
                                   : e->both;
}

static void pack(const op_slot *slot, int64_t size, unsigned char *to) {
    int64_t numbers = numbers_of(slot);
    for (int64_t i = 0; i < elements(slot); i++) {
        element e = packed(slot->kind, size, slot->values + i * numbers);
        memcpy(to + i * size, &e, (size_t)size);
    }
}

static void unpack(const op_slot *slot, int64_t size, const unsigned char *from, double *to) {
    int64_t numbers = numbers_of(slot);
    for (int64_t i = 0; i < elements(slot); i++) {
        element e = {0};
        memcpy(&e, from + i * size, (size_t)size);
        unpacked(slot->kind, size, &e, to + i * numbers);
    }
}

/* Guard bands of an array: 64 bytes, and one element more where it shall be aligned to its elements
 * alone. */
static int64_t band_of(const op_trial *trial, int at, int64_t size) {
    bool ragged = !trial->aligned && at % 2 && trial->slot[at].kind <= SLOT_LONGS;
    return 64 + (ragged ? size : 0);
}

static unsigned char *new_bytes(int64_t count) {
    unsigned char *bytes;
    ck_szg_ok(szgi_memory_alloc(test_context(), count, &bytes));
    return bytes;
}

static void *put(szg_context *context, const op_trial *trial, int at) {
    const op_slot *slot = &trial->slot[at];
    int64_t size = element_size(context, slot), band = band_of(trial, at, size);
    int64_t bytes = elements(slot) * size;
    void *memory;
    unsigned char *host = new_bytes(bytes + 2 * band);
    memset(host, GUARD, (size_t)(bytes + 2 * band));
    pack(slot, size, host + band);
    ck_on(context, szgi_device_alloc(context, bytes + 2 * band, &memory));
    ck_on(context, szgi_device_upload(context, memory, host, bytes + 2 * band));
    szgi_memory_free(host);
    return memory;
}

/* Downloads a slot into `to`, checks its guard bands, frees it. */
static void take(szg_context *context, const op_trial *trial, int at, void *memory, double *to) {
    const op_slot *slot = &trial->slot[at];
    int64_t size = element_size(context, slot), band = band_of(trial, at, size);
    int64_t bytes = elements(slot) * size;
    unsigned char *host = new_bytes(bytes + 2 * band);
    ck_on(context, szgi_device_download(context, host, memory, bytes + 2 * band));
    for (int64_t i = 0; i < band; i++)
        if (host[i] != GUARD || host[bytes + band + i] != GUARD)
            ck_abort_msg("%s: written outside, at byte %lld of a band", slot->name, (long long)i);
    unpack(slot, size, host + band, to);
    szgi_memory_free(host);
    szgi_device_free(context, memory);
}

void run_on(szg_context *context, const op_trial *trial, call_fn *call, double **out) {
    void *memory[SLOTS], *at[SLOTS];
    for (int s = 0; s < trial->slots; s++) {
        const op_slot *slot = &trial->slot[s];
        memory[s] = put(context, trial, s);
        at[s] = slot->count == 0
                    ? NULL
                    : (unsigned char *)memory[s] + band_of(trial, s, element_size(context, slot));
    }
    ck_on(context, call(context, trial, at));
    for (int s = 0; s < trial->slots; s++) {
        out[s] = new_numbers(trial->slot[s].count);
        take(context, trial, s, memory[s], out[s]);
    }
}

void free_run(const op_trial *trial, double **numbers) {
    for (int s = 0; s < trial->slots; s++)
        szgi_memory_free(numbers[s]);
}
