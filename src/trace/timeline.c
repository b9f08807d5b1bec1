#include "trace/timeline.h"

#include "base/fs.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES (1u << 20)
#define LISTED                                                                                               \
    30 /* ranks of a group that are written out: of more, all but the last are left out, as in Kineto */
#define HOST_THREAD 1

/* Of events that take streams of their own, in the order of the categories of trace_ticks. */
typedef struct {
    const char *cat;
    const char *stream; /* what its threads are called */
    uint32_t first;     /* number of its first stream */
    uint32_t room;      /* streams from there on; those beyond have numbers that nobody else has */
} family;

enum { COMPUTE, COPIES, COLLECTIVES, MESSAGES, HOST, N_FAMILIES };

static const family families[N_FAMILIES] = {
    [COMPUTE] = {"kernel", "compute", 7, 1},           [COPIES] = {"gpu_memcpy", "remote memory", 8, 12},
    [COLLECTIVES] = {"kernel", "collectives", 20, 20}, [MESSAGES] = {"kernel", "send and receive", 40, 960},
    [HOST] = {"cpu_op", "host", HOST_THREAD, 6},
};

static const uint8_t family_of[] = {
    [TRACE_TICKS_COMPUTE] = COMPUTE, [TRACE_TICKS_COLLECTIVE] = COLLECTIVES, [TRACE_TICKS_SEND] = MESSAGES,
    [TRACE_TICKS_RECV] = MESSAGES,   [TRACE_TICKS_MEMORY] = COPIES,          [TRACE_TICKS_OTHER] = HOST,
    [TRACE_TICKS_CPU] = HOST,
};

static uint32_t stream_number(int f, size_t lane)
{
    return lane < families[f].room ? families[f].first + (uint32_t)lane
                                   : 1000000u * (uint32_t)(f + 1) + (uint32_t)lane;
}

/* When each stream of a family is free again; grows with what runs at a time. */
typedef struct {
    size_t n, cap;
    dse_time *end;
} lanes;

typedef struct {
    gzFile file;
    dse_strbuf text;   /* not written yet */
    dse_strbuf groups; /* the args of every group, one NUL-terminated text after the other */
    size_t *group_at;
    lanes lane[N_FAMILIES];
    const trace_ticks *t;
    const trace_timeline_groups *g;
    bool begun; /* an event was written */
} writer;

/* ---- what an event says --------------------------------------------------------------------- */

/* What comes out per element that goes in: one, n of the group, or its share. What the number of bytes means is the
 * simulator's (sim/collective.h). */
typedef enum { AS_IT_IS, GATHERED, SCATTERED } coming_out;

typedef struct {
    const char *name;
    coming_out out;
} collective;

/* By Chakra's numbers. */
static const collective collectives[] = {
    [0] = {"all_reduce", AS_IT_IS}, [2] = {"all_gather", GATHERED},      [5] = {"broadcast", AS_IT_IS},
    [6] = {"all_to_all", AS_IT_IS}, [7] = {"reduce_scatter", SCATTERED},
};

static collective collective_of(uint8_t type)
{
    return type < sizeof collectives / sizeof collectives[0] && collectives[type].name
               ? collectives[type]
               : (collective){"unknown", AS_IT_IS};
}

