/* Gates: closed forms of the sphere's law, ranges against every point of a grid, and the layers of
 * families that have them. Their numbers are compared in tests/peer/test_decays_hf.py. */
#include <inttypes.h>
#include <math.h>

#include "base/memory.h"
#include "checkpoint/decay_gate.h"
#include "families_oracle.h"
#include <szego/checkpoint.h>
#include <szego/table.h>

/* Uniform in three dimensions, the arcsine law in two. */
START_TEST(sphere_has_closed_forms) {
    for (int size = 2; size <= 3; size++) {
        sphere_law law;
        ck_szg_ok(szgi_sphere_open(test_context(), size, &law));
        for (int i = -10; i <= 10; i++) {
            double x = i / 10.0, want = size == 3 ? (1 + x) / 2 : 0.5 + asin(x) / acos(-1.0);
            double got = szgi_sphere_chance(&law, x);
            ck_assert_msg(fabs(got - want) <= 1e-6, "%d dimensions, %g: %.9g, not %.9g", size, x,
                          got, want);
        }
        szgi_memory_free(law.chance);
    }
}
END_TEST

/* Every argument within reach is inside; with one channel the ends are nearly reached. */
START_TEST(ranges_hold_what_gates_give) {
    for (int bounded = 0; bounded < 2; bounded++) {
        const gate_rule rule = {
            .bounded = bounded, .rate = 1.5, .bound = -5, .most = INFINITY, .unit = 0x1p-24};
        const gate_channel one = {.shift = -2, .radius = 3, .reach = 3};
        decay_range range = szgi_gate_range(&rule, 1, &one);
        for (int i = -100; i <= 100; i++) {
            double g = -2 + 3 * i / 100.0;
            double got = bounded ? -5 / (1 + exp(-1.5 * g)) : -1.5 * log1p(exp(g));
            ck_assert(range.least <= got && got <= range.most);
            if (i == -100)
                ck_assert(fabs(got - range.most) <= 1e-5 * fabs(got));
            if (i == 100)
                ck_assert(fabs(got - range.least) <= 1e-5 * fabs(got));
        }
    }
}
END_TEST

/* In three dimensions the 99% quantile of the argument is shift + 0.98 radius. */
START_TEST(typical_decays_are_those_of_quantiles) {
    const gate_rule rule = {.rate = 0.5, .most = INFINITY, .unit = 0x1p-24};
    const gate_channel one = {.shift = 1, .radius = 2, .reach = 2};
    double got[TYPICAL];
    sphere_law law;
    ck_szg_ok(szgi_sphere_open(test_context(), 3, &law));
    szgi_gate_typical(&rule, &law, 1, &one, got);
    for (int i = 0; i < TYPICAL; i++) {
        double want = -0.5 * log1p(exp(1 + 2 * (1 - 2 * szgi_typical_chance[i])));
        ck_assert_msg(fabs(got[i] - want) <= 1e-5, "%d: %.9g, not %.9g", i, got[i], want);
    }
    szgi_memory_free(law.chance);
}
END_TEST

/* Every head of a recurrent layer has decays, whatever else the model's attention reads. */
START_TEST(families_have_their_decays) {
    static const struct {
        const char *family;
        int64_t rows;
    } cases[] = {{"qwen3_next", 2},  {"qwen3_5_text", 2},     {"olmo_hybrid", 2},
                 {"kimi_linear", 2}, {"granitemoehybrid", 4}, {"bamba", 4},
                 {"falcon_h1", 8},   {"nemotron_h", 4},       {"zamba2", 20},
                 {"minimax", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[512];
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), cases[i].family);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        int64_t rows = szg_table_rows(tables.decays);
        ck_assert_msg(rows == cases[i].rows && tables.bad == 0,
                      "%s: %" PRId64 " rows, not %" PRId64 ", and %" PRId64 " bad", folder, rows,
                      cases[i].rows, tables.bad);
        for (int64_t row = 0; row < rows; row++)
            ck_assert(
                !szg_table_is_empty(tables.decays, row, szg_table_find(tables.decays, "channels")));
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
    }
}
END_TEST

TEST_FILE("decays") {
    test_add(suite, "families_have_their_decays", families_have_their_decays);
    test_add(suite, "sphere_has_closed_forms", sphere_has_closed_forms);
    test_add(suite, "ranges_hold_what_gates_give", ranges_hold_what_gates_give);
    test_add(suite, "typical_decays_are_those_of_quantiles", typical_decays_are_those_of_quantiles);
}
