#include "trace/ranks.h"

#include "base/array.h"
#include "base/order.h"
#include "trace/reader.h"
#include "trace/source.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_DIGITS 9

/* ---- names ----------------------------------------------------------------------------------- */

/* Length of a name without its suffixes. */
static size_t stem_length(const char *name)
{
    static const char *const suffixes[] = {".gz",  ".json",   ".jsonl", ".trace", ".pt",     ".pickle",
                                           ".pkl", ".sqlite", ".csv",   ".pb",    ".xplane", ".txt"};
    size_t n = strlen(name);

    for (size_t i = 0; i < DSE_COUNT(suffixes);) {
        size_t s = strlen(suffixes[i]);

        if (n > s && strncasecmp(name + n - s, suffixes[i], s) == 0) {
            n -= s;
            i = 0;
        } else {
            i++;
        }
    }
    return n;
}

/* The number at the beginning of n bytes; DSE_NONE: none, too long, or followed by a letter. */
static uint32_t number_at(const char *text, size_t n)
{
    uint32_t v = 0;
    size_t i = 0;

    for (; i < n && isdigit((unsigned char)text[i]); i++)
        if (i == MAX_DIGITS)
            return DSE_NONE;
        else
            v = v * 10 + (uint32_t)(text[i] - '0');
    return i && (i == n || !isalpha((unsigned char)text[i])) ? v : DSE_NONE;
}

/* The number after a word: rank3, rank_3, rank-3, rank.3. */
static uint32_t after_the_word(const char *word, const char *stem, size_t n)
{
    size_t length = strlen(word);

    for (size_t i = 0; i + length < n; i++) {
        size_t at = i + length;
        uint32_t v;

        if (strncasecmp(stem + i, word, length) != 0 || (i && isalpha((unsigned char)stem[i - 1])))
            continue;
        at += strchr("_-.=", stem[at]) != NULL;
        if ((v = number_at(stem + at, n - at)) != DSE_NONE)
            return v;
    }
    return DSE_NONE;
}

static uint32_t of_host(const char *stem, size_t n)
{
    size_t at = n;

    while (at && isdigit((unsigned char)stem[at - 1]))
        at--;
    return at >= 3 && strncmp(stem + at - 3, "-w-", 3) == 0 ? number_at(stem + at, n - at) : DSE_NONE;
}

