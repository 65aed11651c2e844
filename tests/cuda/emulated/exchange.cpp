/* What the lanes of a warp do together: shuffles, ballots, __syncwarp and mma.
 *
 * The lane that comes last computes the results of all, so that nobody reads what another lane
 * has posted since. */
#include <math.h>
#include <string.h>

#include "simt_block.h"

namespace emulated {
namespace {

const char *name_of(Kind kind) {
    switch (kind) {
    case Kind::sync:
        return "__syncwarp";
    case Kind::shuffle:
        return "shuffle";
    case Kind::ballot:
        return "ballot";
    default:
        return "mma";
    }
}

void shuffle(const Exchange &exchange, Warp *warp) {
    for (unsigned left = exchange.arrived; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        unsigned source = warp->source[lane];
        if (exchange.arrived >> source & 1)
            memcpy(warp->result[lane], warp->post[source], exchange.size);
        else
            memset(warp->result[lane], 0xff, exchange.size);
    }
}

void ballot(const Exchange &exchange, Warp *warp) {
    unsigned votes = 0;
    for (unsigned left = exchange.arrived; left; left &= left - 1) {
        int value, lane = __builtin_ctz(left);
        memcpy(&value, warp->post[lane], sizeof value);
        votes |= value ? 1u << lane : 0;
    }
    for (unsigned left = exchange.arrived; left; left &= left - 1)
        memcpy(warp->result[__builtin_ctz(left)], &votes, sizeof votes);
}

/* c + p[0] + .. + p[3] as tensor cores add (Fasi, Higham, Mikaitis, Pranesh 2021): exact products;
 * every addend is cut off behind the last place that the largest of them has in single precision,
 * and their sum is cut off to single precision. Real ones may carry a few places more, or take all
 * eight products at once: both lose less. */
float add_four(float c, const double p[4]) {
    double sum = c, most = fabs(c);
    for (int i = 0; i < 4; i++) {
        sum += p[i];
        most = fmax(most, fabs(p[i]));
    }
    uint64_t bits;
    memcpy(&bits, &most, sizeof bits);
    bits &= UINT64_C(0x7ff) << 52; /* the power of two */
    memcpy(&most, &bits, sizeof most);
    if (!isfinite(sum) || most < 0x1p-126) /* subnormal sums are exact in double precision */
        return static_cast<float>(sum);
    const double place = most * 0x1p-23, places = 0x1p23 / most;
    int cut = static_cast<int>(c * places);
    for (int i = 0; i < 4; i++)
        cut += static_cast<int>(p[i] * places);
    sum = cut * place;
    memcpy(&bits, &sum, sizeof bits);
    bits &= ~UINT64_C(0x1fffffff); /* all but 23 bits behind the point */
    memcpy(&sum, &bits, sizeof sum);
    return static_cast<float>(sum);
}

/* PTX ISA, mma.m16n8k8 with .tf32: lane 4 g + t holds a0 = A[g, t], a1 = A[g + 8, t],
 * a2 = A[g, t + 4], a3 = A[g + 8, t + 4], b0 = B[t, g], b1 = B[t + 4, g], and of the sums
 * [g, 2 t], [g, 2 t + 1], [g + 8, 2 t], [g + 8, 2 t + 1]. Operands have lost their low 13 bits. */
void multiply(Warp *warp) {
    float a[16][8], b[8][8];
    for (int lane = 0; lane < 32; lane++) {
        int group = lane / 4, place = lane % 4;
        float post[6];
        memcpy(post, warp->post[lane], sizeof post);
        a[group][place] = post[0];
        a[group + 8][place] = post[1];
        a[group][place + 4] = post[2];
        a[group + 8][place + 4] = post[3];
        b[group][place] = post[4];
        b[group][place + 4] = post[5];
    }
    for (int lane = 0; lane < 32; lane++) {
        float c[4];
        memcpy(c, warp->post[lane] + 6 * sizeof(float), sizeof c);
        for (int i = 0; i < 4; i++) {
            const float *row = a[lane / 4 + i / 2 * 8], *column = b[lane % 4 * 2 + i % 2];
            double p[8];
            for (int k = 0; k < 8; k++)
                p[k] = static_cast<double>(row[k]) * column[k];
            c[i] = add_four(add_four(c[i], p), p + 4);
        }
        memcpy(warp->result[lane], c, sizeof c);
    }
}

/* Everyone is there: the results, and all but `self` are woken. */
void complete(Exchange *exchange, Warp *warp, const Thread *self) {
    if (exchange->kind == Kind::shuffle)
        shuffle(*exchange, warp);
    else if (exchange->kind == Kind::ballot)
        ballot(*exchange, warp);
    else if (exchange->kind == Kind::mma)
        multiply(warp);
    for (unsigned left = exchange->arrived; left; left &= left - 1) {
        Thread *thread = warp->first + __builtin_ctz(left);
        if (thread != self)
            schedule_wake(thread);
    }
    warp->open &= ~(1u << (exchange - warp->exchange));
}

bool everyone(const Exchange &exchange, const Warp &warp) {
    return (exchange.mask & ~(exchange.arrived | warp.ended)) == 0;
}

} // namespace

const void *simt_exchange(Kind kind, unsigned mask, const void *post, size_t size, unsigned source,
                          Place place) {
    Thread *self = block.current;
    Warp *warp = self->warp;
    unsigned bit = 1u << self->lane;
    if (!(mask & bit))
        block_fail("the mask of the lanes does not name the lane itself", place);
    int slot = __builtin_ctz(mask);
    Exchange *exchange = &warp->exchange[slot];
    if (!(warp->open >> slot & 1)) {
        *exchange = {mask, 0, kind, size};
        warp->open |= 1u << slot;
    } else if (exchange->mask != mask || exchange->kind != kind || exchange->size != size) {
        block_fail("other lanes of the mask wait at something else, this one comes", place);
    }
    exchange->arrived |= bit;
    warp->source[self->lane] = source;
    memcpy(warp->post[self->lane], post, size);
    if (everyone(*exchange, *warp))
        complete(exchange, warp, self);
    else
        block_wait(name_of(kind), place);
    return warp->result[self->lane];
}

void exchange_forget(Thread *thread) {
    Warp *warp = thread->warp;
    for (unsigned open = warp->open; open; open &= open - 1) {
        Exchange *exchange = &warp->exchange[__builtin_ctz(open)];
        if (everyone(*exchange, *warp))
            complete(exchange, warp, nullptr);
    }
}

} // namespace emulated
