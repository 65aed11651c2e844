#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

struct bench_peer_program {
    const char *name, *module; /* what people call it, and what Python imports */
    const char *script;
};

static const char torch_script[] =
#include "peer_torch.inc"
    ;
static const char numpy_script[] =
#include "peer_numpy.inc"
    ;
const bench_peer_program bench_peer_torch = {"PyTorch", "torch", torch_script};
const bench_peer_program bench_peer_numpy = {"NumPy", "numpy", numpy_script};

extern char **environ;

static const char *const openmp_folders[] = {"/usr/lib/x86_64-linux-gnu/openblas-openmp",
                                             "/usr/lib/aarch64-linux-gnu/openblas-openmp"};

/* LD_LIBRARY_PATH with the OpenMP build of OpenBLAS first, where there is one. */
static void library_path(size_t size, char *out) {
    const char *own = getenv("LD_LIBRARY_PATH"), *folder = "";
    for (size_t i = 0; i < sizeof openmp_folders / sizeof *openmp_folders; i++)
        if (access(openmp_folders[i], R_OK | X_OK) == 0)
            folder = openmp_folders[i];
    bool both = own && *own && *folder;
    snprintf(out, size, "LD_LIBRARY_PATH=%s%s%s", folder, both ? ":" : "", own ? own : "");
}

/* What env(1) is to start: a threaded program must not set its own environment. On a device PyTorch
 * brings its libraries along, and ours in LD_LIBRARY_PATH would take their place. */
static void list_words(const bench_peer_options *options, const char *python, char omp[64],
                       char path[4096], const char *words[12]) {
    const char **word = words;
    *word++ = "env";
    snprintf(omp, 64, "OMP_NUM_THREADS=%d", options->threads);
    if (options->plain) {
        *word++ = "-u";
        *word++ = "LD_LIBRARY_PATH";
    } else {
        library_path(4096, path);
        *word++ = path;
        *word++ = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:"
                  "glibc.malloc.trim_threshold=4294967296:"
                  "glibc.malloc.mmap_threshold=4294967296";
    }
    const char *const rest[] = {omp, python, "-u", "-c", options->program->script, NULL};
    memcpy(word, rest, sizeof rest);
}

static int spawn(const bench_peer_options *options, const char *python, int socket,
                 pid_t *process) {
    char omp[64], path[4096];
    const char *words[12];
    list_words(options, python, omp, path, words);
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&files, socket, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addopen(&files, STDERR_FILENO,
                                                 options->log ? options->log : "/dev/null",
                                                 O_WRONLY | O_CREAT | O_APPEND, 0666);
    char *argv[12];
    memcpy(argv, words, sizeof argv);
    if (!error)
        error = posix_spawnp(process, "env", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static szg_status start(szg_context *context, const bench_peer_options *options, const char *python,
                        bench_peer *peer) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return szgi_fail(context, SZG_EBACKEND, "%s: no socket: %s", options->program->name,
                         strerror(errno));
    *peer = (bench_peer){.program = options->program, .socket = sockets[0], .answers = true};
    int error = spawn(options, python, sockets[1], &peer->process);
    close(sockets[1]);
    if (error) {
        peer->process = 0;
        close(sockets[0]);
        return szgi_fail(context, SZG_EBACKEND, "%s: %s: %s", options->program->name, python,
                         strerror(error));
    }
    szg_status status =
        bench_peer_ask(context, peer, "version", peer->version, sizeof peer->version);
    if (status != SZG_OK)
        bench_peer_close(peer);
    return status;
}

szg_status bench_peer_open(szg_context *context, const bench_peer_options *options,
                           bench_peer *peer) {
    const char *pythons[] = {getenv("SZEGO_PYTHON"), "python3", "/usr/bin/python3"};
    *peer = (bench_peer){0};
    for (size_t i = 0; i < sizeof pythons / sizeof *pythons; i++)
        if (pythons[i] && start(context, options, pythons[i], peer) == SZG_OK)
            return SZG_OK;
    SZG_TRY(szgi_context_check_cancel(context));
    return szgi_fail(context, SZG_EBACKEND,
                     "no python3 with %s: install python3-%s, or name one in SZEGO_PYTHON",
                     options->program->module, options->program->module);
}

static bool send_line(int socket, const char *line) {
    size_t length = strlen(line);
    for (size_t sent = 0; sent <= length;) {
        const char *from = sent < length ? line + sent : "\n";
        size_t count = sent < length ? length - sent : 1;
        ssize_t done = send(socket, from, count, MSG_NOSIGNAL);
        if (done < 0 && errno != EINTR)
            return false;
        sent += done < 0 ? 0 : (size_t)done;
    }
    return true;
}

/* Waits for the answer, looking every tenth of a second whether the work shall stop. */
static bool is_readable(szg_context *context, int socket) {
    struct pollfd of = {.fd = socket, .events = POLLIN};
    int ready = 0;
    while (ready == 0 && szgi_context_check_cancel(context) == SZG_OK) {
        ready = poll(&of, 1, 100);
        if (ready < 0 && errno == EINTR)
            ready = 0;
    }
    return ready > 0;
}

static bool receive_line(szg_context *context, int socket, char *line, size_t size) {
    size_t length = 0;
    for (;;) {
        char letter;
        if (!is_readable(context, socket))
            return false;
        ssize_t done = recv(socket, &letter, 1, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        if (letter == '\n')
            break;
        if (length + 1 < size)
            line[length++] = letter;
    }
    line[length] = 0;
    return true;
}

szg_status bench_peer_open_or_say(szg_context *context, const bench_peer_options *options,
                                  bench_peer *peer) {
    szg_status status = bench_peer_open(context, options, peer);
    if (status != SZG_EBACKEND)
        return status;
    szgi_say(context, SZG_WARNING, "%s; the rival's columns stay empty",
             szg_context_message(context));
    return SZG_OK;
}

szg_status bench_peer_ask(szg_context *context, bench_peer *peer, const char *request, char *answer,
                          size_t size) {
    char line[512];
    if (!send_line(peer->socket, request) ||
        !receive_line(context, peer->socket, line, sizeof line)) {
        peer->answers = false;
        SZG_TRY(szgi_context_check_cancel(context));
        return szgi_fail(context, SZG_EBACKEND,
                         "%s ended before it answered `%s`: --rival-log FILE keeps its output",
                         peer->program->name, request);
    }
    if (strncmp(line, "error ", 6) == 0)
        return szgi_fail(context, SZG_EBACKEND, "%s, asked to `%s`: %s", peer->program->name,
                         request, line + 6);
    snprintf(answer, size, "%s", line);
    return SZG_OK;
}

void bench_peer_close(bench_peer *peer) {
    if (peer->process == 0)
        return;
    close(peer->socket);
    if (!peer->answers) /* it is at work on what nobody waits for any more */
        kill(peer->process, SIGKILL);
    while (waitpid(peer->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    *peer = (bench_peer){0};
}
