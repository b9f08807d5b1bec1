#include "exec/slurm.h"

#include "base/array.h"
#include "base/fs.h"
#include "exec/chunk.h"
#include "exec/interrupt.h"
#include "exec/slurm_commands.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_ATTEMPTS     2
#define TICK_MS          200
#define LOOK_SECONDS     1.0  /* for answers; less often where that takes long */
#define ASK_SECONDS      1.0  /* between two squeue, at first, */
#define MAX_ASK_SECONDS  15.0 /* and at last: a controller serves many */
#define SILENCE_SECONDS  600  /* without an answer of squeue */
#define WAIT_SECONDS     60.0 /* that no task runs, before that is said */
#define LAST_WORDS_BYTES 300

/* Reasons for which Slurm never starts a task, unless somebody changes the job or the partition. */
static const char *const never[] = {"PartitionTimeLimit", "PartitionNodeLimit", "PartitionConfig",
                                    "BadConstraints",     "InvalidAccount",     "InvalidQOS",
                                    "AccountNotAllowed",  "QOSNotAllowed"};
/* Those for which it does not before somebody has done something: said at once. */
static const char *const held[] = {"JobHeldUser", "JobHeldAdmin", "PartitionDown", "PartitionInactive",
                                   "ReqNodeNotAvail"};
/* States of tasks that have ended for good. */
static const char *const ended[] = {"COMPLETED", "CANCELLED",     "FAILED",   "TIMEOUT",   "NODE_FAIL",
                                    "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE", "PREEMPTED", "REVOKED"};

typedef struct {
    uint64_t hash, task;
    uint32_t number; /* in the order in which they came */
    uint8_t deaths;  /* of tasks that had not got beyond it */
    bool answered;
} line;

/* A task of the array, as squeue last told of it. */
typedef struct {
    bool live;
    char state[20]; /* in which it ended; "": not known */
} chunk;

typedef struct {
    char *path;
    exec_answers read;
} attempt;

typedef struct {
    const exec_slurm *how;
    const char *const *argv; /* of a worker */
    const exec_calls *calls;
    const char *(*again)(void *user, uint64_t task);
    line *line;      /* in the order of hashes */
    uint32_t *order; /* of each number, the place among them */
    size_t n, cap, n_answered;

    char name[32];          /* of the jobs, but for the round */
    uint32_t round;         /* the last one that was submitted; 0: none */
    bool is_ours;           /* by this process */
    size_t answered_before; /* the round */
    chunk *chunk;
    size_t n_chunks;
    char job[24];    /* "" while it is not known */
    char reason[40]; /* why pending tasks wait, as squeue says, */
    char told[40];   /* and as the user was told last */
    bool all_wait;   /* no task runs, */
    double wait_since;
    attempt *attempt; /* in the order of paths */
    size_t n_attempts, cap_attempts;
    uint64_t n_garbled;  /* answers that are none, with a checksum that is right */
    size_t next_hash;    /* of find_unanswered */
    double silent_since; /* squeue; 0: it is not */
    double ask_seconds, next_ask, next_look;
    dse_error *err;
} slurm;

static double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void say(const slurm *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(const slurm *s, const char *fmt, ...)
{
    dse_strbuf words;
    va_list ap;

    if (!s->how->say)
        return;
    dse_strbuf_init(&words);
    va_start(ap, fmt);
    dse_strbuf_vaddf(&words, fmt, ap);
    va_end(ap);
    s->how->say(s->how->say_user, words.data);
    dse_strbuf_free(&words);
}

static bool is_word_of(const char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], word))
            return true;
    return false;
}

