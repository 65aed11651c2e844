/* SPECs of rotary positions from the scaling objects of a configuration. */
#ifndef SZG_CHECKPOINT_ROTARY_SCALING_H
#define SZG_CHECKPOINT_ROTARY_SCALING_H

#include "checkpoint_private.h"

/* A SPEC under construction. */
typedef struct rotary_spec {
    char text[512];
    size_t length;
} rotary_spec;

void szgi_rotary_spec_number(rotary_spec *spec, const char *key, double value);
void szgi_rotary_spec_word(rotary_spec *spec, const char *key, const char *word);

/* The type's text; NULL where nothing scales. `flat` objects may hold nothing but the base. */
SZG_CHECK_RESULT szg_status szgi_rotary_scaling_name(szg_context *context, szgi_json_value scaling,
                                                     bool flat, const char **out);

/* Appends what the object says of the scaling; SZG_EDATA for a type that is not known. */
SZG_CHECK_RESULT szg_status szgi_rotary_scaling_add(szg_context *context,
                                                    const szg_checkpoint *checkpoint,
                                                    szgi_json_value scaling, bool flat,
                                                    rotary_spec *spec);

#endif
