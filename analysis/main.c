/* The program `szego`: finds the command, parses its options, opens the context, runs. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linalg/cpu_level.h"
#include "linalg/distributed.h"
#include "linalg/linalg.h"
#include "ball/ball.h"
#include "base/file.h"
#include "base/text.h"
#include <szego/backend.h>
#include <szego/version.h>

#include "command.h"
#include "help.h"
#include "interrupt.h"
#include "launch.h"
#include "terminal.h"

/* Before there is a context that could say it. */
static _Noreturn void end_without_memory(void) {
    terminal_line("", "out of memory for the command line");
    exit(EXIT_INTERNAL);
}

static bool failure_told; /* a message has said why the command failed */

/* Help and version are printed by exits of their own: text that cannot be written is an error. */
static void close_output(void) {
    char text[256];
    errno = 0;
    if (failure_told || (fflush(stdout) == 0 && !ferror(stdout)))
        return;
    snprintf(text, sizeof text, "standard output: cannot be written: %s%s",
             errno ? strerror(errno) : "an earlier write failed", szgi_write_remedy(errno));
    terminal_line("", text);
    _exit(EXIT_INTERNAL);
}

static int exit_code(szg_status status) {
    switch (status) {
    case SZG_OK:
        return EXIT_DONE;
    case SZG_EINVAL:
        return EXIT_USAGE;
    case SZG_EDATA:
    case SZG_EDOMAIN:
        return EXIT_DATA;
    case SZG_ENOCONV:
        return EXIT_DIFFERS;
    case SZG_EBACKEND:
        return EXIT_BACKEND;
    case SZG_ECANCEL:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_INTERNAL;
    }
}

/* Each of several processes would compute the whole, and write the same files. */
static szg_status refuse_processes(command_call *call, const char *what) {
    const char *variable = launch_variable();
    return szgi_fail(call->context, SZG_EINVAL,
                     "%d processes were started together, and %s is not shared among them: start "
                     "one process; for processes that know nothing of each other: env -u %s szego "
                     "...",
                     launch_processes(), what, variable);
}

/* A launcher of another MPI starts processes each of which believes to be the only one: all of them
 * would compute the whole, and write the same files. */
static szg_status check_joined(command_call *call, const szgi_distributed_ops *ops) {
    const char *variable;
    int started = launch_started(&variable);
    if (ops->processes >= started)
        return SZG_OK;
    return szgi_fail(call->context, SZG_EBACKEND,
                     "backend mpi: %d processes were started together (%s), and MPI knows of %d: "
                     "start them with the launcher of this MPI (%s), or with srun --mpi=pmix",
                     started, variable, ops->processes, ops->libraries);
}

/* Processes that were started together share the work. */
static szg_status select_backend(command_call *call) {
    char what[256];
    int processes = launch_processes();
    const char *name = call->shared.backend;
    if (processes > 1 && !call->command->shared) {
        snprintf(what, sizeof what, "the work of szego %s", call->command->name);
        return refuse_processes(call, what);
    }
    if (processes > 1 && name && strcmp(name, "mpi") != 0) {
        snprintf(what, sizeof what, "that of --backend %.80s", name);
        return refuse_processes(call, what);
    }
    if (!name && processes == 1)
        return SZG_OK;
    SZG_TRY(szg_backend_select(call->context, name ? name : "mpi"));
    launch_joined();
    const szgi_distributed_ops *ops = szgi_distributed_of(call->context);
    if (!ops)
        return SZG_OK;
    SZG_TRY(check_joined(call, ops));
    szgi_say(call->context, SZG_NOTE, "backend mpi: %d process%s, %s", ops->processes,
             ops->processes == 1 ? "" : "es", ops->libraries);
    return SZG_OK;
}

static szg_status run_and_flush(command_call *call) {
    SZG_TRY(call->command->run(call));
    szg_status status = szgi_stream_flush(call->context, stdout);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(call->context, status, "standard output");
}

static szg_status run_call(command_call *call) {
    SZG_TRY(szgi_backend_check_simd(call->context));
    SZG_TRY(select_backend(call));
    return szgi_distributed_agree(call->context, SZGI_MEETING_END, run_and_flush(call));
}

