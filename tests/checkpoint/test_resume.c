/* An analysis that is interrupted, however often, goes on to the tables of one that is not. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model.h"

enum { LAYERS = 4 };

static const char config[] = "{\"model_type\":\"llama\",\"num_hidden_layers\":4,"
                             "\"num_attention_heads\":140,\"num_key_value_heads\":70,"
                             "\"head_dim\":2,\"hidden_size\":3,\"rope_theta\":10000.0,"
                             "\"max_position_embeddings\":8}";

/* Four layers of 70 key heads, several windows of shares; layer 1 is skipped, layer 3 is missing.
 */
static void make_model(test_model *model) {
    model_open(model);
    for (int i = 0; i < LAYERS - 1; i++) {
        model_add(model, SZGI_DTYPE_F32, 280, 3, "model.layers.%d.self_attn.q_proj.weight", i);
        model_add(model, SZGI_DTYPE_F32, 140, 3, "model.layers.%d.self_attn.k_proj.weight", i);
        model_add(model, SZGI_DTYPE_F32, 3, -1, "model.layers.%d.input_layernorm.weight", i);
    }
    model_find(model, "model.layers.1.self_attn.k_proj.weight")->value[11] = NAN;
    model_write(model, config);
}

/* A clock that goes on by a second a look, so that every record is worth its time, or by none, so
 * that none is; from look `last` on it is past the deadline. What was said goes to `note`. */
typedef struct clock_state {
    _Atomic int64_t looks; /* of every thread */
    int64_t last;
    bool goes;
    char note[256];
} clock_state;

static double read_clock(void *user) {
    clock_state *state = user;
    int64_t looks = atomic_fetch_add(&state->looks, 1);
    double now = state->goes ? (double)looks : 0;
    return looks + 1 >= state->last ? 1e8 : now;
}

static void hear(void *user, szg_severity severity, const char *text) {
    clock_state *state = user;
    if (severity == SZG_NOTE)
        snprintf(state->note, sizeof state->note, "%s", text);
}

static szg_context *open_context(clock_state *state, int threads) {
    szg_context *context;
    ck_szg_ok(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options),
                                                      .threads = threads, .clock = read_clock,
                                                      .message = hear, .user = state},
                               &context));
    szg_context_set_deadline(context, 1e7);
    return context;
}

