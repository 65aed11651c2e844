#include "section.h"

extern const section section_table1, section_curves, section_ablation, section_sweep,
    section_switches, section_contraction, section_spectrum, section_symbol, section_claims,
    section_toeplitzness, section_rotary, section_others;

const section *const section_table[] = {&section_table1,
                                        &section_curves,
                                        &section_ablation,
                                        &section_sweep,
                                        &section_switches,
                                        &section_claims,
                                        &section_spectrum,
                                        &section_symbol,
                                        &section_contraction,
                                        &section_toeplitzness,
                                        &section_rotary,
                                        &section_others,
                                        NULL};
