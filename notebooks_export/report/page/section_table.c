#include "section.h"

extern const section szgi_section_kernel, szgi_section_table1, szgi_section_curves,
    szgi_section_ablation, szgi_section_sweep, szgi_section_switches, szgi_section_contraction,
    szgi_section_spectrum, szgi_section_symbol, szgi_section_claims, szgi_section_toeplitzness,
    szgi_section_rotary, szgi_section_ranges, szgi_section_softmax, szgi_section_diff,
    szgi_section_others, szgi_section_circuits, szgi_section_extremes, szgi_section_density,
    szgi_section_mechanism, szgi_section_by_step, szgi_section_relations, szgi_section_lengths;

/* Ranges; encodings, what is proved of them, a trained checkpoint, logits, training; then what is
 * left. */
const section *const szgi_section_table[] = {
    &szgi_section_ranges,       &szgi_section_spectrum, &szgi_section_extremes,
    &szgi_section_density,      &szgi_section_symbol,   &szgi_section_claims,
    &szgi_section_toeplitzness, &szgi_section_circuits, &szgi_section_rotary,
    &szgi_section_kernel,       &szgi_section_diff,     &szgi_section_contraction,
    &szgi_section_softmax,      &szgi_section_table1,   &szgi_section_curves,
    &szgi_section_ablation,     &szgi_section_sweep,    &szgi_section_switches,
    &szgi_section_mechanism,    &szgi_section_by_step,  &szgi_section_relations,
    &szgi_section_lengths,      &szgi_section_others,   NULL};
