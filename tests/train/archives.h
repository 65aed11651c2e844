/* Archives of the preset of pieces.h: sound ones, and ones with another member. */
#ifndef SZG_TESTS_ARCHIVES_H
#define SZG_TESTS_ARCHIVES_H

#include "formats/archives.h"
#include <szego/reproduce.h>
#include "pieces.h"

#define RUN "runs/base/distance/rope/run-3/" /* the run whose members are changed */

static inline void pack(const char *folder, const char *path, int64_t carry) {
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_pack(test_context(), runs, path, carry));
    szg_reproduction_close(&runs);
}

static inline int64_t take(const char *folder, const char *path) {
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_take(test_context(), runs, path));
    int64_t finished = count_finished(runs);
    szg_reproduction_close(&runs);
    runs = open_pieced(folder); /* and so the next process finds it */
    ck_assert_int_eq(count_finished(runs), finished);
    szg_reproduction_close(&runs);
    return finished;
}

static inline void refuse(const char *folder, const char *preset, const char *const *overrides,
                          const char *path, const char *words) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, preset, overrides, overrides != NULL, &runs));
    int64_t entries = files_in(folder);
    ck_szg_fails(SZG_EDATA, words, szg_reproduction_take(test_context(), runs, path));
    ck_assert_int_eq(files_in(folder), entries); /* nothing was written: runs/ is not there */
    szg_reproduction_close(&runs);
}

/* An archive with one file more, or with another text in place of one. */
static inline void repack(const char *folder, const char *path, const char *inside,
                          const char *text) {
    char part[256], name[512];
    szgi_archive_writer *writer;
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szgi_archive_create(test_context(), path, &writer));
    FILE *file = fopen(path_in(folder, "part", part), "w");
    fputs(text, file);
    fclose(file);
    for (int64_t i = 0; i < PIECED_RUNS; i++) {
        static const char *const files[] = {"finished.json", "metrics.csv", "timing.csv",
                                            "ablation.csv", "ablation_latent_columns.csv"};
        for (int f = 0; f < 5; f++) {
            const char *run = szg_reproduction_run_at(runs, i).name;
            char real[1024];
            snprintf(name, sizeof name, "runs/%s/%s", run, files[f]);
            snprintf(real, sizeof real, "%s/%s", folder, name);
            if (access(real, F_OK) == 0 && strcmp(name, inside) != 0)
                ck_szg_ok(szgi_archive_add(test_context(), writer, name, real));
        }
    }
    if (*text)
        ck_szg_ok(szgi_archive_add(test_context(), writer, inside, part));
    ck_szg_ok(szgi_archive_commit(test_context(), &writer));
    szg_reproduction_close(&runs);
}

#endif