/* ---- answers ------------------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    const line *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static line *find_line(const slurm *s, uint64_t hash)
{
    const line key = {.hash = hash};

    return s->n ? bsearch(&key, s->line, s->n, sizeof key, compare_lines) : NULL;
}

/* A line may be answered again by an attempt that was given up too early: the first answer counts. */
static dse_status take_answer(void *user, uint64_t hash, bool failed, const char *text, dse_error *err)
{
    slurm *s = user;
    line *l = find_line(s, hash);
    dse_error why = DSE_ERROR_INIT;
    dse_status st;

    if (!l || l->answered)
        return DSE_OK;
    st = (failed ? s->calls->failed : s->calls->answer)(s->calls->user, l->task, text, &why);
    if (st == DSE_E_CHILD) { /* it is none: the line is still to be answered */
        s->n_garbled++;
        return DSE_OK;
    }
    if (st != DSE_OK && err && err->status == DSE_OK)
        *err = why;
    l->answered = true;
    s->n_answered++;
    return st;
}

static attempt *find_attempt(slurm *s, const char *path)
{
    size_t low = 0, high = s->n_attempts;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const int order = strcmp(s->attempt[mid].path, path);

        if (!order)
            return &s->attempt[mid];
        *(order < 0 ? &low : &high) = order < 0 ? mid + 1 : mid;
    }
    DSE_GROW(s->attempt, s->cap_attempts, s->n_attempts + 1);
    memmove(&s->attempt[low + 1], &s->attempt[low], (s->n_attempts - low) * sizeof *s->attempt);
    s->attempt[low] = (attempt){.path = dse_realloc(NULL, strlen(path) + 1)};
    strcpy(s->attempt[low].path, path);
    s->n_attempts++;
    return &s->attempt[low];
}

/* A client of NFS may list a folder as it was up to a minute ago; what it changes itself makes it ask. */
static void renew_listing(const slurm *s)
{
    char path[PATH_MAX];
    int fd;

    snprintf(path, sizeof path, "%s/.look.%ld", s->how->folder, (long)getpid());
    if ((fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) >= 0)
        close(fd); /* where none can be made, the listing is as old as it is */
    unlink(path);
}

static dse_status import(slurm *s)
{
    char path[PATH_MAX];
    const char **name;
    dse_arena a;
    dse_status st;
    size_t n;

    dse_arena_init(&a);
    st = dse_list_names(s->how->folder, &a, &name, &n, s->err);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const size_t length = strlen(name[i]);

        if (length < 8 || strcmp(name[i] + length - 8, ".answers"))
            continue;
        snprintf(path, sizeof path, "%s/%s", s->how->folder, name[i]);
        st = exec_answers_read(path, &find_attempt(s, path)->read, take_answer, s, s->err);
        if (st == DSE_OK)
            st = s->calls->tick(s->calls->user, s->err);
    }
    dse_arena_free(&a);
    return st;
}

/* ---- what Slurm says of the jobs ----------------------------------------------------------- */

static void set_chunks(slurm *s, size_t n)
{
    dse_free(s->chunk);
    s->chunk = dse_calloc(n, sizeof *s->chunk);
    s->n_chunks = n;
}

static void note_task(slurm *s, char *text)
{
    exec_slurm_task t;
    chunk *c;

    if (!exec_slurm_read_task(text, &t))
        return;
    snprintf(s->job, sizeof s->job, "%s", t.job);
    if (t.index >= s->n_chunks)
        return;
    c = &s->chunk[t.index];
    c->live = !is_word_of(ended, DSE_COUNT(ended), t.state);
    if (!c->live)
        snprintf(c->state, sizeof c->state, "%s", t.state);
    else if (!strcmp(t.state, "PENDING"))
        snprintf(s->reason, sizeof s->reason, "%s", t.reason);
    else
        s->all_wait = false;
}

