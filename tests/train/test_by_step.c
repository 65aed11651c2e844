/* Courses by step of a preset that are refused before anything is trained. */
#include "toy.h"

#define SETTINGS                                                                                   \
    "\"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"     \
    " \"heads\": 2, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 2},"                \
    " \"capture\": {\"every\": 1}},\n"                                                             \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 40, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n"
#define EXPERIMENT(name, rest)                                                                     \
    "{\"name\": \"" name "\", \"profile\": \"text\", \"encodings\": [\"rope\"]" rest "}"
#define ABLATED ", \"ablation\": true"
#define STOPPED                                                                                    \
    ", \"config\": {\"loop\": {\"limit_steps\": 2}, \"capture\": {\"every\": 2}}" ABLATED
#define TRIALS(seeds, more, courses)                                                               \
    "{\"name\": \"trials\", \"about\": \"\", \"seeds\": [" seeds "],\n " SETTINGS                  \
    " \"experiments\": [" EXPERIMENT("w", ABLATED) ", " EXPERIMENT("h", STOPPED) more              \
        "],\n \"by_step\": [" courses "]}"
#define ARM(name) "{\"experiment\": \"" name "\", \"encoding\": \"rope\"}"
#define COURSE(stopped) "{\"arm\": " ARM("w") ", \"stopped\": [" stopped "]}"

START_TEST(bad_courses_are_refused) {
#define OTHER(rest) ", " EXPERIMENT("o", rest)
#define ASK(more, course) TRIALS("1", more, course)
    static const char *const bad[][2] = {
        {ASK("", ""), "by_step: has 0 elements"},
        {ASK("", "3"), "by_step[0]"},
        {ASK("", "{}"), "by_step[0].arm"},
        {ASK("", "{\"arm\": " ARM("w") ", \"stopped\": 1}"), "by_step[0].stopped"},
        {ASK("", "{\"arm\": " ARM("w") ", \"halted\": []}"), "halted: is unknown"},
        {ASK("", "{\"arm\": " ARM("w") ", \"task\": \"count\"}"),
         "the preset has no run of experiment w, encoding rope, task count"},
        {ASK("", COURSE(ARM("x"))),
         "stopped[0]: the preset has no run of experiment x, encoding rope, task distance"},
        {ASK(OTHER(""), COURSE(ARM("h") ", " ARM("o"))),
         "stopped[1]: heads of experiment o are not ablated by output"},
        {ASK(OTHER(", \"config\": {\"model\": {\"dropout\": 0.5}}" ABLATED), COURSE(ARM("o"))),
         "stopped[0]: is not the arm stopped early: model.dropout differs"},
        {ASK(OTHER(", \"seeds\": [1, 7]" ABLATED), COURSE(ARM("o"))),
         "stopped[0]: has the seed 7, and the arm that is not stopped lacks it"},
        {ASK(OTHER(", \"config\": {\"intervention\": {\"kind\": \"rotation\"}}, \"head\": "
                   "{\"of\": "
                   "\"w\", \"encoding\": \"rope\", \"layer\": 0, \"which\": "
                   "\"winner\"}" ABLATED) ", " EXPERIMENT("p", ", \"config\": {\"intervention\": "
                                                               "{\"kind\": \"rotation\"}}, "
                                                               "\"head\": {\"of\": \"w\", "
                                                               "\"encoding\": \"rope\", "
                                                               "\"layer\": 0, \"which\": "
                                                               "\"other\"}" ABLATED),
             "{\"arm\": " ARM("o") ", \"stopped\": [" ARM("p") "]}"),
         "stopped[0]: is not the arm stopped early: head differs"},
    };
    presets_are_refused(sizeof bad / sizeof *bad, bad);
}
END_TEST

static const char one[] = TRIALS("1", "", COURSE(ARM("h")));

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

TEST_FILE("by_step") {
    test_add(suite, "bad presets", bad_courses_are_refused);
    test_add(suite, "failed allocations", failed_allocations_are_survived);
}
