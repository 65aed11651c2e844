/* The folder of a run: its files, and those of an earlier run in it. */
#ifndef SZG_TRAIN_RUN_FOLDER_H
#define SZG_TRAIN_RUN_FOLDER_H

#include <sys/stat.h>

#include "run_private.h"

typedef struct run_folder {
    char *config, *weights, *state, *manifest, *dump; /* paths */
    bool resumes;                                     /* there is a state to go on from */
    bool ended;       /* no step is left: the caller's to say, before szgi_run_folder_start */
    struct stat seen; /* the state that was found; zeros: none */
    run_log log[LOGS];
} run_folder;

/* Makes the folder and finds out what it holds. SZG_EINVAL: a run, and options->resume is not set.
 */
SZG_CHECK_RESULT szg_status szgi_run_folder_open(szg_context *context,
                                                 const szg_train_options *options, run_folder *out);
void szgi_run_folder_close(run_folder *folder);

/* Before the first step in the folder `path`: locks the logs, makes sure that no other process
 * saved a state meanwhile (SZG_EIO), cuts the logs to what `marks` know
 * (timing.csv, outside the promise of equal bits, begins anew with a warning if it is not what the
 * mark knows: then its mark is zeroed; where `ended`, it stays as it is and its log is closed);
 * removes what an earlier process
 * left unfinished, and the manifest, which describes the finished run; writes the configuration. */
SZG_CHECK_RESULT szg_status szgi_run_folder_start(szg_context *context, run_folder *folder,
                                                  const char *path, const szg_train_config *config,
                                                  log_mark *marks);

/* Flushes the logs to the disk and stores their marks. */
SZG_CHECK_RESULT szg_status szgi_run_folder_sync(szg_context *context, run_folder *folder,
                                                 log_mark *marks);

/* Writes the weights again unless they are those of `step`. */
SZG_CHECK_RESULT szg_status szgi_run_folder_repair(szg_context *context, const run_folder *folder,
                                                   const szg_model *model, uint64_t seed,
                                                   int64_t step);

#endif
