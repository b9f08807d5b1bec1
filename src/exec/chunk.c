#include "exec/chunk.h"

#include "base/fs.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PENDING_BYTES (16u << 10)
#define READ_BYTES    (256u << 10)
#define MAX_LINE      (17u << 20) /* a little more than the longest answer of a worker (pool.c) */
#define HEAD_BYTES    36u         /* "CHECK HASH a " */
#define FLUSH_SECONDS 0.5 /* what a crash may lose; a write to a network's file system takes its time */

uint64_t exec_line_hash(const char *line) { return dse_hash_bytes(line, strlen(line)); }

/* Appends to a file. A part that was written before a failure stays: it has no valid checksum. */
static dse_status append(int fd, const char *path, const dse_strbuf *text, dse_error *err)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
        at += (size_t)n;
    }
    return DSE_OK;
}

/* ---- lines --------------------------------------------------------------------------------- */

static dse_status flush_lines(exec_chunk_writer *w, int flags, dse_error *err)
{
    int fd = open(w->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
    dse_status st;

    if (fd < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", w->path);
    st = append(fd, w->path, &w->pending, err);
    if (close(fd) != 0 && st == DSE_OK)
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", w->path);
    dse_strbuf_clear(&w->pending);
    return st;
}

dse_status exec_chunk_open(exec_chunk_writer *w, const char *path, dse_error *err)
{
    w->path = strcpy(dse_realloc(NULL, strlen(path) + 1), path);
    dse_strbuf_init(&w->before);
    dse_strbuf_init(&w->pending);
    return flush_lines(w, O_TRUNC, err);
}

dse_status exec_chunk_add(exec_chunk_writer *w, const char *line, dse_error *err)
{
    size_t shared = 0;

    while (shared < w->before.len && line[shared] && line[shared] == w->before.data[shared])
        shared++;
    dse_strbuf_addf(&w->pending, "%016" PRIx64 " %zu ", exec_line_hash(line), shared);
    dse_strbuf_adds(&w->pending, line + shared);
    dse_strbuf_addc(&w->pending, '\n');
    dse_strbuf_clear(&w->before);
    dse_strbuf_adds(&w->before, line);
    return w->pending.len < PENDING_BYTES ? DSE_OK : flush_lines(w, 0, err);
}

dse_status exec_chunk_close(exec_chunk_writer *w, dse_error *err)
{
    dse_status st = w->pending.len ? flush_lines(w, 0, err) : DSE_OK;

    if (w->path) {
        dse_strbuf_free(&w->before);
        dse_strbuf_free(&w->pending);
    }
    dse_free(w->path);
    w->path = NULL;
    return st;
}

/* The hash at the head of a line of a file, which ends with a blank. */
static bool read_hash(const char *text, uint64_t *out)
{
    char *end;

    *out = strtoull(text, &end, 16);
    return end == text + 16 && *end == ' ';
}

dse_status exec_chunk_hashes(const char *path, bool (*take)(void *user, uint64_t hash), void *user,
                             dse_error *err)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t cap = 0;
    uint64_t hash;

    if (!f)
        return dse_fail_errno(err, DSE_E_IO, "cannot read '%s'", path);
    while (getline(&text, &cap, f) > 0 && read_hash(text, &hash) && take(user, hash))
        ;
    free(text); /* getline's own */
    fclose(f);
    return DSE_OK;
}

/* ---- answers ------------------------------------------------------------------------------- */

/* A line, without its newline, ended by NUL. */
static dse_status take_line(char *text, size_t n, exec_answers *a, exec_take_answer *take, void *user,
                            dse_error *err)
{
    uint64_t check, hash;

    if (n < HEAD_BYTES || memchr(text, '\0', n) || !read_hash(text, &check) || !read_hash(text + 17, &hash) ||
        (text[34] != 'a' && text[34] != 'f') || text[35] != ' ' ||
        check != dse_hash_bytes(text + 17, n - 17)) {
        a->damaged++;
        return DSE_OK;
    }
    if (text[34] == 'f')
        for (char *c = text + HEAD_BYTES; *c; c++)
            *c = *c == '\x1f' ? '\n' : *c;
    return take(user, hash, text[34] == 'f', text + HEAD_BYTES, err);
}

/* Takes the whole lines in a buffer that begins at a->at; returns how many bytes they have. */
static dse_status take_lines(dse_strbuf *b, exec_answers *a, exec_take_answer *take, void *user,
                             dse_error *err)
{
    size_t at = 0;
    char *newline;
    dse_status st = DSE_OK;

    while (st == DSE_OK && (newline = memchr(b->data + at, '\n', b->len - at))) {
        const size_t n = (size_t)(newline - b->data) - at;

        *newline = '\0';
        if (!a->skipping)
            st = take_line(b->data + at, n, a, take, user, err);
        a->skipping = false;
        at += n + 1;
    }
    if (a->skipping || b->len - at > MAX_LINE) {
        a->damaged += !a->skipping;
        a->skipping = true;
        at = b->len;
    }
    a->at += at;
    memmove(b->data, b->data + at, b->len - at);
    b->len -= at;
    b->data[b->len] = '\0';
    return st;
}

dse_status exec_answers_read(const char *path, exec_answers *a, exec_take_answer *take, void *user,
                             dse_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *piece;
    dse_strbuf b;
    dse_status st = DSE_OK;
    ssize_t n = 0;

    if (fd < 0)
        return DSE_OK;
    dse_strbuf_init(&b);
    piece = dse_realloc(NULL, READ_BYTES);
    if (lseek(fd, (off_t)a->at, SEEK_SET) >= 0)
        while (st == DSE_OK && (n = read(fd, piece, READ_BYTES)) > 0) {
            dse_strbuf_add(&b, piece, (size_t)n);
            st = take_lines(&b, a, take, user, err);
        }
    dse_free(piece);
    dse_strbuf_free(&b);
    close(fd);
    return st;
}

/* ---- the worker's side --------------------------------------------------------------------- */

typedef struct {
    FILE *lines;
    char *text; /* getline's own */
    size_t cap;
    uint64_t number; /* of the line in the file */
    dse_strbuf line; /* that was read last */
    uint64_t *answered;
    size_t n_answered, cap_answered;
    dse_error damage; /* where `next` cannot say so */

    char path[4096]; /* of the answers */
    int fd;
    dse_strbuf pending;
    struct timespec flushed;
} server;

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static dse_status note_answered(void *user, uint64_t hash, bool failed, const char *text, dse_error *err)
{
    server *s = user;

    (void)failed, (void)text, (void)err;
    DSE_GROW(s->answered, s->cap_answered, s->n_answered + 1);
    s->answered[s->n_answered++] = hash;
    return DSE_OK;
}

/* What earlier attempts have answered. One that still runs does the rest as well: both give the same. */
static dse_status find_answered(server *s, const char *prefix, dse_error *err)
{
    const char *slash = strrchr(prefix, '/'), *base = slash ? slash + 1 : prefix;
    const size_t n_base = strlen(base);
    char path[4096];
    const char **name;
    size_t n;
    dse_arena a;
    dse_status st;

    dse_arena_init(&a);
    snprintf(path, sizeof path, "%.*s", slash ? (int)(slash - prefix) : 1, slash ? prefix : ".");
    st = dse_list_names(path, &a, &name, &n, err);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        const size_t length = strlen(name[i]);
        exec_answers read = {0};

        if (length < 8 || strcmp(name[i] + length - 8, ".answers") || strncmp(name[i], base, n_base) ||
            name[i][n_base] != '.')
            continue;
        snprintf(path, sizeof path, "%.*s%s", (int)(base - prefix), prefix, name[i]);
        st = exec_answers_read(path, &read, note_answered, s, err);
    }
    dse_arena_free(&a);
    if (s->n_answered)
        qsort(s->answered, s->n_answered, sizeof *s->answered, compare_hashes);
    return st;
}