static szg_status analyse(szg_context *context, const test_model *model, const char *journal,
                          const char *heads, szg_checkpoint_tables *tables) {
    szg_checkpoint *checkpoint;
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .journal = journal,
                                            .heads = heads, .kernel = 5};
    *tables = (szg_checkpoint_tables){0};
    szg_status status = szg_checkpoint_open(context, model->folder, NULL, &checkpoint);
    if (status == SZG_OK)
        status = szg_checkpoint_analyse(context, checkpoint, &options, tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

static char *analyse_whole(const test_model *model) {
    szg_checkpoint_tables tables;
    ck_szg_ok(analyse(test_context(), model, NULL, NULL, &tables));
    ck_assert_int_eq(tables.bad, 2);
    char *text = model_print(&tables);
    szg_checkpoint_tables_close(&tables);
    return text;
}

/* Runs that end at their looks number `step` until one does not: how many there were. */
static int run_until_done(const test_model *model, int64_t step, bool goes, int threads,
                          const char *want) {
    szg_checkpoint_tables tables;
    const char *journal = scratch_path("folder/run.journal");
    for (int runs = 1;; runs++) {
        clock_state state = {.last = INT64_MAX, .goes = goes};
        szg_context *context = open_context(&state, threads);
        /* Later each time: it ends, though a layer that is cut off begins anew. */
        state.last = state.looks + step + runs * runs;
        szg_status status = analyse(context, model, journal, NULL, &tables);
        if (status == SZG_OK) {
            char *got = model_print(&tables);
            ck_assert_str_eq(got, want);
            free(got);
            szg_checkpoint_tables_close(&tables);
        } else {
            ck_assert_int_eq(status, SZG_ECANCEL);
        }
        if (status != SZG_OK && access(journal, F_OK) == 0)
            ck_assert_ptr_nonnull(strstr(szg_context_message(context), " of 4 layers are kept in"));
        szg_context_close(&context);
        if (status != SZG_OK)
            continue;
        unlink(journal);
        return runs;
    }
}

START_TEST(interrupted_runs_end_in_the_same_tables) {
    test_model model;
    int most = 0;
    make_model(&model);
    char *want = analyse_whole(&model);
    for (int goes = 0; goes < 2; goes++)
        for (int64_t step = 1; step < 2000; step += step + 1) {
            int runs = run_until_done(&model, step, goes, (int)(step % 2) + 1, want);
            most = runs > most ? runs : most;
        }
    ck_assert_int_gt(most, 3); /* some were interrupted more than once */
    free(want);
    model_close(&model);
}
END_TEST

/* Looks of an analysis that is not interrupted: one a head at least. */
static int64_t count_looks(const test_model *model, const char *journal, char note[256]) {
    szg_checkpoint_tables tables;
    clock_state state = {.last = INT64_MAX};
    szg_context *context = open_context(&state, 1);
    ck_szg_ok(analyse(context, model, journal, NULL, &tables));
    szg_checkpoint_tables_close(&tables);
    szg_context_close(&context);
    snprintf(note, 256, "%s", state.note);
    return state.looks;
}

/* Leaves the journal of a run that ends after three quarters of its looks: in layer 2, as layers 1
 * and 3 have no heads to look at. */
static void leave_journal(const test_model *model, const char *journal) {
    szg_checkpoint_tables tables;
    char note[256];
    clock_state state = {.last = INT64_MAX};
    szg_context *context = open_context(&state, 1);
    state.last = count_looks(model, NULL, note) * 3 / 4;
    ck_assert_int_eq(analyse(context, model, journal, NULL, &tables), SZG_ECANCEL);
    szg_context_close(&context);
}

START_TEST(work_goes_on_behind_what_is_kept) {
    test_model model;
    char note[256];
    make_model(&model);
    const char *journal = scratch_path("rest.journal");
    leave_journal(&model, journal);
    int64_t whole = count_looks(&model, NULL, note), rest = count_looks(&model, journal, note);
    ck_assert_msg(strstr(note, "going on after layer 2 of 4"), "%s", note);
    ck_assert_int_lt(rest, whole - 140); /* layer 0 is not looked at again */
    model_close(&model);
}
END_TEST

START_TEST(journals_of_other_work_are_refused) {
    test_model model;
    szg_checkpoint_tables tables;
    size_t size;
    make_model(&model);
    const char *journal = scratch_path("other.journal");
    leave_journal(&model, journal);
    char *bytes = scratch_read(journal, &size);
    ck_szg_fails(SZG_EDATA, "heads is \"0\", and was \"\" there",
                 analyse(test_context(), &model, journal, "0", &tables));
    model_write(&model, "{\"model_type\":\"llama\",\"num_hidden_layers\":4,"
                        "\"num_attention_heads\":140,\"num_key_value_heads\":70,"
                        "\"head_dim\":2,\"hidden_size\":3,\"rope_theta\":20000.0,"
                        "\"max_position_embeddings\":8}");
    ck_szg_fails(SZG_EDATA, "is of other work",
                 analyse(test_context(), &model, journal, NULL, &tables));
    char *after = scratch_read(journal, &size);
    ck_assert_mem_eq(bytes, after, size);
    free(bytes), free(after);
    model_close(&model);
}
END_TEST

/* Bytes of the journal are others, or missing: the tables are right, or it is refused. */
START_TEST(damaged_journals_give_no_other_rows) {
    test_model model;
    szg_checkpoint_tables tables;
    szgi_stream stream = {.seed = test_seed(), .purpose = 77};
    size_t size;
    make_model(&model);
    char *want = analyse_whole(&model);
    leave_journal(&model, scratch_path("damaged.journal"));
    char *bytes = scratch_read(scratch_path("damaged.journal"), &size);
    for (int64_t trial = 0; trial < test_trials(20); trial++) {
        size_t at = (size_t)szgi_random_below(&stream, (uint64_t)(2 * trial), (int64_t)size);
        char old = bytes[at];
        bytes[at] = (char)(old ^ (1 << szgi_random_below(&stream, (uint64_t)(2 * trial + 1), 8)));
        const char *path = scratch_bytes("damaged.journal", bytes, trial % 2 ? size : at);
        szg_status status = analyse(test_context(), &model, path, NULL, &tables);
        bytes[at] = old;
        if (status == SZG_EDATA && trial % 2 && at < 16) /* not the first words of a journal */
            continue;
        ck_szg_ok(status);
        char *got = model_print(&tables);
        ck_assert_str_eq(got, want);
        free(got);
        szg_checkpoint_tables_close(&tables);
    }
    free(bytes), free(want);
    model_close(&model);
}
END_TEST

/* ---- Random circuits ---- */

/* Ten layers of two heads, whose input norms have gains: eight are drawn together. */
static void make_circuits(test_model *model) {
    model_open(model);
    for (int i = 0; i < 10; i++) {
        static const char names[] = "qkvo";
        for (int j = 0; j < 4; j++)
            model_add(model, SZGI_DTYPE_F32, 8, 8, "model.layers.%d.self_attn.%c_proj.weight", i,
                      names[j]);
        model_add(model, SZGI_DTYPE_F32, 8, -1, "model.layers.%d.input_layernorm.weight", i);
    }
    model_write(model, "{\"model_type\":\"llama\",\"num_hidden_layers\":10,"
                       "\"num_attention_heads\":2,\"num_key_value_heads\":2,"
                       "\"head_dim\":4,\"hidden_size\":8,\"rope_theta\":10000.0}");
}

/* Cancels at the unit number `last` of a job, and counts the draws from there on. */
typedef struct canceller {
    szg_context *context;
    const char *what;
    int64_t last, units, draws_after;
} canceller;

static void cancel_at(void *user, const char *what, int64_t done, int64_t total) {
    canceller *state = user;
    (void)done, (void)total;
    state->draws_after += state->units >= state->last && strcmp(what, "draws") == 0;
    if (strcmp(what, state->what) == 0 && ++state->units == state->last)
        szg_context_cancel(state->context);
}

/* The message of an analysis that is cancelled there. */
static void interrupt(const test_model *model, const char *journal, canceller *state,
                      char message[512]) {
    enum { DRAWS = 10 };
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables = {0};
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .journal = journal,
                                            .circuits = true, .draws = DRAWS};
    ck_szg_ok(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options), .threads = 1,
                                                      .progress = cancel_at, .user = state},
                               &state->context));
    ck_szg_ok(szg_checkpoint_open(state->context, model->folder, NULL, &checkpoint));
    ck_assert_int_eq(szg_checkpoint_analyse(state->context, checkpoint, &options, &tables),
                     SZG_ECANCEL);
    snprintf(message, 512, "%s", szg_context_message(state->context));
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&state->context);
}

