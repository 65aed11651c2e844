/* Lines "call FUNCTION COUNT" and "kernel OFFSET ORDER LAUNCHES BLOCKS THREADS SHARED". OFFSET is
 * the kernel's place in the plugin, for addr2line -f: kernels are local to their files and have no
 * name that the dynamic linker knows. THREADS and SHARED, of a block, are the most of any launch.
 */
#include "count.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <string>

#include "setting.h"
#include "simt_block.h"

namespace emulated {
namespace {

struct Launches {
    uint64_t launches = 0, blocks = 0, threads = 0, shared = 0;
};

struct Counts {
    const char *path = setting("SZG_EMULATED_COUNT");
    std::map<std::string, uint64_t> calls;
    std::map<std::pair<const void *, std::string>, Launches> kernels;
    void print() const;
    ~Counts() {
        if (path)
            print();
    }
} counts;

size_t offset_of(const void *kernel) {
    Dl_info info;
    const char *base = dladdr(kernel, &info) ? static_cast<const char *>(info.dli_fbase) : nullptr;
    return static_cast<size_t>(static_cast<const char *>(kernel) - base);
}

void Counts::print() const {
    FILE *file = fopen(path, "a");
    if (!file) {
        perror(path);
        return;
    }
    for (const auto &call : calls)
        fprintf(file, "call %s %llu\n", call.first.c_str(),
                static_cast<unsigned long long>(call.second));
    for (const auto &kernel : kernels)
        fprintf(file, "kernel 0x%zx %s %llu %llu %llu %llu\n", offset_of(kernel.first.first),
                kernel.first.second.c_str(),
                static_cast<unsigned long long>(kernel.second.launches),
                static_cast<unsigned long long>(kernel.second.blocks),
                static_cast<unsigned long long>(kernel.second.threads),
                static_cast<unsigned long long>(kernel.second.shared));
    fclose(file);
}

} // namespace

void count_call(const char *function) {
    if (counts.path)
        counts.calls[function]++;
}

void count_launch(const Launch &launch) {
    if (!counts.path)
        return;
    Launches &of = counts.kernels[{launch.kernel, order_name()}];
    of.launches++;
    of.blocks += uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    of.threads = std::max(of.threads, uint64_t{launch.block.x} * launch.block.y * launch.block.z);
    of.shared = std::max(of.shared, uint64_t{launch.shared});
}

} // namespace emulated
