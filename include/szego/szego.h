/* The whole public interface of libszego. */
#ifndef SZEGO_SZEGO_H
#define SZEGO_SZEGO_H

#include <szego/context.h>
#include <szego/file.h>
#include <szego/memory.h>
#include <szego/pool.h>
#include <szego/random.h>
#include <szego/status.h>
#include <szego/table.h>
#include <szego/version.h>

#endif