static void add_us(dse_strbuf *b, dse_time ns)
{
    dse_strbuf_addf(b, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

static void add_ranks(const uint32_t *rank, uint32_t n, dse_strbuf *b)
{
    dse_strbuf_adds(b, ",\"Process Group Ranks\":\"[");
    for (uint32_t i = 0; i < n; i++) {
        if (n > LISTED && i == LISTED - 1) {
            dse_strbuf_adds(b, ", ...");
            i = n - 1;
        }
        dse_strbuf_adds(b, i ? ", " : "");
        dse_strbuf_addu(b, rank[i]);
    }
    dse_strbuf_adds(b, "]\"");
}

static void add_desc(const char *desc, dse_strbuf *b)
{
    if (!desc)
        return;
    dse_strbuf_adds(b, ",\"Process Group Description\":");
    dse_json_quote(b, desc);
}

/* The args of each group once, since thousands of events have them. */
static bool groups_init(writer *w)
{
    size_t cap = 0;

    if (!DSE_GROW(w->group_at, cap, w->g->n))
        return false;
    for (uint32_t i = 0; i < w->g->n; i++) {
        const trace_timeline_group *group = &w->g->group[i];

        w->group_at[i] = w->groups.len;
        dse_strbuf_addf(&w->groups, ",\"Group size\":%" PRIu32 ",\"Process Group Name\":", group->n);
        dse_json_quote(&w->groups, group->name);
        add_desc(group->desc, &w->groups);
        add_ranks(group->rank, group->n, &w->groups);
        dse_strbuf_addc(&w->groups, '\0');
    }
    return !w->groups.failed;
}

static void add_elements(uint64_t in, uint64_t out, dse_strbuf *b)
{
    dse_strbuf_addf(b, ",\"In msg nelems\":%" PRIu64 ",\"Out msg nelems\":%" PRIu64 ",\"dtype\":\"Byte\"", in,
                    out);
}

static void add_collective(writer *w, uint64_t i)
{
    const trace_ticks *t = w->t;
    const trace_timeline_group *group = t->with[i] < w->g->n ? &w->g->group[t->with[i]] : NULL;
    collective c = collective_of(t->collective[i]);
    uint64_t in = t->bytes[i], n = group ? group->n : 0;

    dse_strbuf_addf(&w->text, ",\"Collective name\":\"%s\"", c.name);
    if (!group) { /* of dimensions of the network: who takes part is the simulator's to know */
        dse_strbuf_addf(&w->text, ",\"In msg nelems\":%" PRIu64 ",\"dtype\":\"Byte\"", in);
        return;
    }
    add_elements(in, c.out == GATHERED ? in * n : c.out == SCATTERED ? in / n : in, &w->text);
    dse_strbuf_adds(&w->text, w->groups.data + w->group_at[t->with[i]]);
}

static void add_message(writer *w, uint64_t i)
{
    const trace_ticks *t = w->t;
    bool sends = t->category[i] == TRACE_TICKS_SEND;
    uint32_t pair[2] = {t->rank[i], t->with[i]};

    dse_strbuf_addf(&w->text, ",\"Collective name\":\"%s\"", sends ? "send" : "recv");
    add_elements(t->bytes[i], t->bytes[i], &w->text);
    if (t->with[i] == DSE_NONE)
        return;
    if (pair[0] > pair[1])
        pair[0] = t->with[i], pair[1] = t->rank[i];
    dse_strbuf_addf(&w->text, ",\"Group size\":2");
    add_desc(w->g->messages, &w->text);
    add_ranks(pair, 2, &w->text);
}

/* ---- events --------------------------------------------------------------------------------- */

static void begin(writer *w, char ph, uint32_t pid, uint32_t tid)
{
    dse_strbuf_adds(&w->text, w->begun ? ",\n" : "\n");
    dse_strbuf_addf(&w->text, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, ph, pid, tid);
    w->begun = true;
}

static void add_times(writer *w, dse_time start, dse_time end)
{
    dse_strbuf_adds(&w->text, ",\"ts\":");
    add_us(&w->text, start);
    dse_strbuf_adds(&w->text, ",\"dur\":");
    add_us(&w->text, end - start);
}

/* The lowest stream that is free, a linear search: no more streams than run at a time, which is a handful, but for the
 * receives of a pipeline's stage, all of which wait from the start. False when out of memory. */
static bool take_lane(lanes *l, dse_time start, dse_time end, size_t *out)
{
    size_t i = 0;

    while (i < l->n && l->end[i] > start)
        i++;
    if (i == l->n) {
        if (!DSE_GROW(l->end, l->cap, l->n + 1))
            return false;
        l->n++;
    }
    l->end[i] = end;
    *out = i;
    return true;
}

static bool add_event(writer *w, uint64_t i)
{
    const trace_ticks *t = w->t;
    int f = family_of[t->category[i]];
    uint32_t stream;
    size_t lane;

    if (!take_lane(&w->lane[f], t->start[i], t->end[i], &lane))
        return false;
    stream = stream_number(f, lane);
    begin(w, 'X', t->rank[i], stream);
    dse_strbuf_addf(&w->text, ",\"cat\":\"%s\",\"name\":", families[f].cat);
    dse_json_quote(&w->text, t->name[i] ? t->name[i] : "");
    add_times(w, t->start[i], t->end[i]);
    dse_strbuf_addf(&w->text, ",\"args\":{\"node\":%" PRIu64, t->id[i]);
    if (f != HOST)
        dse_strbuf_addf(&w->text, ",\"device\":%" PRIu32 ",\"stream\":%" PRIu32, t->rank[i], stream);
    if (f == COLLECTIVES)
        add_collective(w, i);
    else if (f == MESSAGES)
        add_message(w, i);
    dse_strbuf_adds(&w->text, "}}");
    return true;
}

static void add_label(writer *w, const char *what, uint32_t pid, uint32_t tid, const char *text,
                      uint32_t number)
{
    begin(w, 'M', pid, tid);
    dse_strbuf_addf(&w->text, ",\"name\":\"%s\",\"args\":{\"name\":\"%s %" PRIu32 "\"}}", what, text, number);
}

static void add_rank(writer *w, uint32_t rank, dse_time wall)
{
    add_label(w, "process_name", rank, 0, "rank", rank);
    begin(w, 'M', rank, 0);
    dse_strbuf_addf(&w->text, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}}",
                    rank);
    begin(w, 'X', rank, 0);
    dse_strbuf_adds(&w->text, ",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\"");
    add_times(w, 0, wall);
    dse_strbuf_adds(&w->text, ",\"args\":{}}");
    for (int f = 0; f < N_FAMILIES; f++)
        w->lane[f].n = 0;
}

