/* Where positions come from: a learned table, sinusoids, or nothing that is added to the input. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "encoding/encoding.h"
#include "checkpoint_private.h"

static const szgi_tensor *find_table(const szg_checkpoint *checkpoint, const char *suffix) {
    /* The tensor lies beside the stack, or outside its prefix ("encoder." of an encoder's
     * layers). */
    char name[512];
    int written = snprintf(name, sizeof name, "%s%s", checkpoint->prefix, suffix);
    const szgi_tensor *own = written > 0 && (size_t)written < sizeof name
                                 ? szgi_safetensors_find(checkpoint->tensors, name)
                                 : NULL;
    if (own)
        return own;
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    size_t length = strlen(suffix);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        if (!szgi_text_ends(tensor->name, suffix))
            continue;
        size_t all = strlen(tensor->name);
        if (all == length || tensor->name[all - length - 1] == '.')
            return tensor;
    }
    return NULL;
}

static bool has_distance_tables(const szg_checkpoint *checkpoint) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++)
        if (strstr(szgi_safetensors_tensor(checkpoint->tensors, i)->name, "distance_embedding"))
            return true;
    return false;
}

/* BERT's kinds: absolute positions are added to the input, relative_key ones are not. */
static szg_status check_kind(szg_context *context, const szg_checkpoint *checkpoint,
                             bool *absolute) {
    szgi_json_value value = szgi_json_member(checkpoint->settings, "position_embedding_type");
    *absolute = true;
    if (!szgi_json_has(checkpoint->settings, "position_embedding_type")) {
        if (has_distance_tables(checkpoint))
            return szgi_json_fail(context, value,
                                  "missing, and there are distance_embedding tensors: absolute, "
                                  "relative_key or relative_key_query?");
        return SZG_OK; /* without such tensors only absolute positions can be */
    }
    const char *kind;
    SZG_TRY(szgi_json_as_text(context, value, &kind));
    if (strcmp(kind, "absolute") == 0)
        return SZG_OK;
    *absolute = false;
    if (strcmp(kind, "relative_key") == 0 || strcmp(kind, "relative_key_query") == 0)
        return SZG_OK;
    return szgi_json_fail(context, value,
                          "'%s' is not one of absolute, relative_key, relative_key_query", kind);
}

/* A matrix, or one with a batch of 1 in front (ViT). */
static bool table_sizes(const szgi_tensor *table, int64_t *rows, int64_t *columns) {
    *rows = *columns = 0;
    if (table->dims != 2 && (table->dims != 3 || table->shape[0] != 1))
        return false;
    *rows = table->shape[table->dims - 2];
    *columns = table->shape[table->dims - 1];
    return true;
}

/* ELECTRA and ALBERT add positions to embeddings that a matrix brings to the model's size. */
static szg_status note_projection(szg_context *context, szg_checkpoint *checkpoint,
                                  int64_t columns) {
    static const char *const keys[] = {"embedding_size", "input_embedding_size", NULL};
    int64_t size;
    if (!szgi_json_has(checkpoint->settings, keys[0]) &&
        !szgi_json_has(checkpoint->settings, keys[1]))
        return SZG_OK;
    SZG_TRY(szgi_config_integer(context, checkpoint->settings, keys, 1, &size));
    if (size == checkpoint->model_size || size != columns)
        return SZG_OK;
    checkpoint->position_kind = SZG_POSITIONS_NONE;
    return szgi_text_append(context, &checkpoint->position_note,
                            "positions are added to embeddings of size %" PRId64
                            " before a projection: there is no position-position term",
                            size);
}

static szg_status use_table(szg_context *context, szg_checkpoint *checkpoint, const char *suffix,
                            int64_t first) {
    const szgi_tensor *table = find_table(checkpoint, suffix);
    checkpoint->position_kind = SZG_POSITIONS_LEARNED;
    if (!table)
        return szgi_text_append(context, &checkpoint->position_problem, "no tensor is called *%s",
                                suffix);
    char shape[64];
    int64_t rows, columns;
    bool matrix = table_sizes(table, &rows, &columns);
    SZG_TRY(note_projection(context, checkpoint, columns));
    if (checkpoint->position_note)
        return SZG_OK;
    if (!matrix || columns != checkpoint->model_size || rows <= first)
        return szgi_text_append(context, &checkpoint->position_problem,
                                "tensor %s has shape %s: more than %" PRId64
                                " rows of model size %" PRId64 " are needed",
                                table->name, szgi_tensor_shape_text(table, shape, sizeof shape),
                                first, checkpoint->model_size);
    if (table->dtype == SZGI_DTYPE_INTEGER || table->dtype == SZGI_DTYPE_OTHER)
        return szgi_text_append(context, &checkpoint->position_problem,
                                "tensor %s has type %s where a weight belongs", table->name,
                                table->dtype_name);
    checkpoint->position_table = table;
    checkpoint->position_first = first;
    checkpoint->position_rows = rows - first;
    return SZG_OK;
}

static szg_status use_sinusoids(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const keys[] = {"max_position_embeddings", "n_positions", NULL};
    if (checkpoint->model_size % 2 != 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: sinusoidal positions need an even model size, not %" PRId64,
                         checkpoint->source, checkpoint->model_size);
    checkpoint->position_kind = SZG_POSITIONS_SINUSOIDAL;
    return szgi_config_integer(context, checkpoint->settings, keys, 1, &checkpoint->position_rows);
}

/* All sines, then all cosines, of frequencies 10000^(-j / steps): the family's table, if the file
 * has it (Pegasus). */
