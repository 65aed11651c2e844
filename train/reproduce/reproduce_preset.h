/* A preset file while it is read. */
#ifndef SZG_TRAIN_REPRODUCE_PRESET_H
#define SZG_TRAIN_REPRODUCE_PRESET_H

#include "formats/json.h"

#include "reproduce_private.h"

/* The place of a run in the preset. */
typedef struct run_place {
    const szg_reproduction_options *options;
    szgi_json_value root;
    szgi_json_value part;   /* what is read: its lists say what runs */
    szgi_json_value origin; /* the first experiment of that name: profile, config, ablation */
    szgi_json_value base;   /* the one that `like` names; absent: none */
    const char *name, *like, *profile, *task, *encoding;
    int64_t seed, rotated;
    unsigned methods;
    head_rule head;
    szgi_length_options length;
    /* [experiments of the file]: their names, NULL until they are read, and, by `origin`, the
     * latest run; -1: none yet. */
    const char **names;
    int64_t *latest;
} run_place;

/* Refuses members of an object that are none of `known` ("a|b|c"). */
SZG_CHECK_RESULT szg_status szgi_preset_members(szg_context *context, szgi_json_value object,
                                                const char *known);

/* Reads the member `head` of an experiment; absent: no rule. */
SZG_CHECK_RESULT szg_status szgi_head_read(szg_context *context, szgi_json_value value,
                                           head_rule *out);

/* Reads the member `length` of an experiment; absent: no longer sequences. */
SZG_CHECK_RESULT szg_status szgi_length_read(szg_context *context, szgi_json_value value,
                                             szgi_length_options *out);

/* Appends the run at `place`. */
SZG_CHECK_RESULT szg_status szgi_preset_add_run(szg_context *context, const run_place *place,
                                                szg_reproduction *out);

#endif
