/* Relations of a preset that are refused before anything is trained. */
#include "toy.h"

#define SETTINGS                                                                                   \
    "\"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"     \
    " \"heads\": 2, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 1},"                \
    " \"capture\": {\"every\": 1}, \"curvature\": {\"every\": 1, \"examples\": 4}},\n"             \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 40, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n"
#define ARM(encoding) "{\"experiment\": \"e\", \"encoding\": \"" encoding "\"}"
#define TRIALS(seeds, relations)                                                                   \
    "{\"name\": \"trials\", \"about\": \"\", \"seeds\": [" seeds "], \"early_steps\": 2,\n"        \
    " " SETTINGS " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": "     \
    "[\"rope\", \"nope\", \"alibi\", \"absolute\"]}],\n \"relations\": [" relations "]}"
#define ASK(name, x, y, rest)                                                                      \
    "{\"name\": \"" name "\", \"text\": \"text of " name "\", \"x\": {\"measure\": " x             \
    "}, \"y\": {\"measure\": " y "}" rest "}"
#define ARMS(arms) ", \"arms\": [" arms "]"

#define MEASURED(config, x, y)                                                                     \
    "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], \"early_steps\": 3, \"config\": "          \
    "{\"model\": "                                                                                 \
    "{\"heads\": 2, \"layers\": 2}" config "}, \"tasks\": {\"distance\": {}}, \"experiments\": "   \
    "[{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}], \"relations\": [" ASK( \
        "a", x, y, "") "]}"
#define EVERY(part, keys) ", \"" part "\": {" keys "}"

START_TEST(bad_relations_are_refused) {
#define ACCURACY "\"accuracy\""
    static const char *const bad[][2] = {
        {TRIALS("1", ""), "relations: has 0 elements"},
        {TRIALS("1", "3"), "relations[0]"},
        {TRIALS("1", ASK("", ACCURACY, ACCURACY, "")), "relations[0].name: is empty"},
        {TRIALS("1", ASK("a", "\"contractio\"", ACCURACY, "")),
         "relations[0].x.measure: is \"contractio\": did you mean contraction"},
        {TRIALS("1", ASK("a", ACCURACY, "\"accuracy\", \"step\": 0", "")),
         "y.step: accuracy is of a whole run: leave the step out"},
        {TRIALS("1", ASK("a", ACCURACY, "\"curvature\", \"layer\": 0", "")),
         "y.layer: curvature is of a whole run: leave the layer out"},
        {TRIALS("1", ASK("a", "\"contraction\", \"step\": -1", ACCURACY, "")),
         "x.step: is -1, not an integer from 0"},
        {TRIALS("1", ASK("a", "\"contraction\", \"layer\": 2", ACCURACY, "")), "has no layer 2"},
        {TRIALS("1", ASK("a", "\"index\", \"layer\": 0", ACCURACY, "")),
         "heads of experiment e are not ablated by output"},
        {MEASURED("", "\"contraction\"", "\"accuracy\""),
         "runs of experiment e have no contraction: give it capture.every in \"config\""},
        {MEASURED(EVERY("capture", "\"every\": 2"), "\"contraction\", \"step\": 3", ACCURACY),
         "have no contraction at step 3: take a multiple of capture.every, 2, from 0"},
        {MEASURED(EVERY("capture", "\"every\": 2, \"until\": 4"), ACCURACY,
                  "\"contraction\", \"step\": 4"),
         "have no contraction at step 4: raise capture.until, which is 4"},
        {MEASURED(EVERY("capture", "\"every\": 2, \"layers\": \"0\""), ACCURACY,
                  "\"contraction\", \"layer\": 1"),
         "runs of experiment e do not capture layer 1: add it to capture.layers"},
        {MEASURED(EVERY("capture", "\"every\": 2") EVERY("loop", "\"limit_steps\": 6"), ACCURACY,
                  "\"contraction\", \"step\": 6"),
         "have no contraction at step 6: raise loop.limit_steps, which is 6"},
        {MEASURED(EVERY("capture", "\"every\": 2"), ACCURACY, "\"curvature\""),
         "runs of experiment e have no curvature: give it curvature.every in \"config\""},
        {MEASURED(EVERY("curvature", "\"every\": 3"), ACCURACY, "\"curvature\", \"step\": 4"),
         "have no curvature at step 4: take a multiple of curvature.every, 3, from 0"},
        {MEASURED(EVERY("curvature", "\"every\": 3, \"until\": 6"), ACCURACY,
                  "\"curvature_adamw\", \"step\": 9"),
         "have no curvature_adamw at step 9: raise curvature.until, which is 6"},
        {MEASURED(EVERY("curvature", "\"every\": 3"), ACCURACY, "\"curvature_adamw\", \"step\": 0"),
         "have no curvature_adamw at step 0: take a multiple of curvature.every, 3, from 3"},
        {MEASURED(EVERY("curvature", "\"every\": 3"), ACCURACY, "\"curvature_adamw\""),
         "have no curvature_adamw at step 3: raise early_steps, which is 3"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ARMS(""))), "arms: has no arm"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ARMS(ARM("t5")))),
         "arms[0]: the preset has no run of experiment e, encoding t5, task distance"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ARMS(ARM("rope") ", " ARM("rope")))),
         "arms[1]: is there twice"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, "") ", " ASK("a", ACCURACY, ACCURACY, "")),
         "\"a\" is there twice"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ", \"task\": \"count\"")),
         "the preset has no run of task count"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ", \"primary\": true")), "primary: is unknown"},
        {TRIALS("1", ASK("a", "\"accuracy\", \"minus\": 1", ACCURACY, "")), "minus: is unknown"},
    };
    presets_are_refused(sizeof bad / sizeof *bad, bad);
}
END_TEST

static const char one[] = TRIALS("1", ASK("a", ACCURACY, "\"contraction\"", ""));

static szg_status open_and_close(const char *folder, const char *preset) {
    szg_reproduction *runs;
    szg_status status = open_preset(test_context(), folder, preset, NULL, 0, &runs);
    szg_reproduction_close(&runs);
    return status;
}

START_TEST(failed_allocations_are_survived) {
    char *folder = new_folder();
    ck_survives_failed_allocations(50, open_and_close(folder, one));
    remove_tree(folder);
}
END_TEST

TEST_FILE("relations") {
    test_add(suite, "bad relations", bad_relations_are_refused);
    test_add(suite, "failed allocations", failed_allocations_are_survived);
}
