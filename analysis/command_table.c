#include "command.h"

extern const command command_ablate;
extern const command command_bench;
extern const command command_capture;
extern const command command_checkpoint;
extern const command command_completion;
extern const command command_export;
extern const command command_info;
extern const command command_logits;
extern const command command_predict;
extern const command command_report;
extern const command command_reproduce;
extern const command command_spectrum;
extern const command command_symbol;
extern const command command_train;
extern const command command_verify;

const command *const command_table[] = {
    &command_spectrum, &command_symbol,    &command_verify,     &command_checkpoint,
    &command_logits,   &command_train,     &command_predict,    &command_ablate,
    &command_capture,  &command_reproduce, &command_report,     &command_export,
    &command_bench,    &command_info,      &command_completion, NULL,
};
