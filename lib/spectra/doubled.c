#include "doubled.h"

/* x + y = head + tail exactly (Knuth). */
static inline szgi_doubled sum_of(double x, double y) {
    double head = x + y, part = head - x;
    return (szgi_doubled){head, (x - (head - part)) + (y - part)};
}

/* x = head + tail, both of 26 bits (Veltkamp). */
static inline szgi_doubled split(double x) {
    double scaled = 0x1.0000002p27 * x, head = scaled - (scaled - x);
    return (szgi_doubled){head, x - head};
}

/* x y = head + tail exactly (Dekker). */
static inline szgi_doubled product_of(double x, double y) {
    szgi_doubled a = split(x), b = split(y);
    double head = x * y;
    double tail =
        a.tail * b.tail - (((head - a.head * b.head) - a.tail * b.head) - a.head * b.tail);
    return (szgi_doubled){head, tail};
}

szgi_doubled szgi_doubled_product(double x, double y) {
    return product_of(x, y);
}

/* head and tail: adds x y. */
static inline void accumulate(double *head, double *tail, double x, double y) {
    szgi_doubled product = product_of(x, y), sum = sum_of(*head, product.head);
    *head = sum.head;
    *tail += sum.tail + product.tail;
}

szgi_doubled szgi_doubled_dot(int64_t count, const double *x, const double *y) {
    enum { LANES = 8 };
    double head[LANES] = {0}, tail[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int j = 0; j < LANES; j++)
            accumulate(&head[j], &tail[j], x[i + j], y[i + j]);
    for (int j = 0; i < count; i++, j++)
        accumulate(&head[j], &tail[j], x[i], y[i]);
    szgi_doubled sum = {head[0], tail[0]};
    for (int j = 1; j < LANES; j++) {
        szgi_doubled next = sum_of(sum.head, head[j]);
        sum = (szgi_doubled){next.head, sum.tail + (next.tail + tail[j])};
    }
    return sum;
}

szgi_doubled szgi_doubled_add(szgi_doubled sum, szgi_doubled z) {
    szgi_doubled heads = sum_of(sum.head, z.head);
    return (szgi_doubled){heads.head, heads.tail + (sum.tail + z.tail)};
}