static szg_status use_halves(szg_context *context, szg_checkpoint *checkpoint, int64_t steps,
                             int64_t first) {
    const char *table = checkpoint->family->table;
    if (table && find_table(checkpoint, table))
        return use_table(context, checkpoint, table, first);
    if (steps < 1)
        return szgi_fail(context, SZG_EDATA,
                         "%s: sinusoidal positions of model size %" PRId64 " have no two halves",
                         checkpoint->source, checkpoint->model_size);
    SZG_TRY(use_sinusoids(context, checkpoint));
    checkpoint->position_steps = steps;
    checkpoint->position_first = first;
    return SZG_OK;
}

static szg_status read_padding(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t *padding) {
    static const char *const padding_keys[] = {"pad_token_id", NULL};
    SZG_TRY(szgi_config_integer(context, checkpoint->settings, padding_keys, 0, padding));
    if (*padding <= 1 << 20)
        return SZG_OK;
    return szgi_json_fail(context, szgi_json_member(checkpoint->settings, padding_keys[0]),
                          "is %" PRId64 ", which is no row of a position table", *padding);
}

/* Row 0 of the table is that of padding, or further ones are. */
static szg_status use_padded(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t padding;
    SZG_TRY(read_padding(context, checkpoint, &padding));
    return use_table(context, checkpoint, checkpoint->family->table, padding + 1);
}

/* ESM adds a table, or rotates. */
static szg_status use_table_or_rotate(szg_context *context, szg_checkpoint *checkpoint) {
    static const char key[] = "position_embedding_type";
    const char *kind = "absolute";
    if (szgi_json_has(checkpoint->settings, key))
        SZG_TRY(szgi_json_as_text(context, szgi_json_member(checkpoint->settings, key), &kind));
    if (strcmp(kind, "rotary") == 0)
        return SZG_OK;
    if (strcmp(kind, "absolute") == 0)
        return use_padded(context, checkpoint);
    return szgi_json_fail(context, szgi_json_member(checkpoint->settings, key),
                          "'%s' is not one of absolute, rotary", kind);
}

szg_status szgi_positions_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    int64_t padding;
    bool choice;
    switch (family->positions) {
    case POSITION_OPTIONAL:
        return find_table(checkpoint, family->table)
                   ? use_table(context, checkpoint, family->table, family->table_first)
                   : SZG_OK;
    case POSITION_MARIAN:
        return use_halves(context, checkpoint, checkpoint->model_size / 2, 0);
    case POSITION_FAIRSEQ:
        padding = family->table_first - 1;
        if (family->table_first == 0)
            SZG_TRY(read_padding(context, checkpoint, &padding));
        return use_halves(context, checkpoint, checkpoint->model_size / 2 - 1, padding + 1);
    case POSITION_TABLE:
        return use_table(context, checkpoint, family->table, family->table_first);
    case POSITION_BIASED:
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, "position_biased_input", true,
                                 &choice));
        return choice ? use_table(context, checkpoint, family->table, 0) : SZG_OK;
    case POSITION_DISTILBERT:
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, "sinusoidal_pos_embds", false,
                                 &choice));
        if (choice && !find_table(checkpoint, family->table))
            return use_sinusoids(context, checkpoint);
        return use_table(context, checkpoint, family->table, 0);
    case POSITION_BERT:
    case POSITION_ROBERTA:
        SZG_TRY(check_kind(context, checkpoint, &choice));
        if (!choice)
            return SZG_OK;
        return family->positions == POSITION_ROBERTA
                   ? use_padded(context, checkpoint)
                   : use_table(context, checkpoint, family->table, 0);
    case POSITION_ROTARY:
        return family->skips == SKIP_TABLE ? use_table_or_rotate(context, checkpoint) : SZG_OK;
    default:
        return SZG_OK;
    }
}

static void compute_halves(const szg_checkpoint *checkpoint, int64_t n, double *p) {
    int64_t d = checkpoint->model_size, half = d / 2;
    for (int64_t j = 0; j < half; j++) {
        double frequency = pow(10000, -(double)j / (double)checkpoint->position_steps);
        for (int64_t i = 0; i < n; i++) {
            double angle = (double)(checkpoint->position_first + i) * frequency;
            p[i * d + j] = sin(angle);
            p[i * d + half + j] = cos(angle);
        }
    }
}

static szg_status compute_sinusoids(szg_context *context, const szg_checkpoint *checkpoint,
                                    int64_t n, double *p) {
    if (checkpoint->position_steps > 0) {
        compute_halves(checkpoint, n, p);
        return SZG_OK;
    }
    const szgi_key_value dim = {
        .key = "dim", .type = SZGI_KEY_INTEGER, .integer = checkpoint->model_size};
    szg_encoding *encoding;
    SZG_TRY(szgi_encoding_open(context, "absolute", &dim, 1, &encoding));
    szg_status status = szgi_encoding_input(context, encoding, n, p, checkpoint->model_size);
    szg_encoding_close(&encoding);
    return status;
}

szg_status szgi_checkpoint_positions(szg_context *context, const szg_checkpoint *checkpoint,
                                     int64_t n, double *p) {
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " positions: at least 1 is needed", n);
    if (checkpoint->position_problem)
        return szgi_fail(context, SZG_EDATA, "%s: %s", checkpoint->source,
                         checkpoint->position_problem);
    if (n > checkpoint->position_rows)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: %" PRId64 " positions asked for, the checkpoint has %" PRId64,
                         checkpoint->source, n, checkpoint->position_rows);
    if (checkpoint->position_kind == SZG_POSITIONS_SINUSOIDAL)
        return compute_sinusoids(context, checkpoint, n, p);
    const szgi_tensor *table = checkpoint->position_table;
    SZG_TRY(szgi_tensor_check(context, table));
    int64_t d = checkpoint->model_size;
    return szgi_tensor_read(context, table, checkpoint->position_first * d, n * d, p);
}
