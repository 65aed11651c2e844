/* The tables of an analysis as a list: what is done with each of them. */
#include <stddef.h>
#include <string.h>

#include "checkpoint.h"
#include "base/table.h"

_Static_assert(SZGI_CHECKPOINT_TABLES == offsetof(szg_checkpoint_tables, bad) / sizeof(szg_table *),
               "a table is missing in the list");

void szgi_checkpoint_tables_list(szg_checkpoint_tables *tables,
                                 szg_table **out[SZGI_CHECKPOINT_TABLES]) {
    szg_table **const list[SZGI_CHECKPOINT_TABLES] = {
        &tables->summary,  &tables->notes,        &tables->spectra,  &tables->frequencies,
        &tables->kernel,   &tables->range,        &tables->samples,  &tables->tensors,
        &tables->bounds,   &tables->architecture, &tables->top,      &tables->circuits,
        &tables->heads,    &tables->layers,       &tables->profiles, &tables->profile_values,
        &tables->mixtures, &tables->decays};
    memcpy(out, list, sizeof list);
}

szg_status szgi_checkpoint_tables_join(szg_context *context, szg_checkpoint_tables *to,
                                       szg_checkpoint_tables *from) {
    szg_table **all[SZGI_CHECKPOINT_TABLES], **more[SZGI_CHECKPOINT_TABLES];
    szgi_checkpoint_tables_list(to, all);
    szgi_checkpoint_tables_list(from, more);
    to->bad += from->bad;
    to->unconverged += from->unconverged;
    for (int i = 0; i < SZGI_CHECKPOINT_TABLES; i++)
        if (!*all[i]) {
            *all[i] = *more[i];
            *more[i] = NULL;
        } else if (*more[i]) {
            SZG_TRY(szgi_table_append(context, *all[i], *more[i]));
        }
    return SZG_OK;
}

void szg_checkpoint_tables_close(szg_checkpoint_tables *tables) {
    szg_table **table[SZGI_CHECKPOINT_TABLES];
    szgi_checkpoint_tables_list(tables, table);
    for (int i = 0; i < SZGI_CHECKPOINT_TABLES; i++)
        szg_table_close(table[i]);
    *tables = (szg_checkpoint_tables){0};
}
