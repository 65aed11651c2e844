/* The whole public interface of libszego. */
#ifndef SZEGO_SZEGO_H
#define SZEGO_SZEGO_H

#include <szego/ablation.h>
#include <szego/backend.h>
#include <szego/checkpoint.h>
#include <szego/claims.h>
#include <szego/context.h>
#include <szego/contraction.h>
#include <szego/coupling.h>
#include <szego/density.h>
#include <szego/encoding.h>
#include <szego/examples.h>
#include <szego/extremes.h>
#include <szego/factored.h>
#include <szego/matrix.h>
#include <szego/report.h>
#include <szego/reproduce.h>
#include <szego/result.h>
#include <szego/spectrum.h>
#include <szego/statistics.h>
#include <szego/status.h>
#include <szego/summary.h>
#include <szego/symbol.h>
#include <szego/table.h>
#include <szego/tasks.h>
#include <szego/theory.h>
#include <szego/toeplitz.h>
#include <szego/train.h>
#include <szego/train_config.h>
#include <szego/version.h>

#endif
