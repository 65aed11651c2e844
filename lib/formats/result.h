/* What the house alone uses of <szego/result.h>. */
#ifndef SZEGO_FORMATS_RESULT_H
#define SZEGO_FORMATS_RESULT_H

#include <szego/result.h>
#include "formats/json.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The provenance object, to add to with szgi_json_add_*: backend, threads, seed, arguments. It
 * belongs to the result. */
szgi_json *szgi_result_provenance(const szg_result *result);

/* Takes a table out of the result: the caller closes it. NULL: no table has that name. */
szg_table *szgi_result_take(szg_result *result, const char *name);

/* What szg_result_write makes of a path, whose ending counts in any letter case. */
typedef enum szgi_result_form {
    SZGI_RESULT_UNKNOWN, /* another ending: refused */
    SZGI_RESULT_FOLDER,  /* it ends in a slash, or is an existing folder, whatever its ending */
    SZGI_RESULT_JSON,
    SZGI_RESULT_CSV,
    SZGI_RESULT_NPY,
    SZGI_RESULT_FORMS
} szgi_result_form;
szgi_result_form szgi_result_form_of(const char *path);

/* Whether a result can be written there, before it is computed: SZG_EINVAL if the path has another
 * ending, SZG_EIO if no file can be made. Nothing stays. */
SZG_CHECK_RESULT szg_status szgi_result_check_path(szg_context *context, const char *path);

/* As szg_result_write into a folder that is there and that the caller has locked
 * (szgi_folder_lock), for files of its own beside the tables. */
SZG_CHECK_RESULT szg_status szgi_result_write_locked(szg_context *context, const szg_result *result,
                                                     const char *folder);

SZGI_END_DECLS

#endif
