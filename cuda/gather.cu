/* A step's numbers and its batch, from what lies on the device. A batch of 512 x 128 tokens is 0.5
 * MB: the time that starting takes. */
#include "layers.cuh"

/* A warp a sequence. */
static __global__ void __launch_bounds__(THREADS) gather_sequences(szgi_gather g) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int64_t b = first_item() / WARP;
    if (b >= g.count)
        return;
    int64_t place = (g.block ? g.block->first : g.first) + b;
    int64_t example = g.order ? g.order[place] : place;
    int64_t begin = g.start[example], own = g.start[example + 1] - begin;
    for (int64_t i = lane; i < g.length; i += WARP)
        g.tokens[b * g.length + i] = i < own ? g.words[begin + i] : 0;
    if (lane > 0)
        return;
    g.lengths[b] = static_cast<int32_t>(own < g.length ? own : g.length);
    if (g.classes)
        g.labels[b] = g.classes[example];
}

szg_status gpu_gather(szg_context *context, const szgi_gather *gather) {
    session *self = session_of(context);
    return named(context,
                 launch(context, self->stream, gather_sequences, blocks_for(gather->count, WARPS),
                        THREADS, 0, *gather),
                 "gather %lld x %lld", (long long)gather->count, (long long)gather->length);
}

static __global__ void advance_block(const szgi_step_block *blocks, int64_t count,
                                     szgi_step_block *block, int64_t *at) {
    if (!block->finite || *at >= count)
        return;
    *block = blocks[*at];
    ++*at;
}

szg_status gpu_advance(szg_context *context, const szgi_step_block *blocks, int64_t count,
                       szgi_step_block *block, int64_t *at) {
    session *self = session_of(context);
    return named(context,
                 launch(context, self->stream, advance_block, 1, 1, 0, blocks, count, block, at),
                 "advance");
}