/* *at is where the number begins. */
static uint32_t last_field(const char *stem, size_t n, bool very_last, size_t *at)
{
    size_t end = n;

    while (end != SIZE_MAX) {
        size_t start = end;
        uint32_t v;

        while (start && stem[start - 1] != '_')
            start--;
        v = number_at(stem + start, end - start);
        for (size_t i = start; i < end; i++)
            if (!isdigit((unsigned char)stem[i]))
                v = DSE_NONE;
        *at = start;
        if (v != DSE_NONE || very_last || !start)
            return v;
        end = start - 1;
    }
    return DSE_NONE;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* What a name says without being compared with others: it has the word, or is called as a host or by the
 * original tools. */
static uint32_t rank_of_words(const char *name, trace_kind kind)
{
    static const char canonical[] = "kineto_trace_";
    size_t n = stem_length(name), at = strlen(canonical), end;
    uint32_t v = after_the_word("rank", name, n);

    if (v == DSE_NONE && (kind == TRACE_XLA || kind == TRACE_XLA_GPU))
        v = of_host(name, n);
    else if (v == DSE_NONE && strncmp(name, canonical, at) == 0)
        v = last_field(name, n, true, &end);
    return v;
}

static bool is_xla(trace_kind kind) { return kind == TRACE_XLA || kind == TRACE_XLA_GPU; }

uint32_t trace_rank_of_name(const char *path, trace_kind kind)
{
    const char *name = base_name(path);
    size_t n = stem_length(name), at;
    uint32_t v = rank_of_words(name, kind);

    if (v == DSE_NONE && !is_xla(kind))
        v = last_field(name, n, kind == TRACE_SNAPSHOT, &at);
    return v != DSE_NONE ? v : after_the_word("worker", name, n);
}

/* ---- before reading -------------------------------------------------------------------------- */

/* The number behind "rank" in the object distributedInfo, which Kineto writes before the events. */
static uint32_t rank_in(const char *head)
{
    const char *at = strstr(head, "\"distributedInfo\""), *end;
    unsigned long v;
    char *stop;

    if (!at || !(end = strchr(at, '}')) || !(at = strstr(at, "\"rank\"")) || at > end)
        return DSE_NONE;
    at += strlen("\"rank\"");
    at += strspn(at, " \t\r\n:");
    v = strtoul(at, &stop, 10);
    return stop != at && stop - at < 10 && *at != '-' ? (uint32_t)v : DSE_NONE;
}

uint32_t trace_peek_rank(const char *path)
{
    char *head = dse_realloc(NULL, TRACE_HEAD_BYTES);
    uint32_t v;

    trace_source_head(path, head, TRACE_HEAD_BYTES);
    v = rank_in(head);
    dse_free(head);
    return v != DSE_NONE ? v : trace_rank_of_name(path, TRACE_KINETO);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool same_file(const trace_rank *a, const trace_rank *b) { return strcmp(a->path, b->path) == 0; }

/* The ranks of one kind, in the order of their files. */
typedef struct {
    trace_rank *rank;
    uint32_t n;
    uint32_t n_files;
} kind_ranks;

/* Compares digits as numbers: trace2 is before trace10. Names that differ only in leading zeros are compared
 * as bytes. */
static int by_name(const char *a, const char *b)
{
    const char *x = a, *y = b;

    while (*x && *y) {
        size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");

        if (!m || !n) {
            if (*x != *y)
                return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
            x++, y++;
            continue;
        }
        for (; m > 1 && *x == '0'; m--)
            x++;
        for (; n > 1 && *y == '0'; n--)
            y++;
        if (m != n || memcmp(x, y, m) != 0)
            return m != n ? (m < n ? -1 : 1) : memcmp(x, y, m);
        x += m;
        y += n;
    }
    return *x || *y ? (*x ? 1 : -1) : strcmp(a, b);
}

static int by_kind(const void *a, const void *b)
{
    const trace_rank *x = a, *y = b;
    int order = (x->kind > y->kind) - (x->kind < y->kind);

    order = order ? order : by_name(x->path, y->path);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_number(const void *a, const void *b)
{
    const trace_rank *x = a, *y = b;
    int order = (x->kind > y->kind) - (x->kind < y->kind);

    order = order ? order : (x->rank > y->rank) - (x->rank < y->rank);
    return order ? order : strcmp(x->path, y->path);
}

static bool is_only_rank_of_file(const kind_ranks *k, uint32_t i)
{
    return (!i || !same_file(&k->rank[i - 1], &k->rank[i])) &&
           (i + 1 == k->n || !same_file(&k->rank[i], &k->rank[i + 1]));
}

/* Devices of Nsight Systems and of XLA count from 0 on every host, so several files do not tell ranks. */
static bool has_reliable_rank(const kind_ranks *k, const trace_rank *r)
{
    return r->has_rank && !((r->kind == TRACE_NSYS || r->kind == TRACE_XLA_GPU) && k->n_files > 1);
}

/* Whether names differ in one field alone, which is a number in both. */
static bool differ_in_a_number(const char *a, const char *b)
{
    size_t at, other;

    return last_field(a, stem_length(a), false, &at) != DSE_NONE &&
           last_field(b, stem_length(b), false, &other) != DSE_NONE && at == other &&
           strncmp(a, b, at) == 0 &&
           strcmp(a + at + strspn(a + at, "0123456789"), b + at + strspn(b + at, "0123456789")) == 0;
}

static bool has_number(const char *name)
{
    size_t at;

    return last_field(name, stem_length(name), false, &at) != DSE_NONE;
}

/* Files whose ranks neither they nor words of their names say: the first of them, and how the others' names
 * differ from its. */
typedef struct {
    const trace_rank *first, *other; /* other: differs in more than a number; NULL: none does */
    bool alike;                      /* there are several, and they differ in a number alone */
} unnamed;

static unnamed find_unnamed(const kind_ranks *k)
{
    unnamed u = {0};

    for (uint32_t i = 0; i < k->n; i++) {
        const trace_rank *r = &k->rank[i];
        const char *name = base_name(r->path);

        if (r->has_rank || !is_only_rank_of_file(k, i) || rank_of_words(name, r->kind) != DSE_NONE)
            continue;
        if (!u.first) {
            u.first = r;
            continue;
        }
        u.alike = true;
        if (!u.other && !differ_in_a_number(base_name(u.first->path), name))
            u.other = r;
    }
    u.alike = u.alike && !u.other;
    return u;
}

/* A number that no other file's name has in its place may be anything: a model's size, a run. */
static uint32_t rank_of_name(const trace_rank *r, bool alike)
{
    const char *name = base_name(r->path);
    uint32_t v = rank_of_words(name, r->kind);

    if (v == DSE_NONE && (alike || !has_number(name)))
        v = trace_rank_of_name(r->path, r->kind);
    return v;
}

static void take_rank_of_name(const kind_ranks *k, uint32_t i, bool alike)
{
    trace_rank *r = &k->rank[i];
    uint32_t v = is_only_rank_of_file(k, i) ? rank_of_name(r, alike) : DSE_NONE;

    r->has_rank = v != DSE_NONE && (!r->world_size || v < r->world_size);
    if (r->has_rank)
        r->rank = v;
    else if (k->n_files == 1) /* numbered by its place in the only file */
        r->has_rank = true;
}

/* Gives ranks without a number the lowest free ones. */
static void number_the_rest(const kind_ranks *k, trace_record *notes)
{
    uint32_t *taken = dse_calloc(k->n, sizeof *taken), n_taken = 0, next = 0, at = 0, first = DSE_NONE, n = 0;

    for (uint32_t i = 0; i < k->n; i++)
        if (k->rank[i].has_rank)
            taken[n_taken++] = k->rank[i].rank;
    qsort(taken, n_taken, sizeof *taken, dse_by_u32);
    for (uint32_t i = 0; i < k->n; i++) {
        if (k->rank[i].has_rank)
            continue;
        for (; at < n_taken && taken[at] <= next; at++)
            next += taken[at] == next;
        first = n++ ? first : i;
        k->rank[i].rank = next++;
    }
    dse_free(taken);
    if (n)
        trace_warn(notes, k->rank[first].path,
                   "neither this file nor its name says which rank it is%s: numbered %" PRIu32
                   " by the order of names",
                   n > 1 ? " (nor others do)" : "", k->rank[first].rank);
}

static dse_status fail_different_jobs(const trace_rank *a, const trace_rank *b, const char *how,
                                      dse_error *err)
{
    return dse_fail(err, DSE_E_CONFIG, "'%.200s' and '%.200s' are not of one job: %s; give one job at a time",
                    a->path, base_name(b->path), how);
}

static dse_status settle_kind(const kind_ranks *k, trace_record *notes, dse_error *err)
{
    unnamed u = find_unnamed(k);

    if (u.other && has_number(base_name(u.first->path)) && has_number(base_name(u.other->path)))
        return fail_different_jobs(
            u.first, u.other, "neither says its rank, and their names differ in more than a number", err);
    for (uint32_t i = 0; i < k->n; i++)
        if (!has_reliable_rank(k, &k->rank[i]))
            take_rank_of_name(k, i, u.alike);
    number_the_rest(k, notes);
    return DSE_OK;
}

static dse_status settle_kinds(trace_record *r, dse_error *err)
{
    dse_status st = DSE_OK;

    for (uint32_t a = 0, b = 0; st == DSE_OK && a < r->n_ranks; a = b) {
        kind_ranks k = {.rank = &r->rank[a], .n_files = 1};

        while (++b < r->n_ranks && r->rank[b].kind == r->rank[a].kind)
            k.n_files += !same_file(&r->rank[b - 1], &r->rank[b]);
        k.n = b - a;
        st = settle_kind(&k, r, err);
    }
    return st;
}

/* ---- one job --------------------------------------------------------------------------------- */

/* All timelines of a run must come from one profiler; memory snapshots may lie beside any. */
static dse_status check_kinds(const trace_record *r, dse_error *err)
{
    for (uint32_t i = 1; i < r->n_ranks; i++)
        if (r->rank[i].kind != r->rank[0].kind && r->rank[i].kind != TRACE_SNAPSHOT) {
            char how[128];

            snprintf(how, sizeof how, "one is of the %ss, the other of the %ss",
                     trace_kind_name(r->rank[0].kind), trace_kind_name(r->rank[i].kind));
            return fail_different_jobs(&r->rank[0], &r->rank[i], how, err);
        }
    return DSE_OK;
}

static dse_status check_numbers(const trace_record *r, dse_error *err)
{
    const trace_rank *sized = NULL;

    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const trace_rank *a = &r->rank[i], *b = i + 1 < r->n_ranks ? a + 1 : NULL;
        char how[128];

        if (sized && a->world_size && a->world_size != sized->world_size) {
            snprintf(how, sizeof how, "world_size is %" PRIu32 " in one, %" PRIu32 " in the other",
                     sized->world_size, a->world_size);
            return fail_different_jobs(sized, a, how, err);
        }
        sized = a->world_size ? a : sized;
        if (b && a->kind == b->kind && a->rank == b->rank)
            return dse_fail(err, DSE_E_CONFIG,
                            "'%.200s' and '%.200s' both are rank %" PRIu32
                            ": of several jobs, or recorded twice; give one of them, or a directory "
                            "without the other",
                            a->path, base_name(b->path), a->rank);
    }
    return DSE_OK;
}

/* The members of the group of all ranks, as the file spells them; NULL if the file declares none. */
static const char *world_of(const trace_rank *r)
{
    for (size_t i = 0; i < r->n_groups && r->world_size; i++)
        if (r->group[i].size == r->world_size && r->group[i].ranks != DSE_NONE &&
            r->names.length[r->group[i].ranks] > 2) /* "[]" */
            return r->names.text[r->group[i].ranks];
    return NULL;
}

static bool declares(const trace_rank *r, const char *members)
{
    for (size_t i = 0; i < r->n_groups; i++)
        if (r->group[i].ranks != DSE_NONE && strcmp(r->names.text[r->group[i].ranks], members) == 0)
            return true;
    return false;
}

/* A rank that declares groups is in the group of all ranks, and every file of a job spells its members
 * alike. */
static dse_status check_groups(const trace_record *r, dse_error *err)
{
    const trace_rank *first = NULL;

    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const char *members = world_of(&r->rank[i]);

        if (!members)
            continue;
        if (first && !declares(first, members) && !declares(&r->rank[i], world_of(first)))
            return fail_different_jobs(first, &r->rank[i],
                                       "their process groups of all ranks have other members", err);
        first = first ? first : &r->rank[i];
    }
    return DSE_OK;
}

#define SINCE_1970_NS (1000000000 * (int64_t)1000000000) /* below it a clock counts from something else */
#define HOUR_NS       (3600 * (int64_t)1000000000)

/* Says it where clocks that tell the date put files of one profiler hours apart. */
static void warn_if_apart(trace_record *r)
{
    const trace_rank *first = NULL, *last = NULL;

    for (uint32_t i = 0; i < r->n_ranks; i++) {
        const trace_rank *a = &r->rank[i];

        if (a->kind == TRACE_SNAPSHOT || a->base_ns < SINCE_1970_NS)
            continue;
        first = !first || a->base_ns < first->base_ns ? a : first;
        last = !last || a->base_ns > last->base_ns ? a : last;
    }
    if (first && last->base_ns - first->base_ns > HOUR_NS)
        trace_warn(r, first->path,
                   "was recorded %" PRId64
                   " hours before '%.200s': if they are of two jobs, give one at a time",
                   (last->base_ns - first->base_ns) / HOUR_NS, base_name(last->path));
}

dse_status trace_settle_ranks(trace_record *r, dse_error *err)
{
    dse_status st;

    if (r->n_ranks)
        qsort(r->rank, r->n_ranks, sizeof *r->rank, by_kind);
    if ((st = check_kinds(r, err)) != DSE_OK)
        return st;
    st = settle_kinds(r, err);
    if (st == DSE_OK && r->n_ranks)
        qsort(r->rank, r->n_ranks, sizeof *r->rank, by_number);
    if (st == DSE_OK)
        st = check_numbers(r, err);
    if (st == DSE_OK)
        st = check_groups(r, err);
    if (st == DSE_OK)
        warn_if_apart(r);
    return st;
}
