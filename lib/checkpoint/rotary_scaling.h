/* Values of rotary positions from the scaling objects of a configuration. */
#ifndef SZG_CHECKPOINT_ROTARY_SCALING_H
#define SZG_CHECKPOINT_ROTARY_SCALING_H

#include "checkpoint_private.h"
#include "encoding/encoding.h"

/* Values of the keys of `rope`. */
typedef struct rotary_values {
    szgi_key_value value[16]; /* four, and what a scaling adds: at most six */
    int64_t count;
} rotary_values;

void szgi_rotary_values_integer(rotary_values *values, const char *key, int64_t number);
void szgi_rotary_values_real(rotary_values *values, const char *key, double number);
void szgi_rotary_values_word(rotary_values *values, const char *key, const char *word);

/* Positions for which the frequencies are those of these values ("dynamic"); 0: for all. */
int64_t szgi_rotary_values_length(const rotary_values *values);

/* The type's text; NULL where nothing scales. `flat` objects may hold nothing but the base. */
SZG_CHECK_RESULT szg_status szgi_rotary_scaling_name(szg_context *context, szgi_json_value scaling,
                                                     bool flat, const char **out);

/* SZG_EDATA: several keys are missing that a scaling of this name (NULL: none) needs, or one has
 * two meanings. */
SZG_CHECK_RESULT szg_status szgi_rotary_check(szg_context *context, szgi_json_value scaling,
                                              const char *name);

/* Notes keys of the object that no scaling reads: they may change frequencies. */
SZG_CHECK_RESULT szg_status szgi_rotary_note_unknown(szg_context *context,
                                                     const szg_checkpoint *checkpoint,
                                                     szgi_json_value scaling, layer_rotation *out);

/* Frequencies and amplitude where the object of that type (NULL: none) asks for some that no
 * scaling of `rope` has: out->theta stays NULL where one has. `rotary`: dimensions that rotate. */
SZG_CHECK_RESULT szg_status szgi_rotary_replace(szg_context *context,
                                                const szg_checkpoint *checkpoint,
                                                szgi_json_value scaling, const char *name,
                                                double base, int64_t rotary, layer_rotation *out);

/* Appends what the object says of the scaling; SZG_EDATA for a type that is not known. */
SZG_CHECK_RESULT szg_status szgi_rotary_scaling_add(szg_context *context,
                                                    const szg_checkpoint *checkpoint,
                                                    szgi_json_value scaling, bool flat,
                                                    rotary_values *values);

#endif