/* What squeue does not tell of any more has ended. */
static dse_status ask(slurm *s)
{
    char command[200];
    dse_strbuf said;
    char *rest = NULL;
    int code;

    if (!s->round)
        return DSE_OK;
    snprintf(command, sizeof command, "squeue -h -r -t all --name=%s-%" PRIu32 " -o '%%F|%%K|%%T|%%r' 2>&1",
             s->name, s->round);
    dse_strbuf_init(&said);
    code = exec_slurm_command(command, &said);
    if (code && !exec_was_interrupted()) {
        const bool long_silent = s->silent_since > 0 && now_seconds() - s->silent_since > SILENCE_SECONDS;

        if (!(s->silent_since > 0))
            say(s, "squeue does not answer (%.200s); the jobs go on, and so does this",
                exec_slurm_last_line(&said, "squeue"));
        s->silent_since = s->silent_since > 0 ? s->silent_since : now_seconds();
        dse_strbuf_free(&said);
        return long_silent || code == 127 ? dse_fail(s->err, DSE_E_CHILD,
                                                     "squeue cannot be asked for the jobs; they go on, and "
                                                     "the same command with --attach collects them")
                                          : DSE_OK;
    }
    if (!code) {
        s->silent_since = 0;
        s->all_wait = true;
        *s->reason = '\0';
        for (size_t i = 0; i < s->n_chunks; i++)
            s->chunk[i].live = false;
        for (char *l = strtok_r(said.data, "\n", &rest); said.len && l; l = strtok_r(NULL, "\n", &rest))
            note_task(s, l);
    }
    dse_strbuf_free(&said);
    return DSE_OK;
}

static bool any_live(const slurm *s)
{
    for (size_t i = 0; i < s->n_chunks; i++)
        if (s->chunk[i].live)
            return true;
    return false;
}

static void cancel(const slurm *s)
{
    char command[100];
    dse_strbuf said;

    snprintf(command, sizeof command, "scancel --name=%s-%" PRIu32 " 2>&1", s->name, s->round);
    dse_strbuf_init(&said);
    exec_slurm_command(command,
                       &said); /* what is still there is not needed; if it stays, it answers nobody */
    dse_strbuf_free(&said);
}

/* Says once why no task runs: at once where somebody has to do something. */
static void tell_reason(slurm *s)
{
    const bool is_held = is_word_of(held, DSE_COUNT(held), s->reason);
    const bool by_user = !strncmp(s->reason, "JobHeld", 7); /* by this one, or an administrator */

    if (!(s->wait_since > 0))
        s->wait_since = now_seconds();
    if (!*s->reason || !strcmp(s->reason, s->told) ||
        (!is_held && now_seconds() - s->wait_since < WAIT_SECONDS))
        return;
    snprintf(s->told, sizeof s->told, "%s", s->reason);
    say(s, "no task of job %s runs yet: %s%s%s", s->job, s->reason,
        by_user ? "; to let it run: scontrol release " : "", by_user ? s->job : "");
}

static dse_status check_reason(slurm *s)
{
    if (!any_live(s) || !s->all_wait) {
        s->wait_since = 0;
        return DSE_OK;
    }
    if (!is_word_of(never, DSE_COUNT(never), s->reason)) {
        tell_reason(s);
        return DSE_OK;
    }
    cancel(s);
    set_chunks(s, s->n_chunks);
    return dse_fail(
        s->err, DSE_E_CHILD,
        "Slurm would never start job %s (%s), which is cancelled; 'sinfo' lists partitions and their "
        "limits for --partition and --time",
        s->job, s->reason);
}

/* ---- what ended without all of its answers ------------------------------------------------- */

static bool is_answered(void *user, uint64_t hash)
{
    slurm *s = user;
    const line *l = find_line(s, hash);

    if (!l || l->answered)
        return true;
    s->next_hash = (size_t)(l - s->line);
    return false;
}

/* The first line of a chunk without an answer; NULL: it has all. */
static line *find_unanswered(slurm *s, size_t i)
{
    char path[PATH_MAX];

    s->next_hash = s->n;
    snprintf(path, sizeof path, "%s/%" PRIu32 ".%zu.lines", s->how->folder, s->round, i);
    exec_chunk_hashes(path, is_answered, s, NULL); /* one that is gone has none */
    return s->next_hash < s->n ? &s->line[s->next_hash] : NULL;
}