static void add_streams(writer *w, uint32_t rank)
{
    for (int f = 0; f < N_FAMILIES; f++)
        for (size_t i = 0; i < w->lane[f].n; i++)
            add_label(w, "thread_name", rank, stream_number(f, i), families[f].stream, stream_number(f, i));
}

/* ---- the file ------------------------------------------------------------------------------- */

static dse_status flush(writer *w, const char *path, dse_error *err)
{
    const char *at = w->text.data;
    size_t left = w->text.len;

    if (w->text.failed)
        return dse_fail_nomem(err);
    while (left) {
        unsigned part = left < CHUNK_BYTES ? (unsigned)left : CHUNK_BYTES;

        if (gzwrite(w->file, at, part) != (int)part)
            return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
        at += part;
        left -= part;
    }
    dse_strbuf_clear(&w->text);
    return DSE_OK;
}

/* Events of a rank stand together. */
static dse_status write_ranks(writer *w, const char *path, dse_error *err)
{
    const trace_ticks *t = w->t;
    uint64_t i = 0;
    dse_status st = DSE_OK;

    for (uint32_t rank = 0; st == DSE_OK && rank < t->n_ranks; rank++) {
        dse_time wall = 0;

        for (uint64_t k = i; k < t->n && t->rank[k] == rank; k++)
            wall = t->end[k] > wall ? t->end[k] : wall;
        add_rank(w, rank, wall);
        for (; st == DSE_OK && i < t->n && t->rank[i] == rank; i++) {
            if (!add_event(w, i))
                return dse_fail_nomem(err);
            if (w->text.len >= CHUNK_BYTES)
                st = flush(w, path, err);
        }
        add_streams(w, rank);
    }
    return st;
}

static dse_status write_all(writer *w, const char *path, dse_error *err)
{
    dse_status st;

    dse_strbuf_addf(&w->text, "{\"simulator\":\"ccldse\",\"world_size\":%" PRIu32 ",\"traceEvents\":[",
                    w->t->n_ranks);
    if ((st = write_ranks(w, path, err)) != DSE_OK)
        return st;
    dse_strbuf_adds(&w->text, "\n]}\n");
    return flush(w, path, err);
}

/* zlib writes plain text as well ("T"), so that both go one way. It gets a descriptor of its own to close. */
static dse_status open_file(writer *w, int fd, const char *path, dse_error *err)
{
    size_t n = strlen(path);
    bool compressed = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    int own = dup(fd);

    if (own < 0)
        return dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
    if (!(w->file = gzdopen(own, compressed ? "wb" : "wbT"))) {
        close(own);
        return dse_fail_nomem(err);
    }
    return DSE_OK;
}

dse_status trace_timeline_save(const trace_ticks *t, const trace_timeline_groups *g, const char *path,
                               dse_error *err)
{
    writer w = {.t = t, .g = g};
    dse_replacement r;
    dse_status st = dse_replacement_open(&r, path, err);

    if (st != DSE_OK)
        return st;
    dse_strbuf_init(&w.text);
    dse_strbuf_init(&w.groups);
    st = groups_init(&w) ? open_file(&w, r.fd, path, err) : dse_fail_nomem(err);
    if (st == DSE_OK)
        st = write_all(&w, path, err);
    if (w.file && gzclose(w.file) != Z_OK && st == DSE_OK)
        st = dse_fail_errno(err, DSE_E_IO, "cannot write '%s'", path);
    if (st == DSE_OK)
        st = dse_replacement_commit(&r, err);
    else
        dse_replacement_give_up(&r);
    for (int f = 0; f < N_FAMILIES; f++)
        dse_free(w.lane[f].end);
    dse_free(w.group_at);
    dse_strbuf_free(&w.groups);
    dse_strbuf_free(&w.text);
    return st;
}
