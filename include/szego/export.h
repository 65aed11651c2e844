/* Results for other programs: NumPy archives, joined CSV, Jupyter notebooks. */
#ifndef SZEGO_EXPORT_H
#define SZEGO_EXPORT_H

#include <szego/collection.h>

SZG_BEGIN_DECLS

/* Each writes atomically every table of the collection, joined. docs/reference/exports.md describes
 * the files.
 */

/* FILE.npz for numpy.load: a zip archive (deflate, 64-bit sizes where needed), for each table one
 * structured array COMMAND_TABLE, and `manifest`, a JSON text with provenance and columns.
 * SZG_EDATA: a cell that the array cannot hold exactly. SZG_EIO, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_export_npz(szg_context *context, const szg_collection *collection,
                                           const char *path);

/* FOLDER/COMMAND_TABLE.csv and a manifest.json that explains every column: a result of its own. */
SZG_CHECK_RESULT szg_status szg_export_csv(szg_context *context, const szg_collection *collection,
                                           const char *folder);

/* FILE.ipynb (nbformat 4.5), with prose, loading cells and plots for what is there, not executed,
 * and beside it FILE.npz, which it loads. It needs numpy and matplotlib. */
SZG_CHECK_RESULT szg_status szg_export_notebook(szg_context *context,
                                                const szg_collection *collection, const char *path);

SZG_END_DECLS

#endif
