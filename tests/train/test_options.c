/* Every public function that takes a struct of the caller's looks at its size before all else, and
 * takes one of earlier headers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <szego/szego.h>

#include "suite.h"

/* The struct was never initialised: `call` refuses it, by its name and with the remedy. */
#define ck_refused(type, call)                                                                     \
    do {                                                                                           \
        const type options[1] = {{.size = 0}};                                                     \
        ck_szg_fails(SZG_EINVAL, #type ": its field `size` is 0", call);                           \
        ck_assert_ptr_nonnull(                                                                     \
            strstr(szg_context_message(context), "begin it with {SZG_INIT(" #type ")}"));          \
    } while (0)

/* There is no context yet that could keep words. */
START_TEST(contexts_refuse_what_nobody_initialised) {
    szg_context *context = test_context();
    const szg_context_options options = {.threads = 1};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_EINVAL);
    ck_assert_ptr_null(context);
    ck_szg_ok(szg_context_open(NULL, &context));
    szg_context_close(&context);
}
END_TEST

START_TEST(matrices_refuse_what_nobody_initialised) {
    szg_context *context = test_context();
    const double one = 1;
    const szg_matrix m = szg_matrix_dense(1, 1, &one, 1);
    szg_spectrum s;
    szg_matrix_report r;
    szg_contraction c;
    szg_logits *logits;
    for (int question = 0; question < SZG_QUESTIONS; question++)
        ck_refused(szg_spectra_options,
                   szg_spectrum_compute(context, &m, (szg_question)question, options, &s));
    ck_assert(!s.re && s.count == 0);
    ck_refused(szg_report_options, szg_summary_compute(context, &m, options, &r));
    ck_refused(szg_report_options, szg_symbol_compute(context, &m, options, &r));
    ck_assert(!r.matrix && !r.sample);
    ck_refused(szg_report_options, szg_contraction_compute(context, &m, &m, options, &c));
    ck_refused(szg_report_options, szg_contraction_compute(context, NULL, &m, options, &c));
    ck_refused(szg_logits_options, szg_logits_open(context, NULL, 0, NULL, 1, options, &logits));
}
END_TEST

START_TEST(tables_refuse_what_nobody_initialised) {
    szg_context *context = test_context();
    const szg_matrix_report r = {0};
    const szg_contraction c = {0};
    szg_report_tables tables = {0};
    szg_claims_report claims;
    szg_checkpoint_tables rows;
    ck_refused(szg_report_labels, szg_report_add(context, &tables, options, &r));
    ck_refused(szg_contraction_labels, szg_contraction_add(context, NULL, options, &c));
    ck_refused(szg_claims_options, szg_claims_verify(context, options, 0, NULL, &claims));
    ck_refused(szg_checkpoint_options, szg_checkpoint_analyse(context, NULL, options, &rows));
    ck_refused(szg_print_options, szg_result_print(context, NULL, options, stdout));
}
END_TEST

START_TEST(training_refuses_what_nobody_initialised) {
    szg_context *context = test_context();
    szg_train_result result;
    szg_ablation ablation;
    szg_ablation_subject subject;
    szg_reproduction *reproduction;
    ck_refused(szg_train_options, szg_train_run(context, options, &result));
    ck_refused(szg_train_options, szg_train_runs_add(context, NULL, options, &result, NULL));
    ck_refused(szg_ablation_options, szg_ablation_run(context, NULL, NULL, options, &ablation));
    ck_refused(szg_ablation_source, szg_ablation_subject_open(context, options, &subject));
    ck_refused(szg_reproduction_options, szg_reproduction_open(context, options, &reproduction));
    ck_assert_ptr_null(reproduction);
}
END_TEST

/* A dense matrix of this order has no room anywhere: what stands where later headers have `dense`
 * must not be looked at. */
START_TEST(spectra_of_an_earlier_caller) {
    const double one = 1;
    szg_toeplitz *t;
    szg_spectrum s;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 10000000, 1, &one, &t));
    const szg_matrix m = szg_matrix_toeplitz(t);
    szg_spectra_options options = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE,
                                   .dense = true};
    ck_szg_fails(SZG_ENOMEM, "--dense",
                 szg_spectrum_compute(test_context(), &m, SZG_QUESTION_EIGENVALUES, &options, &s));
    options.size = offsetof(szg_spectra_options, dense);
    ck_szg_ok(szg_spectrum_compute(test_context(), &m, SZG_QUESTION_EIGENVALUES, &options, &s));
    ck_assert(s.count == 2 && s.re[0] == 1 && s.re[1] == 1);
    szg_spectrum_close(&s);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(spectra_of_a_later_caller) {
    const double one = 1;
    const szg_matrix m = szg_matrix_symmetric(1, &one, 1);
    struct {
        szg_spectra_options options;
        int64_t added;
    } later = {.options = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE}};
    later.options.size = sizeof later;
    szg_spectrum s;
    ck_szg_ok(
        szg_spectrum_compute(test_context(), &m, SZG_QUESTION_EIGENVALUES, &later.options, &s));
    ck_assert(s.count == 1 && s.re[0] == 1);
    szg_spectrum_close(&s);
    later.added = 1;
    ck_szg_fails(
        SZG_EINVAL, "szg_spectra_options: {SZG_INIT(szg_spectra_options)} made",
        szg_spectrum_compute(test_context(), &m, SZG_QUESTION_EIGENVALUES, &later.options, &s));
}
END_TEST

TEST_FILE("options") {
    test_add(suite, "contexts_refuse_what_nobody_initialised",
             contexts_refuse_what_nobody_initialised);
    test_add(suite, "matrices_refuse_what_nobody_initialised",
             matrices_refuse_what_nobody_initialised);
    test_add(suite, "tables_refuse_what_nobody_initialised", tables_refuse_what_nobody_initialised);
    test_add(suite, "training_refuses_what_nobody_initialised",
             training_refuses_what_nobody_initialised);
    test_add(suite, "spectra_of_an_earlier_caller", spectra_of_an_earlier_caller);
    test_add(suite, "spectra_of_a_later_caller", spectra_of_a_later_caller);
}