/* The next line of the file into s->line. */
static bool read_line(server *s, uint64_t *hash)
{
    const ssize_t n = getline(&s->text, &s->cap, s->lines);
    size_t shared = 0;
    char *end = s->text;

    if (n <= 0)
        return false;
    s->number++;
    if (read_hash(s->text, hash))
        shared = strtoull(s->text + 17, &end, 10);
    if (end == s->text || *end != ' ' || shared > s->line.len || s->text[n - 1] != '\n') {
        *hash = 0;
    } else {
        if (s->line.len)
            s->line.data[s->line.len = shared] = '\0';
        dse_strbuf_add(&s->line, end + 1, (size_t)(s->text + n - end) - 2);
    }
    if (*hash == exec_line_hash(s->line.data))
        return true;
    dse_fail(&s->damage, DSE_E_SYNTAX, "line %" PRIu64 " is damaged", s->number);
    return false;
}

static const char *next_line(void *user, uint64_t *task)
{
    server *s = user;

    while (s->damage.status == DSE_OK && read_line(s, task))
        if (!s->n_answered || !bsearch(task, s->answered, s->n_answered, sizeof *s->answered, compare_hashes))
            return s->line.data;
    return NULL;
}

static dse_status flush_answers(server *s, bool now, dse_error *err)
{
    struct timespec t;
    dse_status st;

    clock_gettime(CLOCK_MONOTONIC, &t);
    if (!s->pending.len ||
        (!now && (double)(t.tv_sec - s->flushed.tv_sec) + (double)(t.tv_nsec - s->flushed.tv_nsec) * 1e-9 <
                     FLUSH_SECONDS))
        return DSE_OK;
    s->flushed = t;
    st = append(s->fd, s->path, &s->pending, err);
    dse_strbuf_clear(&s->pending);
    return st;
}

