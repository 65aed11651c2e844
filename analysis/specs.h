/* What `spectrum`, `symbol` and `logits` share: SPECs from the command line, and the help on their
 * keys. */
#ifndef SZG_ANALYSIS_SPECS_H
#define SZG_ANALYSIS_SPECS_H

#include <stdio.h>
#include "encoding/encoding.h"

#include "command.h"

/* The encodings and content kinds with their keys, types, ranges and defaults. */
void specs_describe(FILE *stream);

/* Keys of the options that both take; a command's own start at SPECS_KEY_OWN. */
enum { SPECS_KEY_PE = 0x100, SPECS_KEY_COEFFICIENTS, SPECS_KEY_OWN };

typedef struct specs_options {
    text_list specs;
    text_list keep; /* owns the texts that --coefficients made */
    integer_list orders;
} specs_options;

/* Handles --pe, --coefficients and -n, and at the end checks and completes them; ARGP_ERR_UNKNOWN
 * for any other key. */
error_t specs_parse(specs_options *options, int key, const char *argument,
                    struct argp_state *state);
void specs_free(specs_options *options);

/* Calls `visit` for every head of every encoding and every order, in that order, with progress. */
typedef szg_status specs_visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head);
SZG_CHECK_RESULT szg_status specs_run(szg_context *context, const specs_options *options,
                                      specs_visit *visit, void *user);

/* Index of `text` among 2 to 4 words; argp_error lists them. */
int specs_parse_word(struct argp_state *state, const char *option, const char *text,
                     const char *const *words, int count);

/* True where -o names a folder, by the rule of szg_result_write: tables that a single file has no
 * place for are then filled. */
bool specs_output_folder(const command_call *call);

#endif
