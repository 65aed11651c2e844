#ifndef SZG_BALL_NUMBER_H
#define SZG_BALL_NUMBER_H

#include "ball/arb.h"

struct szgi_balls {
    int64_t count;
    slong bits;
    acb_ptr value;
};

/* SZG_EINVAL unless r is a register of balls. */
SZG_CHECK_RESULT szg_status szgi_check_register(szg_context *context, const szgi_balls *balls,
                                                int64_t r);

#endif
