#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include <szego/version.h>

/* ANSWERS is the script's descriptor of the pipe on which it says whether its interpreter serves.
 * In TICKs of so many milliseconds, PATIENCE is for a script that was told to stop: less than that
 * of interrupt.c, which ends the program. SILENCE is how long an interpreter may say nothing before
 * the reader is told of it. */
enum {
    ANSWERS = 3,
    TICK = 20,
    PATIENCE = 4000 / TICK,
    SILENCE = 15000 / TICK,
    ANSWER = 512,
    SHOWN_ANSWERS = 1024
};

extern char **environ;

/* The package in a wheel, of which the program is a part; in a build, where a link leads to the
 * source; as `meson install` has it; as Debian's python3-szego has it. */
static const char *const places[] = {
#ifdef SZEGO_IN_PACKAGE
    "../",
#else
    "../notebooks_export/python/szego/", "../share/szego/python/szego/",
    "../lib/python3/dist-packages/szego/", SZEGO_DATA "/python/szego/",
#endif
    NULL};

/* A command that is looking for its interpreter. */
typedef struct script {
    szg_context *context;
    const command *what;
    szgi_text words; /* of the command line after the interpreter, each with its NUL */
    int count;
} script;

/* An interpreter that was started. */
typedef struct interpreter {
    pid_t process; /* 0: it has ended, and `state` is what waitpid says of it */
    int state;
    int answers;         /* the pipe's end; -1: closed */
    char answer[ANSWER]; /* one line: ready, or why not */
} interpreter;

/* ---- The command line ---- */

static void put_word(script *self, const char *option, const char *value) {
    fprintf(self->words.stream, "%s%s%c", option, value, 0);
    self->count++;
}

/* Isolated (-I): neither the current folder nor the environment has a say in what is imported;
 * publish.py adds what it lets in. */
static szg_status list_words(script *self, const command_call *call, const char *path,
                             const char *const *words) {
    SZG_TRY(szgi_text_open(self->context, &self->words));
    put_word(self, "-I", "");
    put_word(self, path, "");
    put_word(self, szg_version(), "");
    put_word(self, self->what->needs, "");
    put_word(self, self->what->name, "");
    if (call->shared.output)
        put_word(self, "--output=", call->shared.output);
    if (call->shared.quiet)
        put_word(self, "--quiet", "");
    for (; *words; words++)
        put_word(self, *words, "");
    return szgi_text_end(&self->words, SZG_OK);
}

/* ---- One process ---- */

/* Signals wait until the script listens to them, and none is ignored because this program does. */
static int set_signals(posix_spawnattr_t *attributes) {
    sigset_t stopping, standard;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    standard = stopping;
    sigaddset(&stopping, SIGHUP); /* which nohup has ignored */
    sigaddset(&standard, SIGXFSZ);
    int error = posix_spawnattr_setsigmask(attributes, &stopping);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &standard);
    if (!error)
        error =
            posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return error;
}

