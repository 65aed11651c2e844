/* Files that hold a part of a checkpoint: szego.hub writes them (in Python), so that queries and
 * keys can be read without the rest. The text under szego.left_out in __metadata__ is a JSON object
 * with the entry that each tensor which was left out has in the header of its own file. */
#include <string.h>

#include "base/memory.h"
#include "safetensors_private.h"

static szg_status read_entries(szg_context *context, szgi_safetensors *set) {
    szgi_shard *shard = &set->shard[set->shards - 1];
    szgi_json_value root = szgi_json_root(shard->left_out);
    int64_t sizes = 0;
    SZG_TRY(szgi_json_as_object(context, root));
    for (szgi_json_value entry = {0}; szgi_json_next(root, &entry);)
        sizes += szgi_json_count(szgi_json_member(entry, "shape"));
    SZG_TRY(szgi_memory_alloc(context, sizes, &shard->left_out_shapes));
    SZG_TRY(
        szgi_memory_grow(context, &set->tensor, set->count, set->count + szgi_json_count(root)));
    int64_t *shape = shard->left_out_shapes;
    for (szgi_json_value entry = {0}; szgi_json_next(root, &entry); set->count++) {
        szgi_tensor *tensor = &set->tensor[set->count];
        tensor->file = shard->file;
        SZG_TRY(szgi_shard_read_left(context, entry, shape, tensor));
        shape += tensor->dims;
    }
    return SZG_OK;
}

szg_status szgi_shard_read_left_out(szg_context *context, szgi_safetensors *set) {
    szgi_shard *shard = &set->shard[set->shards - 1];
    szgi_json_value metadata = szgi_json_member(szgi_json_root(shard->header), "__metadata__");
    const char *text;
    if (!szgi_json_has(metadata, SZGI_LEFT_OUT_KEY))
        return SZG_OK;
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(metadata, SZGI_LEFT_OUT_KEY), &text));
    SZG_TRY(szgi_json_parse(context, shard->file, text, (int64_t)strlen(text), &shard->left_out));
    return read_entries(context, set);
}

int64_t szgi_safetensors_left_out(const szgi_safetensors *set) {
    int64_t count = 0;
    for (int64_t i = 0; i < set->count; i++)
        count += set->tensor[i].left_out;
    return count;
}
