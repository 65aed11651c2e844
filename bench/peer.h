/* A rival in a process of its own, that answers requests: PyTorch, or NumPy. */
#ifndef SZG_BENCH_PEER_H
#define SZG_BENCH_PEER_H

#include <sys/types.h>

#include "base/context.h"

typedef struct bench_peer_program bench_peer_program;
extern const bench_peer_program bench_peer_torch; /* bench/peer_torch.py */
extern const bench_peer_program bench_peer_numpy; /* bench/peer_numpy.py */

typedef struct bench_peer {
    const bench_peer_program *program;
    pid_t process; /* 0: none */
    int socket;
    bool answers; /* false once a request was left without an answer */
    char version[64];
} bench_peer;

typedef struct bench_peer_options {
    const bench_peer_program *program;
    int threads;
    bool plain;      /* as a user starts it, without LD_LIBRARY_PATH; else tuned for the cpu */
    const char *log; /* receives its standard error, at the end; NULL: dropped */
} bench_peer_options;

/* Starts the program under the first python3 that has its module: $SZEGO_PYTHON, python3,
 * /usr/bin/python3. Tuned: an OpenMP OpenBLAS where Debian's is installed, huge pages, memory kept
 * between steps. SZG_EBACKEND where there is none. */
SZG_CHECK_RESULT szg_status bench_peer_open(szg_context *context, const bench_peer_options *options,
                                            bench_peer *peer);

/* The same, but where there is none a warning says so, and peer->process is 0. */
SZG_CHECK_RESULT szg_status bench_peer_open_or_say(szg_context *context,
                                                   const bench_peer_options *options,
                                                   bench_peer *peer);

/* Sends a line and waits for the answer's, which is cut to `size`. SZG_EBACKEND: the peer
 * died, or says why it cannot. SZG_ECANCEL: the work shall stop. */
SZG_CHECK_RESULT szg_status bench_peer_ask(szg_context *context, bench_peer *peer,
                                           const char *request, char *answer, size_t size);
/* A peer that owes an answer is killed. */
void bench_peer_close(bench_peer *peer);

#endif
