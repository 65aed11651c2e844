/* The two kernel files of attention, of one variant. */
#ifndef SZG_NETWORK_CPU_ATTENTION_KERNEL_H
#define SZG_NETWORK_CPU_ATTENTION_KERNEL_H

#include "cpu_attention.h"
#include "linalg/cpu_level.h"

void SZG_KERNELS(szgi_attention_backward)(const szgi_attention_head *head,
                                          const szgi_attention_gradient *gradient, float *dbias);

#endif
