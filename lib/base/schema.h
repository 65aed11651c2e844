/* The schema of a table: the one description of its columns, and what of them a screen shows.
 * Files, screens, manifests, figures, tables.json and the Python package take all they say of a
 * column from here. */
#ifndef SZEGO_BASE_SCHEMA_H
#define SZEGO_BASE_SCHEMA_H

#include "base/table.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

typedef struct szgi_column {
    const char *name; /* as scripts see it: lower case, underscores */
    szg_type type;
    const char *unit;  /* of numbers, "1" for pure ones; "" of texts */
    const char *label; /* what a figure's axis calls it, without the unit */
    const char *doc;   /* one clause */
    szgi_end end;      /* of an enclosure, which the column is */
} szgi_column;

typedef enum szgi_cell_kind {
    SZGI_CELL_VALUE, /* the column `name` */
    SZGI_CELL_WORD,  /* the same, coloured by the word in it */
    SZGI_CELL_PROSE, /* the same, continued on further lines if it is longer than its place */
    SZGI_CELL_RANGE, /* "[lo, hi]" of the columns `lower` and `upper`, rounded outwards */
    SZGI_CELL_KINDS
} szgi_cell_kind;

enum {
    SZGI_SHOWN_FIRST = 1, /* priority of cells for which others give way */
    SZGI_SHOWN_ASKED = 9  /* of cells that are shown only if they are asked for */
};

/* What a row of a table shows on a screen at one place. Cells have the order of the schema's list.
 * A table whose column `note` is in the list is one of notes: it is printed where notes are asked
 * for, and it has some. */
typedef struct szgi_cell {
    const char *name;
    szgi_cell_kind kind;
    int priority;              /* 1 fits first; of equal ones the earlier */
    const char *heading;       /* ASCII */
    const char *symbols;       /* the heading in Unicode; NULL: the same */
    const char *lower, *upper; /* of a range */
    const char *where, *is; /* shown in rows whose column `where` says `is` alone; NULL: in all */
    const char *empty;      /* what an empty cell stands for, "all" say; NULL: it stays empty */
} szgi_cell;

/* Several schemas may have one table's name: different commands write them. */
typedef struct szgi_schema {
    const char *table;
    const szgi_column *column;
    int64_t columns;
    const szgi_cell *cell; /* none: a screen shows the columns from the first on */
    int64_t cells;
} szgi_schema;

/* ---- Writing one ---- */

/* A list of columns is X(INDEX, "name", SZG_TYPE, "unit", "label", "doc") each, with
 * SZGI_END_LOWER or SZGI_END_UPPER behind the doc where the column is an end. A column without a
 * label, or a number without a unit, is not compiled. SZGI_SCHEMA makes of it the
 * enumerators INDEX, 0 and up, the array `name`, which cannot differ from them, and `name`_schema,
 * which is among szgi_schemas wherever it is linked. SCREEN is a list of the cells below, or
 * SZGI_NOT_SHOWN. */
#define SZGI_COLUMN_INDEX(index, ...) index,
#define SZGI_COLUMN(index, name_, type_, unit_, label_, ...)                                       \
    {.name = name_, .type = type_, .unit = unit_, .label = label_, .doc = __VA_ARGS__},
#define SZGI_COLUMN_CHECK(index, name_, type_, unit_, label_, ...)                                 \
    _Static_assert(sizeof(label_) > 1, "a column has no label");                                   \
    _Static_assert((type_ == SZG_TEXT) == (sizeof(unit_) == 1), "numbers have units, texts none");

#define SZGI_SCHEMA(name, table, LIST, ...)                                                        \
    enum { LIST(SZGI_COLUMN_INDEX) name##_count };                                                 \
    SZGI_SCHEMA_AT(name, table, LIST, __VA_ARGS__)
/* The same of a list whose enumerators stand elsewhere. */
#define SZGI_SCHEMA_AT(name, table, LIST, ...)                                                     \
    LIST(SZGI_COLUMN_CHECK)                                                                        \
    static const szgi_column name[] = {LIST(SZGI_COLUMN)};                                         \
    SZGI_SCHEMA_OF(name, name, table, __VA_ARGS__)
/* Another table of columns that there are. */
#define SZGI_SCHEMA_OF(name, columns_, table_, ...)                                                \
    static const szgi_cell name##_cells[] = {__VA_ARGS__{0}};                                      \
    static const szgi_schema name##_schema = {.table = table_,                                     \
                                              .column = columns_,                                  \
                                              .columns = sizeof columns_ / sizeof *columns_,       \
                                              .cell = name##_cells,                                \
                                              .cells =                                             \
                                                  sizeof name##_cells / sizeof *name##_cells - 1}; \
    static const szgi_schema *const name##_entry                                                   \
        __attribute__((section("szgi_schema_list"), used)) = &name##_schema

#define SZGI_NOT_SHOWN
#define SZGI_SHOW(priority, column) SZGI_SHOW_AS(priority, column, #column, NULL)
#define SZGI_SHOW_AS(priority, column, heading, symbols)                                           \
    {#column, SZGI_CELL_VALUE, priority, heading, symbols, NULL, NULL, NULL, NULL, NULL},
#define SZGI_SHOW_EMPTY(priority, column, stands_for)                                              \
    {#column, SZGI_CELL_VALUE, priority, #column, NULL, NULL, NULL, NULL, NULL, stands_for},
#define SZGI_SHOW_WORD(priority, column)                                                           \
    {#column, SZGI_CELL_WORD, priority, #column, NULL, NULL, NULL, NULL, NULL, NULL},
#define SZGI_SHOW_PROSE(priority, column)                                                          \
    {#column, SZGI_CELL_PROSE, priority, #column, NULL, NULL, NULL, NULL, NULL, NULL},
#define SZGI_SHOW_RANGE(priority, name, lower, upper)                                              \
    {#name, SZGI_CELL_RANGE, priority, #name, NULL, #lower, #upper, NULL, NULL, NULL},
/* The same in rows whose column `where` is `is`: a bound of singular values does not bound
 * eigenvalues. */
#define SZGI_SHOW_BOUND(priority, name, heading, symbols, lower, upper, where, is)                 \
    {#name, SZGI_CELL_RANGE, priority, heading, symbols, #lower, #upper, #where, #is, NULL},

/* ---- Using it ---- */

/* An empty table of these columns, their ends marked. SZG_EINVAL, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_schema_open(szg_context *context, const szgi_schema *schema,
                                             szg_table **out);
SZG_CHECK_RESULT szg_status szgi_columns_open(szg_context *context, const char *table,
                                              const szgi_column *columns, int64_t count,
                                              szg_table **out);
/* What a table itself keeps of a column; of several, free with szgi_memory_free. SZG_ENOMEM. */
szg_column szgi_column_core(const szgi_column *column);
SZG_CHECK_RESULT szg_status szgi_columns_core(szg_context *context, const szgi_column *columns,
                                              int64_t count, szg_column **out);

/* The schemas of everything that is linked; *count gets how many. */
const szgi_schema *const *szgi_schemas(int64_t *count);

/* Of the schemas with the table's name the one that has most of its columns; NULL: there is none.
 */
const szgi_schema *szgi_schema_of(const szg_table *table, const szgi_schema *const *schemas,
                                  int64_t count);

SZGI_END_DECLS

#endif