/* While the circuits of layers 8 and 9 are drawn (10 of QK and 10 of OV, as for layers 0 to 7), all
 * of layers 0 to 7 is kept, and no row of layer 8. */
START_TEST(draws_are_interrupted_behind_whole_heads) {
    char message[512];
    size_t size;
    test_model model;
    make_circuits(&model);
    for (int64_t last = 21; last < 40; last++) {
        canceller state = {.what = "draws", .last = last};
        const char *journal = scratch_path("draws.journal");
        unlink(journal);
        interrupt(&model, journal, &state, message);
        ck_assert_msg(strstr(message, "8 of 10 layers are kept in"), "%s", message);
        char *bytes = scratch_read(journal, &size);
        ck_assert_ptr_nonnull(strstr(bytes, model.folder));
        ck_assert_ptr_nonnull(strstr(bytes, ",7,1,1,ov,"));
        ck_assert_ptr_null(strstr(bytes, ",8,0,0,qk,"));
        free(bytes);
    }
    model_close(&model);
}
END_TEST

/* Nobody waits for random circuits after an interruption, as they take longest. */
START_TEST(an_interruption_draws_nothing) {
    char message[512];
    test_model model;
    make_circuits(&model);
    canceller state = {.what = "heads", .last = 3};
    interrupt(&model, scratch_path("nothing.journal"), &state, message);
    ck_assert_int_eq(state.draws_after, 0);
    ck_assert_ptr_null(strstr(message, "kept"));
    ck_assert_int_ne(access(scratch_path("nothing.journal"), F_OK), 0);
    model_close(&model);
}
END_TEST

static szg_status analyse_and_close(const test_model *model, const char *journal) {
    szg_checkpoint_tables tables;
    szg_status status = analyse(test_context(), model, journal, NULL, &tables);
    szg_checkpoint_tables_close(&tables);
    return status;
}

START_TEST(refused_memory_is_survived) {
    test_model model;
    size_t size;
    make_model(&model);
    const char *journal = scratch_path("memory.journal");
    leave_journal(&model, journal);
    char *bytes = scratch_read(journal, &size);
    ck_survives_failed_allocations(
        200, analyse_and_close(&model, scratch_bytes("memory.journal", bytes, size)));
    free(bytes);
    model_close(&model);
}
END_TEST

TEST_FILE("resume") {
    test_add(suite, "interrupted_runs_end_in_the_same_tables",
             interrupted_runs_end_in_the_same_tables);
    test_add(suite, "work_goes_on_behind_what_is_kept", work_goes_on_behind_what_is_kept);
    test_add(suite, "journals_of_other_work_are_refused", journals_of_other_work_are_refused);
    test_add(suite, "damaged_journals_give_no_other_rows", damaged_journals_give_no_other_rows);
    test_add(suite, "draws_are_interrupted_behind_whole_heads",
             draws_are_interrupted_behind_whole_heads);
    test_add(suite, "an_interruption_draws_nothing", an_interruption_draws_nothing);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
}