static bool was_begun(const slurm *s, size_t i)
{
    char prefix[PATH_MAX];
    const int n = snprintf(prefix, sizeof prefix, "%s/%" PRIu32 ".%zu.", s->how->folder, s->round, i);

    for (size_t k = 0; k < s->n_attempts; k++)
        if (!strncmp(s->attempt[k].path, prefix, (size_t)n))
            return true;
    return false;
}

/* The end of a task's log, in a line. */
static void read_last_words(const slurm *s, size_t i, char out[LAST_WORDS_BYTES + 1])
{
    char path[PATH_MAX];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/%" PRIu32 ".%zu.log", s->how->folder, s->round, i);
    if ((f = fopen(path, "r"))) {
        if (fseek(f, -LAST_WORDS_BYTES, SEEK_END) != 0)
            rewind(f);
        n = fread(out, 1, LAST_WORDS_BYTES, f);
        fclose(f);
    }
    while (n && strchr("\r\n ", out[n - 1]))
        n--;
    out[n] = '\0';
    for (size_t k = 0; k < n; k++)
        out[k] = out[k] == '\n' || out[k] == '\0' ? ' ' : out[k];
}

/* A task that ended before its last line: the first line without an answer is the one at which it did, if it
 * ran one at a time. *begun: tasks that ran at all and were not cancelled. */
static dse_status blame(slurm *s, size_t i, size_t *begun)
{
    line *l = find_unanswered(s, i);
    const chunk *c = &s->chunk[i];
    char last[LAST_WORDS_BYTES + 1], words[LAST_WORDS_BYTES + 200];

    if (!l || !strcmp(c->state, "CANCELLED") || !was_begun(s, i))
        return DSE_OK;
    ++*begun;
    if ((s->round == 1 && s->how->jobs > 1) || ++l->deaths < MAX_ATTEMPTS)
        return DSE_OK;
    read_last_words(s, i, last);
    snprintf(words, sizeof words, "its task of Slurm ended without an answer%s%s%s, twice%s%s",
             *c->state ? " (" : "", c->state, *c->state ? ")" : "", *last ? "; its last words: " : "", last);
    l->answered = true;
    s->n_answered++;
    return s->calls->failed(s->calls->user, l->task, words, s->err);
}

static dse_status end_round(slurm *s)
{
    size_t begun = 0, left = 0;
    char last[LAST_WORDS_BYTES + 1] = "";
    const char *state = "";
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < s->n_chunks; i++) {
        if (find_unanswered(s, i)) {
            left++;
            state = s->chunk[i].state;
            if (!*last)
                read_last_words(s, i, last);
        }
        st = blame(s, i, &begun);
    }
    if (st != DSE_OK || begun || !left || !s->is_ours || s->n_answered > s->answered_before)
        return st;
    return dse_fail(s->err, DSE_E_CHILD, "no task of job %s came to a result%s%s%s%s%s; %s", s->job,
                    *state ? " (" : "", state, *state ? ")" : "", *last ? ": " : "", last,
                    s->n_attempts ? "the same command with --attach submits the rest again"
                                  : "the nodes must see this program and these folders by the same names");
}

/* ---- submitting ---------------------------------------------------------------------------- */