static dse_status keep(void *user, uint64_t hash, char kind, const char *text)
{
    server *s = user;
    const size_t at = s->pending.len;
    char check[17];

    dse_strbuf_addf(&s->pending, "%16s %016" PRIx64 " %c ", "", hash, kind);
    dse_strbuf_adds(&s->pending, text);
    for (char *c = s->pending.data + at; *c; c++)
        *c = *c == '\n' ? '\x1f' : *c;
    snprintf(check, sizeof check, "%016" PRIx64,
             dse_hash_bytes(s->pending.data + at + 17, s->pending.len - at - 17));
    memcpy(s->pending.data + at, check, 16);
    dse_strbuf_addc(&s->pending, '\n');
    return DSE_OK;
}

static dse_status take_answer(void *user, uint64_t hash, const char *text, dse_error *err)
{
    (void)err;
    return keep(user, hash, 'a', text);
}

static dse_status take_failure(void *user, uint64_t hash, const char *words, dse_error *err)
{
    (void)err;
    return keep(user, hash, 'f', words);
}

static dse_status tick(void *user, dse_error *err) { return flush_answers(user, false, err); }

static dse_status open_files(server *s, const char *prefix, dse_error *err)
{
    char host[128] = "";
    struct timespec t;

    snprintf(s->path, sizeof s->path, "%s.lines", prefix);
    if (!(s->lines = fopen(s->path, "r")))
        return dse_fail_errno(err, DSE_E_IO, "cannot read '%s'", s->path);
    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(s->path, sizeof s->path, "%s.%s.%ld.%" PRIu64 ".answers", prefix, host, (long)getpid(),
             (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
    s->fd = open(s->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return s->fd >= 0 ? DSE_OK : dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", s->path);
}

dse_status exec_chunk_serve(const char *prefix, const char *const *argv, uint32_t n_workers,
                            double limit_seconds, const char *limit_name, dse_error *err)
{
    server s = {.fd = -1};
    const exec_calls calls = {next_line, take_answer, take_failure, tick, &s, limit_seconds, limit_name};
    dse_status st, last;

    dse_strbuf_init(&s.line);
    dse_strbuf_init(&s.pending);
    st = find_answered(&s, prefix, err);
    if (st == DSE_OK)
        st = open_files(&s, prefix, err);
    if (st == DSE_OK)
        st = exec_pool_run(argv, n_workers, &calls, err);
    last = s.fd >= 0 ? flush_answers(&s, true, st == DSE_OK ? err : NULL) : DSE_OK;
    if (st == DSE_OK && last == DSE_OK && s.damage.status != DSE_OK)
        last = dse_fail_at(err, s.damage.status, prefix, "%s", s.damage.text);
    if (s.fd >= 0)
        close(s.fd);
    if (s.lines)
        fclose(s.lines);
    free(s.text);
    dse_free(s.answered);
    dse_strbuf_free(&s.line);
    dse_strbuf_free(&s.pending);
    return st == DSE_OK ? last : st;
}
