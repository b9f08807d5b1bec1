/* Cases of the reference: the same actions, times and peaks, or a refusal. */
#include "schedule/cases.h"
#include "support/sha256.h"

#include <stdio.h>
#include <string.h>

static const char *const set_names[N_SETS] = {"U", "N", "C", "S"};

void differs(tally *t, const char *id, const char *fmt, ...)
{
    va_list ap;

    t->n_different++;
    if (t->n_different > 20)
        return;
    printf("%s: ", id);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
}

static const char *text_of(const json_t *row, const char *key)
{
    return json_string_value(json_object_get(row, key));
}

static uint32_t number_of(const json_t *row, const char *key)
{
    return (uint32_t)json_integer_value(json_object_get(row, key));
}

/* ---- an accepted plan ---------------------------------------------------------------------- */

static void add_rows(const sched_plan *p, dse_strbuf *out)
{
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        if (r)
            dse_strbuf_addc(out, '\n');
        sched_add_row(p, r, out);
    }
}

static void check_actions(const json_t *row, const sched_plan *p, tally *t)
{
    const json_t *listed = json_object_get(row, "compute");
    const char *id = text_of(row, "id"), *sha = text_of(row, "sha_compute");
    dse_strbuf rows;
    char digest[65];

    dse_strbuf_init(&rows);
    add_rows(p, &rows);
    sha256_hex(rows.data, rows.len, digest);
    if (!sha || strncmp(digest, sha, 16) != 0)
        differs(t, id, "other actions");
    for (uint32_t r = 0; r < json_array_size(listed); r++) {
        dse_strbuf_clear(&rows);
        sched_add_row(p, r, &rows);
        if (strcmp(rows.data, json_string_value(json_array_get(listed, r))) != 0)
            differs(t, id, "rank %u: %s", r, rows.data);
    }
    dse_strbuf_free(&rows);
}

static void check_numbers(const json_t *list, const char *what, const char *id, const uint64_t *seen,
                          size_t n, tally *t)
{
    if (!list)
        return;
    if (json_array_size(list) != n)
        differs(t, id, "%s: %zu of them", what, n);
    for (size_t i = 0; i < n; i++)
        if ((uint64_t)json_integer_value(json_array_get(list, i)) != seen[i])
            differs(t, id, "%s[%zu] is %llu", what, i, (unsigned long long)seen[i]);
}

/* A list for each rank; an overlapped pair is one action there. */
static void check_starts(const json_t *starts, const char *id, const sched_plan *p, const sched_times *seen,
                         tally *t)
{
    if (!starts)
        return;
    t->n_starts++;
    for (uint32_t r = 0; r < p->n_ranks; r++) {
        const json_t *list = json_array_get(starts, r);
        size_t n = 0;

        for (uint32_t i = p->first[r]; i < p->first[r + 1]; i += p->action[i].with_next ? 2 : 1, n++)
            if ((uint64_t)json_integer_value(json_array_get(list, n)) != seen->start[i])
                differs(t, id, "rank %u, action %zu starts at %llu", r, n,
                        (unsigned long long)seen->start[i]);
        if (n != json_array_size(list))
            differs(t, id, "rank %u: %zu actions", r, n);
    }
}

static void check_times(const json_t *row, const outcome *seen, tally *t)
{
    for (int set = 0; set < N_SETS; set++) {
        const json_t *sim = json_object_get(json_object_get(row, "sim"), set_names[set]);
        const sched_times *times = &seen->times[set];
        uint32_t n = seen->plan->n_ranks;

        t->n_makespans++;
        if ((uint64_t)json_integer_value(json_object_get(sim, "makespan")) != times->makespan)
            differs(t, seen->id, "makespan of %s is %llu", set_names[set],
                    (unsigned long long)times->makespan);
        check_numbers(json_object_get(sim, "first"), "first", seen->id, times->first, n, t);
        check_numbers(json_object_get(sim, "end"), "end", seen->id, times->last, n, t);
        check_numbers(json_object_get(sim, "busy"), "busy", seen->id, times->busy, n, t);
        check_starts(json_object_get(sim, "starts"), seen->id, seen->plan, times, t);
    }
}

static void check_peaks(const json_t *row, const outcome *seen, tally *t)
{
    for (uint32_t r = 0; r < seen->plan->n_ranks; r++) {
        if (json_integer_value(json_array_get(json_object_get(row, "peak_live_I"), r)) != seen->peak_i[r])
            differs(t, seen->id, "peak_live_I[%u] is %u", r, seen->peak_i[r]);
        if (json_integer_value(json_array_get(json_object_get(row, "peak_live_W"), r)) != seen->peak_w[r])
            differs(t, seen->id, "peak_live_W[%u] is %u", r, seen->peak_w[r]);
    }
}

static void compose_sets(const sched_plan *p, dse_arena *a, outcome *out, tally *t)
{
    dse_error err = DSE_ERROR_INIT;
    sched_order order;
    sched_costs costs;

    out->plan = p;
    out->peak_i = DSE_ARENA_NEW(a, uint32_t, p->n_ranks);
    out->peak_w = DSE_ARENA_NEW(a, uint32_t, p->n_ranks);
    sched_peak_live(p, out->peak_i, out->peak_w);
    if (sched_order_make(p, a, &order, &err) != DSE_OK) {
        differs(t, out->id, "%s", err.text);
        memset(out->times, 0, sizeof out->times);
        return;
    }
    for (int set = 0; set < N_SETS; set++) {
        if (sched_costs_parse(set_names[set], p, a, &costs, &err) != DSE_OK)
            differs(t, out->id, "%s", err.text);
        sched_times_init(&out->times[set], p, a);
        sched_compose(&order, &costs, &out->times[set]);
    }
}