static int run_command(command_call *call) {
    terminal screen;
    terminal_open(&screen, call->shared.quiet);
    call->screen = &screen;
    int threads = (int)call->shared.threads;
    if (threads == 0 && launch_processes() > 1)
        threads = 1; /* they share the processors too */
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads,
                                   .message = terminal_message, .progress = terminal_progress,
                                   .user = &screen};
    if (szg_context_open(&options, &call->context) != SZG_OK) {
        fprintf(stderr, "szego: the threads could not be started; try --threads 1\n");
        return EXIT_INTERNAL;
    }
    interrupt_listen(call->context);
    szgi_ball_set_end(end_for_library);
    szg_status status = run_call(call);
    terminal_clear(&screen);
    failure_told = status != SZG_OK;
    if (failure_told) {
        terminal_line("", szg_context_message(call->context));
        if (status == SZG_EBACKEND) /* a machine of its own may lack what this one has */
            launch_fail_alone(szg_context_message(call->context));
    }
    interrupt_end();
    szg_context_close(&call->context);
    return status == SZG_OK ? call->code : exit_code(status);
}

/* A descriptor 0 to 2 that is closed would be given to the first file that is opened, and messages
 * would be written into it. It is opened the wrong way round, so that its use still fails. */
static void occupy_standard_streams(void) {
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
}

/* The words that the kernel started the process with; NULL: they cannot be read. argv lacks those
 * of a loader before it: `ld-linux.so.2 --preload X szego ...`. */
static char **words_of_start(void) {
    FILE *file = fopen("/proc/self/cmdline", "r");
    char **words = calloc(1, sizeof *words), *word = NULL;
    size_t size = 0;
    for (size_t count = 0; file && words && getdelim(&word, &size, 0, file) > 0;) {
        char **more = realloc(words, (count + 2) * sizeof *words);
        words = more;
        if (!more)
            break;
        words[count++] = word;
        words[count] = word = NULL;
        size = 0;
    }
    bool whole = file && feof(file) && words && words[0];
    if (file)
        fclose(file);
    return whole ? words : NULL; /* the few bytes stay: the process is about to end or to work */
}

static bool set_unless_given(const char *name, const char *value) {
    return value && !getenv(name) && setenv(name, value, 0) == 0;
}

/* OpenBLAS chooses its kernels and starts its threads while it is loaded; where that went badly,
 * only a new start helps. Each of several processes would start a thread for every processor. */
static void restart_with_better_settings(void) {
    const char *core = szg_backend_blas_remedy(), *threads = szgi_backend_threads_remedy();
    char **words, text[256];
    if (launch_processes() > 1)
        threads = "1";
    if (!set_unless_given("OPENBLAS_CORETYPE", core))
        core = NULL;
    if (!set_unless_given("OPENBLAS_NUM_THREADS", threads))
        threads = NULL;
    if (!core && !threads)
        return;
    if ((words = words_of_start()))
        execv("/proc/self/exe", words);
    snprintf(text, sizeof text,
             "OpenBLAS does badly here, and the program cannot start anew with other settings: set "
             "%s%s %s%s",
             core ? "OPENBLAS_CORETYPE=" : "", core ? core : "",
             threads ? "OPENBLAS_NUM_THREADS=" : "", threads ? threads : "");
    terminal_line("note: ", text);
}

int main(int argc, char **argv) {
    occupy_standard_streams();
    restart_with_better_settings();
    launch_silence();
    argp_err_exit_status = EXIT_USAGE;
    atexit(close_output);
    if (argc < 2) {
        help_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0)
        return help_main(argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help_main(0, NULL);
    if (strcmp(argv[1], "--version") == 0) {
        printf("szego %s (%s)\n", szg_version(), szg_commit());
        return EXIT_DONE;
    }
    command_call call = {.command = command_find(argv[1]), .argc = argc, .argv = argv};
    if (!call.command) {
        help_unknown_command(argv[1]);
        return EXIT_USAGE;
    }
    char **rest = calloc((size_t)argc + 1, sizeof *rest);
    if (rest)
        memcpy(rest, argv + 1, (size_t)(argc - 1) * sizeof *rest);
    if (!rest || !options_parse(&call, argc - 1, rest))
        end_without_memory();
    int code = run_command(&call);
    options_close(&call);
    free(rest);
    return code;
}