static dse_status write_chunks(slurm *s, size_t n_chunks)
{
    exec_chunk_writer *w = dse_calloc(n_chunks, sizeof *w);
    char path[PATH_MAX];
    size_t k = 0;
    dse_status st = DSE_OK, end;

    for (size_t i = 0; st == DSE_OK && i < n_chunks; i++) {
        snprintf(path, sizeof path, "%s/%" PRIu32 ".%zu.lines", s->how->folder, s->round, i);
        st = exec_chunk_open(&w[i], path, s->err);
    }
    for (size_t i = 0; st == DSE_OK && i < s->n && !exec_was_interrupted(); i++) {
        const line *l = &s->line[s->order[i]];
        const char *text;

        if (l->answered)
            continue;
        if (!(text = s->again(s->calls->user, l->task)))
            st = dse_fail(s->err, DSE_E_IO, "a point cannot be made again");
        else
            st = exec_chunk_add(&w[k++ % n_chunks], text, s->err);
        if (st == DSE_OK && k % 1000 == 0)
            st = s->calls->tick(s->calls->user, s->err);
    }
    for (size_t i = 0; i < n_chunks; i++) {
        end = exec_chunk_close(&w[i], st == DSE_OK ? s->err : NULL);
        st = st == DSE_OK ? end : st;
    }
    dse_free(w);
    return st;
}

static dse_status say_interrupted(const slurm *s)
{
    if (s->is_ours && !*s->job)
        return dse_fail(s->err, DSE_E_INTERRUPT, "nothing was submitted%s",
                        s->round > 1 ? "; the same command with --attach goes on" : "");
    if (!*s->job) /* of an earlier process: squeue has not been asked, or knows none */
        return dse_fail(s->err, DSE_E_INTERRUPT, "the same command with --attach goes on");
    return dse_fail(s->err, DSE_E_INTERRUPT,
                    "job %s of Slurm goes on: the same command with --attach collects its results, 'scancel "
                    "--name=%s-%" PRIu32 "' cancels it",
                    s->job, s->name, s->round);
}

