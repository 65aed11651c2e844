/* What `spectrum` and `symbol` share: SPECs from the command line, and the help on their keys. */
#ifndef SZG_ANALYSIS_SPECS_H
#define SZG_ANALYSIS_SPECS_H

#include <stdio.h>
#include <szego/encoding.h>

#include "command.h"

/* The encodings and content kinds with their keys, types, ranges and defaults. */
void specs_describe(FILE *stream);

/* Appends the encoding of `file:path=PATH`, as --coefficients means it; `keep` owns the text. */
void specs_add_file(struct argp_state *state, const char *path, text_list *specs, text_list *keep);
void specs_free(text_list *specs, text_list *keep);

/* Calls `visit` for every head of every encoding and every order, in that order, with progress. */
typedef szg_status specs_visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head);
SZG_CHECK_RESULT szg_status specs_run(szg_context *context, const text_list *specs,
                                      const integer_list *orders, specs_visit *visit, void *user);

/* True where -o names a folder: not a file by its ending. */
bool specs_output_folder(const command_call *call);

#endif
