/* Hypotheses of a preset that are refused before anything is trained. tests/python/test_judge.py
 * has what they come to. */
#include "toy.h"

#define SETTINGS                                                                                   \
    "\"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"     \
    " \"heads\": 4, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 1},"                \
    " \"capture\": {\"every\": 2}},\n"                                                             \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 40, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n"
#define ARM(encoding) "{\"experiment\": \"e\", \"encoding\": \"" encoding "\"}"
#define TRIALS(hypotheses)                                                                         \
    "{\"name\": \"trials\", \"about\": \"\", \"seeds\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],\n"        \
    " " SETTINGS " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": "     \
    "[\"rope\", \"nope\", \"alibi\"], \"ablation\": true}],\n \"hypotheses\": [" hypotheses "]}"
#define SAY(name, measure, rest, arm, primary)                                                     \
    "{\"name\": \"" name "\", \"text\": \"text of " name "\", \"measure\": \"" measure "\", " rest \
    "\"arm\": " ARM(arm) ", \"primary\": " primary "}"
#define MINUS(arms) "\"minus\": [" arms "], "

/* The arms have a seed with one of the others each, and none with both. */
#define SEEDLESS                                                                                   \
    "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1, 2], " SETTINGS                              \
    "\"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}, "      \
    "{\"name\": \"e\", \"seeds\": [1], \"encodings\": [\"nope\"]}, "                               \
    "{\"name\": \"e\", \"seeds\": [2], \"encodings\": [\"alibi\"]}], \"hypotheses\": [" SAY(       \
        "a", "accuracy", MINUS(ARM("nope") ", " ARM("alibi")), "rope", "true") "]}"
#define CAPTURED(config)                                                                           \
    "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], \"config\": {\"model\": {\"heads\": 4, "   \
    "\"layers\": 2}" config                                                                        \
    "}, \"tasks\": {\"distance\": {}}, \"experiments\": [{\"name\": \"e\", "                       \
    "\"profile\": \"text\", \"encodings\": [\"rope\"], \"ablation\": true}], \"hypotheses\": "     \
    "[" SAY("a", "rank_correlation", "\"layer\": 1, ", "rope", "true") "]}"

START_TEST(bad_hypotheses_are_refused) {
    static const char *const bad[][2] = {
        {TRIALS(""), "hypotheses: has 0 elements"},
        {TRIALS("3"), "hypotheses[0]"},
        {TRIALS(SAY("", "accuracy", "", "rope", "true")), "hypotheses[0].name: is empty"},
        {TRIALS(SAY("a", "indx", "\"layer\": 0, ", "rope", "true")), "did you mean index"},
        {TRIALS(SAY("a", "index", "", "rope", "true")), "hypotheses[0].layer"},
        {TRIALS(SAY("a", "index", "\"layer\": 2, ", "rope", "true")), "has no layer 2"},
        {TRIALS(SAY("a", "index", "\"layer\": -1, ", "rope", "true")), "has no layer -1"},
        {TRIALS(SAY("a", "accuracy", "\"layer\": 0, ", "rope", "true")),
         "accuracy is of a whole run: leave the layer out"},
        {TRIALS(SAY("a", "accuracy", "", "t5", "true")),
         "arm: the preset has no run of experiment e, encoding t5, task distance"},
        {TRIALS(SAY("a", "accuracy", MINUS(ARM("t5")), "rope", "true")),
         "minus[0]: the preset has no run"},
        {TRIALS(SAY("a", "accuracy", MINUS(""), "rope", "true")), "minus: has 0 arms"},
        {TRIALS(SAY("a", "accuracy", MINUS(ARM("nope") ", " ARM("rope")), "rope", "true")),
         "minus[1]: experiment e, encoding rope is \"arm\" itself"},
        {SEEDLESS, "minus: no seed of experiment e is one of all these too"},
        {CAPTURED(""), "runs of experiment e have no rank_correlation: give it capture.every"},
        {CAPTURED(", \"capture\": {\"every\": 2, \"heads\": \"0+2\"}"),
         "runs of experiment e do not capture every head, and have no rank_correlation"},
        {CAPTURED(", \"capture\": {\"every\": 2, \"layers\": \"0\"}"),
         "do not capture layer 1: add it to capture.layers"},
        {TRIALS(SAY("a", "accuracy", "", "rope", "1")), "hypotheses[0].primary"},
        {TRIALS(SAY("a", "accuracy", "\"task\": \"count\", ", "rope", "true")),
         "encoding rope, task count"},
        {TRIALS(SAY("a", "accuracy", "", "rope", "true") ", " SAY("a", "accuracy", "", "rope",
                                                                  "true")),
         "\"a\" is there twice"},
        {TRIALS(SAY("a", "accuracy", "\"arms\": 1, ", "rope", "true")),
         "arms: is unknown: did you mean arm"},
        {"{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], " SETTINGS "\"early_steps\": 0, "
         "\"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}]}",
         "early_steps: is 0, not an integer from 1"},
        {"{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], " SETTINGS
         "\"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}], "
         "\"hypotheses\": [" SAY("a", "index", "\"layer\": 0, ", "rope", "true") "]}",
         "heads of experiment e are not ablated by output"},
    };
    presets_are_refused(sizeof bad / sizeof *bad, bad);
}
END_TEST

static const char one[] =
    "{\"name\": \"few\", \"about\": \"\", \"seeds\": [1], " SETTINGS
    " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\", "
    "\"nope\"], \"ablation\": true}], \"hypotheses\": [" SAY(
        "up", "index", "\"layer\": 0, " MINUS(ARM("nope")), "rope", "true") "]}";

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

TEST_FILE("hypotheses") {
    test_add(suite, "bad hypotheses", bad_hypotheses_are_refused);
    test_add(suite, "failed allocations", failed_allocations_are_survived);
}
