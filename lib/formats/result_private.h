/* The inside of a result, shared by its writers. */
#ifndef SZG_FORMATS_RESULT_PRIVATE_H
#define SZG_FORMATS_RESULT_PRIVATE_H

#include <szego/file.h>
#include <szego/result.h>

struct szg_result {
    char *command;
    szg_json *provenance;
    szg_table **table;
    int64_t tables;
};

/* The table `name`, or the first where name is NULL. SZG_EINVAL names the tables there are. */
SZG_CHECK_RESULT szg_status szg_result_choose(szg_context *context, const szg_result *result,
                                              const char *name, const szg_table **out);

/* The result as one JSON object; write errors are left to the stream's error flag. */
SZG_CHECK_RESULT szg_status szg_result_emit_json(szg_context *context, const szg_result *result,
                                                 FILE *stream);

/* Every table for a reader's eyes. */
SZG_CHECK_RESULT szg_status szg_result_emit_text(szg_context *context, const szg_result *result,
                                                 const szg_print_options *options, FILE *stream);

#endif
