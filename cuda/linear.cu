/* Linear layers on cuBLASLt. */
#include "table.h"

void product_close(session *self) {
    (void)self;
}

void linear_fill(szg_network_ops *network) {
    (void)network;
}
