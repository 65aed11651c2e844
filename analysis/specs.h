/* What `spectrum`, `symbol` and `logits` share: SPECs from the command line. */
#ifndef SZG_ANALYSIS_SPECS_H
#define SZG_ANALYSIS_SPECS_H

#include <stdio.h>
#include "encoding/encoding.h"

#include "command.h"

/* Keys of the options that both take; a command's own start at SPECS_KEY_OWN. */
enum { SPECS_KEY_PE = 0x100, SPECS_KEY_COEFFICIENTS, SPECS_KEY_OWN };

typedef struct specs_options {
    text_list specs;
    text_list keep; /* owns the texts that --coefficients made */
    integer_list orders;
} specs_options;

/* Handles operands, --pe, --coefficients and -n, and at the end checks and completes them;
 * ARGP_ERR_UNKNOWN for any other key. */
error_t specs_parse(specs_options *options, int key, const char *argument,
                    struct argp_state *state);
/* Whether `text` begins with an encoding's name, as a SPEC does. */
bool specs_names_encoding(const char *text);

void specs_free(specs_options *options);

/* Calls `visit` for every head of every encoding and every order, in that order, with progress. */
typedef szg_status specs_visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head);
SZG_CHECK_RESULT szg_status specs_run(szg_context *context, const specs_options *options,
                                      specs_visit *visit, void *user);

/* True where -o names a folder, by the rule of szg_result_write: tables that a single file
 * cannot hold are then filled. */
bool specs_output_folder(const command_call *call);

#endif