/* ---- a case -------------------------------------------------------------------------------- */

static void check_plan(const json_t *row, const char *name, const sched_options *o, tally *t)
{
    bool accepted = json_is_true(json_object_get(row, "ok"));
    outcome seen = {.id = text_of(row, "id")};
    dse_error err = DSE_ERROR_INIT;
    sched_plan plan;
    dse_arena a;
    bool made;

    dse_arena_init(&a);
    made = sched_make(sched_find(name), o, &a, &plan, &err) == DSE_OK;
    if (accepted)
        t->n_accepted++;
    else
        t->n_refused++;
    if (made != accepted)
        differs(t, seen.id, "%s", made ? "accepted" : err.text);
    if (made && accepted) {
        check_actions(row, &plan, t);
        compose_sets(&plan, &a, &seen, t);
        check_times(row, &seen, t);
        check_peaks(row, &seen, t);
        check_closed_forms(name, o, &seen, t);
    }
    dse_arena_free(&a);
}

/* The recorded rows as a file; without DualPipe's transfers, "{S1+R0}", which are not PyTorch's form. */
static void add_file(const json_t *rows, dse_strbuf *out)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *s = json_string_value(json_array_get(rows, i));

        for (; *s; s++) {
            if (*s == '{')
                s = strchr(s, '}');
            else
                dse_strbuf_addc(out, *s);
        }
        dse_strbuf_adds(out, "\r\n");
    }
}

static sched_options options_of(const json_t *row, sched_like like)
{
    return (sched_options){.pp = number_of(row, "pp"),
                           .micro_batches = number_of(row, "m"),
                           .vp = number_of(row, "v"),
                           .like = like};
}

static void check_file_of(const json_t *row, const json_t *rows, tally *t)
{
    sched_options sizes = options_of(row, SCHED_LIKE_ANY);
    bool complete = json_is_true(json_object_get(row, "ok"));
    outcome seen = {.id = text_of(row, "id")};
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf text;
    sched_plan plan;
    dse_arena a;
    bool read;

    if (!json_is_array(rows))
        return;
    dse_arena_init(&a);
    dse_strbuf_init(&text);
    add_file(rows, &text);
    t->n_files++;
    read = sched_read_csv(text.data, text.len, seen.id, &a, &plan, &err) == DSE_OK &&
           sched_check_sizes(&plan, &sizes, seen.id, &err) == DSE_OK;
    if (read != complete)
        differs(t, seen.id, "%s", read ? "read" : err.text);
    if (read && complete) {
        check_actions(row, &plan, t);
        compose_sets(&plan, &a, &seen, t);
        check_times(row, &seen, t);
        check_peaks(row, &seen, t);
    }
    dse_strbuf_free(&text);
    dse_arena_free(&a);
}

/* As executed, too, with transfers and parameter gathering; but 1F1B and GPipe, whose batched transfers
 * are not written as CSV. */
void check_pytorch(const json_t *row, tally *t)
{
    sched_options o = options_of(row, SCHED_LIKE_PYTORCH);
    const char *schedule = text_of(row, "schedule");

    check_plan(row, schedule, &o, t);
    check_file_of(row, json_object_get(row, "compute"), t);
    check_file_of(row, json_object_get(row, "printed_csv"), t);
    if (strcmp(schedule, "1F1B") != 0 && strcmp(schedule, "GPipe") != 0)
        check_file_of(row, json_object_get(row, "exec"), t);
    if (json_is_true(json_object_get(row, "ok"))) { /* what PyTorch runs is possible */
        o.like = SCHED_LIKE_ANY;
        check_plan(row, schedule, &o, t);
    }
}

void check_megatron(const json_t *row, tally *t)
{
    sched_options o = options_of(row, SCHED_LIKE_MEGATRON);
    const char *name = o.vp > 1 ? "interleaved" : "1f1b";

    o.group_size = number_of(row, "microbatch_group_size_per_vp_stage");
    check_plan(row, name, &o, t);
    if (json_is_true(json_object_get(row, "ok"))) {
        o.like = SCHED_LIKE_ANY;
        check_plan(row, name, &o, t);
    }
}

void check_dualpipe(const json_t *row, tally *t)
{
    sched_options o = options_of(row, SCHED_LIKE_ANY);

    check_plan(row, strcmp(text_of(row, "schedule"), "DualPipe") == 0 ? "dualpipe" : "dualpipev", &o, t);
    check_file_of(row, json_object_get(row, "exec"), t);
}

/* The orders of the automatic schedulers are data; those of 1F1B and VPP, which is Megatron's, are a rule
 * as well. Their VPP takes one micro-batch, unlike Megatron. */
void check_zero_bubble(const json_t *row, tally *t)
{
    bool accepted = json_is_true(json_object_get(row, "ok"));
    sched_options o = options_of(row, accepted ? SCHED_LIKE_ANY : SCHED_LIKE_MEGATRON);
    const char *schedule = text_of(row, "schedule");

    check_file_of(row, json_object_get(row, "exec"), t);
    if (strcmp(schedule, "1F1B") == 0)
        check_plan(row, "1f1b", &o, t);
    else if (strcmp(schedule, "VPP") == 0)
        check_plan(row, "interleaved", &o, t);
}