static int spawn(pid_t *process, const char *python, int answers, char **words) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = posix_spawn_file_actions_adddup2(&files, answers, ANSWERS);
        if (!error)
            error = set_signals(&attributes);
        if (!error)
            error = posix_spawnp(process, python, &files, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* An errno, 0: started. */
static int start(const script *self, const char *python, char **words, interpreter *out) {
    int ends[2];
    char *word = self->words.text;
    words[0] = (char *)python;
    for (int i = 0; i < self->count; i++, word += strlen(word) + 1)
        words[i + 1] = word;
    words[self->count + 1] = NULL;
    *out = (interpreter){.answers = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int error = spawn(&out->process, python, ends[1], words);
    close(ends[1]);
    out->answers = ends[0];
    return error;
}

static void end_listening(interpreter *self) {
    if (self->answers >= 0)
        close(self->answers);
    self->answers = -1;
}

/* Reads what has come; false: the line or the pipe has ended. */
static bool read_answer(interpreter *self) {
    size_t length = strlen(self->answer);
    ssize_t count = read(self->answers, self->answer + length, ANSWER - 1 - length);
    if (count < 0 && errno == EINTR)
        return true;
    char *end = strchr(self->answer, '\n');
    if (end)
        *end = 0;
    return count > 0 && !end;
}

/* Waits for its answer; false: the work shall stop. */
static bool await_answer(szg_context *context, const char *python, interpreter *self) {
    bool open = true;
    int silent = 0; /* ticks */
    while (open && !szg_context_is_cancelled(context)) {
        struct pollfd answers = {.fd = self->answers, .events = POLLIN};
        if (poll(&answers, 1, TICK) > 0)
            open = read_answer(self);
        else if (++silent == SILENCE)
            szgi_say(context, SZG_WARNING,
                     "%s has not said in %d seconds whether it has the packages: wait, or press "
                     "Ctrl-C and let SZEGO_PYTHON name another interpreter",
                     python, SILENCE * TICK / 1000);
    }
    end_listening(self);
    return !open;
}

/* Waits for its end. A cancellation is passed on; what then does not end is killed, and true is
 * returned. */
static bool await_end(szg_context *context, interpreter *self) {
    int asked = 0; /* ticks since it was told to stop */
    for (pid_t ended = 0; ended == 0 || (ended < 0 && errno == EINTR);) {
        if (szg_context_is_cancelled(context) && asked++ == 0)
            /* Its first thread: Python's other ones do not wake it where it waits for a lock. */
            (void)tgkill(self->process, self->process, SIGTERM);
        if (asked == PATIENCE)
            kill(self->process, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = TICK * 1000000L}, NULL);
        ended = waitpid(self->process, &self->state, WNOHANG);
    }
    self->process = 0;
    return asked >= PATIENCE;
}

/* ---- Which interpreter ---- */

/* What it answered, or what happened to it instead. */
static void complete_answer(interpreter *self, const char *python, int error) {
    if (error)
        snprintf(self->answer, ANSWER, "%.256s cannot be started (%s)", python, strerror(error));
    else if (!*self->answer && WIFSIGNALED(self->state))
        snprintf(self->answer, ANSWER, "%.256s was ended by signal %d", python,
                 WTERMSIG(self->state));
    else if (!*self->answer)
        snprintf(self->answer, ANSWER,
                 "%.256s does not run the script as Python would (exit status %d)", python,
                 WEXITSTATUS(self->state));
}

/* SZG_OK and process 0: it does not serve, and `answer` says why. */
static szg_status try(const script *self, const char *python, interpreter *out) {
    char **words;
    SZG_TRY(szgi_memory_alloc(self->context, self->count + 2, &words));
    int error = start(self, python, words, out);
    szgi_memory_free(words);
    if (!error && !await_answer(self->context, python, out))
        kill(out->process, SIGKILL); /* it has not begun */
    else if (!error && strcmp(out->answer, "ready") == 0)
        return SZG_OK;
    end_listening(out);
    if (!error)
        (void)await_end(self->context, out);
    SZG_TRY(szgi_context_check_cancel(self->context));
    complete_answer(out, python, error);
    return SZG_OK;
}

/* Any interpreter finds the same package: another one would not help. */
static szg_status check_version(const script *self, const interpreter *tried) {
    static const char word[] = "version ";
    if (strncmp(tried->answer, word, sizeof word - 1) != 0)
        return SZG_OK;
    return szgi_fail(self->context, SZG_EBACKEND,
                     "%s: the program is version %s, and its Python package is %s: install "
                     "both from one release",
                     self->what->name, szg_version(), tried->answer);
}

/* "python3-numpy python3-scipy", of Debian. */
static void name_packages(const char *needs, char *out, size_t size) {
    size_t used = 0;
    for (const char *name = needs; *name && used < size; name += strspn(name, " ")) {
        int length = (int)strcspn(name, " ");
        used += (size_t)snprintf(out + used, size - used, "%spython3-%.*s", used ? " " : "", length,
                                 name);
        name += length;
    }
}

static szg_status refuse(const script *self, const char *chosen, const char *answers) {
    char packages[256];
    const command *what = self->what;
    name_packages(what->needs, packages, sizeof packages);
    return szgi_fail(
        self->context, SZG_EBACKEND,
        "%s needs Python with its packages: %s%s. Install them (Debian: apt-get install %s; pip: "
        "%.256s -m pip install %s, which are among those of 'szego[report]'), or %s",
        what->name, chosen ? "SZEGO_PYTHON: " : "", answers, packages, chosen ? chosen : "python3",
        what->needs,
        chosen ? "let SZEGO_PYTHON name another interpreter"
               : "let SZEGO_PYTHON name an interpreter that has them");
}

/* The first that serves, at work; SZEGO_PYTHON, where it is set, is the only one. */
static szg_status find_interpreter(const script *self, interpreter *out) {
    const char *chosen = getenv("SZEGO_PYTHON");
    const char *pythons[] = {"/usr/bin/python3", "python3", NULL};
    char answers[SHOWN_ANSWERS] = "";
    if (chosen && *chosen)
        memcpy(pythons, (const char *[]){chosen, NULL}, 2 * sizeof *pythons);
    else
        chosen = NULL;
    for (const char **python = pythons; *python; python++) {
        SZG_TRY(try(self, *python, out));
        if (out->process)
            return SZG_OK;
        SZG_TRY(check_version(self, out));
        size_t used = strlen(answers);
        if (!strstr(answers, out->answer)) /* PATH may lead to the same one */
            snprintf(answers + used, sizeof answers - used, "%s%s", used ? "; " : "", out->answer);
    }
    return refuse(self, chosen, answers);
}

/* ---- The command ---- */

static szg_status tell_end(command_call *call, const script *self, const interpreter *ended,
                           bool killed) {
    if (WIFEXITED(ended->state) && WEXITSTATUS(ended->state) == EXIT_INTERRUPTED)
        szg_context_cancel(call->context); /* a signal that came to the script alone */
    if (killed)
        return szgi_fail(call->context, SZG_ECANCEL,
                         "interrupted; the script had not ended after %d seconds and was killed",
                         PATIENCE * TICK / 1000);
    SZG_TRY(szgi_context_check_cancel(call->context));
    if (WIFSIGNALED(ended->state))
        return szgi_fail(call->context, SZG_EIO, "%s: signal %d (%s) ended its script%s",
                         self->what->name, WTERMSIG(ended->state),
                         strsignal(WTERMSIG(ended->state)),
                         WTERMSIG(ended->state) == SIGKILL ? ": the system may lack memory" : "");
    call->code = WEXITSTATUS(ended->state);
    return SZG_OK;
}

static szg_status run(command_call *call, script *self, const char *const *words) {
    char path[PATH_MAX];
    interpreter python;
    if (!place_find(places, "publish.py", path))
        return szgi_fail(call->context, SZG_EBACKEND,
                         "%s: the Python package szego, which carries it out, is not "
                         "installed with this program: %s is missing (Debian: apt-get install "
                         "python3-szego; pip: pip install 'szego[report]'; else meson install)",
                         self->what->name, path);
    SZG_TRY(list_words(self, call, path, words));
    SZG_TRY(find_interpreter(self, &python));
    bool killed = await_end(call->context, &python);
    return tell_end(call, self, &python, killed);
}

szg_status script_run(command_call *call, const command *what, const char *const *words) {
    script self = {.context = call->context, .what = what};
    signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody learns how a child ended */
    szg_status status = run(call, &self, words);
    szgi_text_close(&self.words);
    return status;
}