static dse_status submit(slurm *s)
{
    size_t left = s->n - s->n_answered;
    const size_t n_chunks = left < s->how->array_size ? left : s->how->array_size;
    char path[PATH_MAX];
    dse_strbuf script;
    dse_status st;

    s->round++;
    s->is_ours = true;
    s->all_wait = false;
    *s->job = '\0';
    s->answered_before = s->n_answered;
    s->ask_seconds = ASK_SECONDS;
    set_chunks(s, n_chunks);
    dse_strbuf_init(&script);
    exec_slurm_script(s->how, s->argv, s->name, s->round, n_chunks, &script);
    snprintf(path, sizeof path, "%s/%" PRIu32 ".sh", s->how->folder, s->round);
    st = write_chunks(s, n_chunks);
    if (st == DSE_OK && !exec_was_interrupted())
        st = dse_write_text(path, &script, s->err);
    dse_strbuf_free(&script);
    if (st != DSE_OK || exec_was_interrupted())
        return st;
    /* The job is found by its name, so that nothing is lost if this process ends now. */
    st = exec_slurm_sbatch(s->how->folder, path, s->job, s->err);
    if (st != DSE_OK && exec_was_interrupted()) {
        cancel(s); /* sbatch may have submitted it before it heard of Ctrl-C itself */
        if (s->err)
            *s->err = (dse_error)DSE_ERROR_INIT;
        return say_interrupted(s);
    }
    if (st != DSE_OK)
        return st;
    for (size_t i = 0; i < n_chunks; i++)
        s->chunk[i].live = true;
    left = (left + n_chunks - 1) / n_chunks;
    say(s, "job %s of Slurm: %zu task%s of up to %zu point%s%s", s->job, n_chunks, n_chunks == 1 ? "" : "s",
        left, left == 1 ? "" : "s", s->round > 1 ? ", which had no result" : "");
    return DSE_OK;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* What an earlier process has submitted: scripts are written when all lines of their round are. */
static dse_status find_rounds(slurm *s)
{
    char path[PATH_MAX];
    dse_strbuf text;
    uint32_t n_tasks;
    dse_status st = DSE_OK;

    for (;;) {
        snprintf(path, sizeof path, "%s/%" PRIu32 ".sh", s->how->folder, s->round + 1);
        if (!dse_is_file(path))
            break;
        s->round++;
    }
    if (!s->round)
        return DSE_OK;
    snprintf(path, sizeof path, "%s/%" PRIu32 ".sh", s->how->folder, s->round);
    dse_strbuf_init(&text);
    if ((st = dse_read_file(path, 1u << 20, &text, s->err)) == DSE_OK) {
        if (!exec_slurm_read_array(text.data, &n_tasks)) {
            dse_strbuf_free(&text);
            return dse_fail_at(
                s->err, DSE_E_IO, path,
                "this is not the script that was submitted: it has no array of tasks; cancel the "
                "jobs (scancel) and remove the folder");
        }
        set_chunks(s, n_tasks);
        for (size_t i = 0; i < s->n_chunks; i++)
            s->chunk[i].live = true; /* until squeue says otherwise */
    }
    dse_strbuf_free(&text);
    return st;
}

/* The name by which Slurm's jobs are found, in a file of its own. */
static dse_status open_folder(slurm *s)
{
    const char *folder = s->how->folder;
    char path[PATH_MAX];
    dse_strbuf name;
    dse_status st;

    snprintf(path, sizeof path, "%s/name", folder);
    if (!s->n && !dse_is_file(path))
        return DSE_OK; /* nothing is to be done, nor left of what was */
    if (dse_is_file(path) != s->how->attach)
        return s->how->attach
                   ? dse_fail(s->err, DSE_E_USAGE,
                              "there is no '%.300s', so nothing to attach to; leave --attach away", folder)
                   : dse_fail(s->err, DSE_E_USAGE,
                              "an earlier run has left its jobs and results in '%.300s'; go on with it by "
                              "--attach, or cancel them (scancel) and remove the folder",
                              folder);
    dse_strbuf_init(&name);
    if (s->how->attach) {
        st = dse_read_file(path, sizeof s->name, &name, s->err);
    } else {
        struct timespec t;

        clock_gettime(CLOCK_REALTIME, &t);
        dse_strbuf_addf(&name, "ccldse-%" PRIx64 "-%lx",
                        (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000, (unsigned long)getpid());
        if ((st = dse_mkdirs(folder, s->err)) == DSE_OK)
            st = dse_write_text(path, &name, s->err);
    }
    if (st == DSE_OK &&
        (name.len < 8 || strspn(name.data, "-abcdefghijklmnopqrstuvwxyz0123456789") != name.len))
        st = dse_fail_at(s->err, DSE_E_IO, path, "this is no name of a job");
    snprintf(s->name, sizeof s->name, "%s", name.data);
    dse_strbuf_free(&name);
    return st == DSE_OK ? find_rounds(s) : st;
}

static dse_status list_lines(slurm *s)
{
    const char *text;
    uint64_t task;

    while ((text = s->calls->next(s->calls->user, &task))) {
        DSE_GROW(s->line, s->cap, s->n + 1);
        s->line[s->n] = (line){.hash = exec_line_hash(text), .task = task, .number = (uint32_t)s->n};
        s->n++;
    }
    if (s->n)
        qsort(s->line, s->n, sizeof *s->line, compare_lines);
    s->order = dse_calloc(s->n, sizeof *s->order);
    for (size_t i = 0; i < s->n; i++) {
        s->order[s->line[i].number] = (uint32_t)i;
        if (i && s->line[i].hash == s->line[i - 1].hash)
            return dse_fail(s->err, DSE_E_RANGE,
                            "two points have the same hash; run them without --executor slurm");
    }
    return DSE_OK;
}

/* Asks and looks, where it is time to, and submits what has to be. */
static dse_status step(slurm *s, bool *over)
{
    const double start = now_seconds();
    const bool asks = start >= s->next_ask;
    dse_status st = asks ? ask(s) : DSE_OK;

    if (asks) {
        s->next_ask = now_seconds() + s->ask_seconds + 10 * (now_seconds() - start);
        s->ask_seconds = s->ask_seconds * 1.25 < MAX_ASK_SECONDS ? s->ask_seconds * 1.25 : MAX_ASK_SECONDS;
    }
    if (st == DSE_OK &&
        (asks || start >= s->next_look)) { /* also after asking: a task that has ended has written all */
        const double begun = now_seconds();

        if (asks && !any_live(s))
            renew_listing(s);
        st = import(s);
        s->next_look = now_seconds() + LOOK_SECONDS + 10 * (now_seconds() - begun);
    }
    if (st == DSE_OK && asks && !(s->silent_since > 0) && !any_live(s) && s->n_answered < s->n) {
        st = s->round ? end_round(s) : DSE_OK;
        if (st == DSE_OK && s->n_answered < s->n && !exec_was_interrupted())
            st = submit(s);
    } else if (st == DSE_OK) {
        st = check_reason(s);
    }
    *over = s->n_answered == s->n || s->how->detach;
    return st;
}

static void pause_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* All answers are there: tasks that have not ended yet, soon do, or are what Slurm has begun twice. */
static void settle(slurm *s)
{
    s->err = NULL;
    for (int i = 0; i < 3 && s->round && !exec_was_interrupted(); i++) {
        if (ask(s) != DSE_OK || !any_live(s))
            return;
        pause_ms(1000);
    }
    if (s->round)
        cancel(s);
}

static void say_damaged(const slurm *s)
{
    uint64_t n = s->n_garbled;

    for (size_t i = 0; i < s->n_attempts; i++) {
        struct stat sb;

        n += s->attempt[i].read.damaged +
             (stat(s->attempt[i].path, &sb) == 0 && (uint64_t)sb.st_size > s->attempt[i].read.at);
    }
    if (n)
        say(s, "%" PRIu64 " damaged line%s of results left out; points without a result were run again", n,
            n == 1 ? "" : "s");
}

static dse_status run(slurm *s)
{
    bool over = false;
    dse_status st = list_lines(s);

    if (st == DSE_OK)
        st = open_folder(s);
    over = !*s->name;
    while (st == DSE_OK && !over && !exec_was_interrupted()) {
        st = step(s, &over);
        if (st == DSE_OK)
            st = s->calls->tick(s->calls->user, s->err);
        if (st == DSE_OK && !over && !exec_was_interrupted())
            pause_ms(TICK_MS);
    }
    if (st == DSE_OK && s->n_answered < s->n && exec_was_interrupted())
        st = say_interrupted(s);
    return st;
}

dse_status exec_slurm_run(const exec_slurm *how, const char *const *argv, const exec_calls *calls,
                          const char *(*again)(void *user, uint64_t task), dse_error *err)
{
    slurm s = {
        .how = how, .argv = argv, .calls = calls, .again = again, .ask_seconds = ASK_SECONDS, .err = err};
    dse_status st;

    exec_watch_interrupts();
    st = run(&s);
    if (st == DSE_OK && s.n_answered == s.n) {
        settle(&s);
        say_damaged(&s);
    }
    if (st != DSE_OK && s.is_ours && s.round == 1 && !s.n_attempts && (!*s.job || !any_live(&s)))
        exec_slurm_clean(how); /* nothing was begun: the next try begins anew */
    exec_unwatch_interrupts();
    for (size_t i = 0; i < s.n_attempts; i++)
        dse_free(s.attempt[i].path);
    dse_free(s.attempt);
    dse_free(s.chunk);
    dse_free(s.line);
    dse_free(s.order);
    return st;
}

/* A task that Slurm has begun twice may make its file meanwhile. */
void exec_slurm_clean(const exec_slurm *how)
{
    const slurm s = {.how = how};
    dse_error why = DSE_ERROR_INIT;

    for (int i = 0; i < 3; i++) {
        why = (dse_error)DSE_ERROR_INIT;
        if (dse_remove_tree(how->folder, &why) == DSE_OK)
            return;
        pause_ms(TICK_MS);
    }
    say(&s, "%s; nothing in it is needed any more", dse_error_say(&why).text);
}
