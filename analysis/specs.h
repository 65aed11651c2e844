/* What `spectrum`, `symbol` and `logits` share: SPECs from the command line. */
#ifndef SZG_ANALYSIS_SPECS_H
#define SZG_ANALYSIS_SPECS_H

#include <stdio.h>
#include "encoding/encoding.h"

#include "command.h"

typedef struct specs_options {
    text_list specs;
    text_list keep; /* owns the texts that --coefficients made */
    integer_list orders;
} specs_options;

/* Rows of the options and operands, for a struct of options with the member `specs_options common`.
 */
#define SPECS_OPTIONS(type, orders_doc)                                                            \
    OPTION(type, common.specs, "pe", "SPEC",                                                       \
           "a positional encoding, as the operand SPEC; may be given several times",               \
           .list = &words_encodings),                                                              \
        OPTION_BY(specs_take_file, type, common.specs, "coefficients", "FILE",                     \
                  "Toeplitz coefficients, one row per head: short for file:path=FILE"),            \
        OPTION(type, common.orders, NULL, "N[,N...]", orders_doc, .letter = 'n', .least = 1,       \
               .most = SPECS_ORDER_MOST, .fallback = "512"),                                       \
        OPTION(type, common.specs, NULL, "SPEC...", NULL, .list = &words_encodings,                \
               .hook = specs_refuse_file,                                                          \
               .missing = "SPEC is missing: an encoding such as rope:dim=64 (`szego help specs` "  \
                          "lists them), or --coefficients FILE")
option_hook specs_take_file, specs_refuse_file;

/* The largest order of any solver: 2 N still is an integer of 64 bits. */
#define SPECS_ORDER_MOST ((int64_t)1 << 62)

/* Whether `text` begins with an encoding's name, as a SPEC does. */
bool specs_names_encoding(const char *text);

/* What --coefficients made. */
void specs_free(specs_options *options);

/* Calls `visit` for every head of every encoding and every order, in that order, with progress. */
typedef szg_status specs_visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head);
SZG_CHECK_RESULT szg_status specs_run(szg_context *context, const specs_options *options,
                                      specs_visit *visit, void *user);

/* True where -o names a folder, by the rule of szg_result_write: tables that a single file
 * cannot hold are then filled. */
bool specs_output_folder(const command_call *call);

#endif
