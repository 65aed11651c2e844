/* A rival in a process of its own, that answers requests: PyTorch. */
#ifndef SZG_BENCH_PEER_H
#define SZG_BENCH_PEER_H

#include <sys/types.h>

#include <szego/context.h>

typedef struct bench_peer {
    pid_t process; /* 0: none */
    int socket;
    char version[64];
} bench_peer;

/* Starts bench/peer_torch.py on `threads` threads under the first python3 that has torch:
 * $SZEGO_PYTHON, python3, /usr/bin/python3. Tuned: an OpenMP OpenBLAS where Debian's is installed,
 * huge pages, memory kept between steps. SZG_EBACKEND where there is none. */
SZG_CHECK_RESULT szg_status bench_peer_open(szg_context *context, int threads, bench_peer *peer);

/* Sends a line and waits for the answer's, which is cut to `size`. SZG_EBACKEND: the peer
 * died, or says why it cannot. */
SZG_CHECK_RESULT szg_status bench_peer_ask(szg_context *context, bench_peer *peer,
                                           const char *request, char *answer, size_t size);
void bench_peer_close(bench_peer *peer);

#endif
