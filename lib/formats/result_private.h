/* The inside of a result, shared by its writers. */
#ifndef SZG_FORMATS_RESULT_PRIVATE_H
#define SZG_FORMATS_RESULT_PRIVATE_H

#include "base/file.h"
#include "formats/result.h"

struct szg_result {
    char *command;
    szgi_json *provenance;
    szg_table **table;
    int64_t tables;
};

/* The table `name`, or the first where name is NULL. SZG_EINVAL names the tables there are. */
SZG_CHECK_RESULT szg_status szgi_result_choose(szg_context *context, const szg_result *result,
                                               const char *name, const szg_table **out);

/* The result as one JSON object; write errors are left to the stream's error flag. */
SZG_CHECK_RESULT szg_status szgi_result_emit_json(szg_context *context, const szg_result *result,
                                                  FILE *stream);

/* What manifest.json says of its format. */
#define RESULT_FORMAT "szego-results-1"

/* Characters of a table's name: files are called after it, with an ending, within the 255 that file
 * systems have. */
enum { RESULT_NAME_LIMIT = 200, RESULT_COMMAND_LIMIT = 64 };

/* The command becomes a part of names: lower-case letters, digits and hyphens. SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szgi_result_check_command(szg_context *context, const char *command);

/* A table's name: SZG_EINVAL where szg_result_add refuses it. */
SZG_CHECK_RESULT szg_status szgi_result_check_name(szg_context *context, const szg_result *result,
                                                   const char *name);

/* FOLDER/NAME with its ending in *out (szgi_memory_free). */
SZG_CHECK_RESULT szg_status szgi_result_path(szg_context *context, const char *folder,
                                             const char *name, const char *ending, char **out);

/* Where the files of a folder come from, as szgi_contents_open_within has them: the disk, or a
 * fuzzer. */
typedef struct result_files {
    szg_status (*open)(szg_context *context, const char *path, int64_t most, const char *kind,
                       szgi_contents *out);
    void (*close)(szgi_contents *contents);
} result_files;

/* szg_result_read with files from elsewhere. */
SZG_CHECK_RESULT szg_status szgi_result_read_from(szg_context *context, const char *folder,
                                                  result_files files, szg_result **out);

#endif
