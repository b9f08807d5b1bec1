#include "trace/et.h"

#include "trace/et_node.h"
#include "trace/reader.h"

#include <inttypes.h>

/* ---- process groups -------------------------------------------------------------------------- */

static void read_group(et_reader *r)
{
    trace_group g = {DSE_NONE, DSE_NONE, DSE_NONE, 0};
    trace_rank *rank = r->rank;
    trace_json *j = &r->json;

    while (trace_json_key(j)) {
        bool name = trace_json_is(j, "pg_name"), desc = trace_json_is(j, "pg_desc"),
             size = trace_json_is(j, "pg_size"), ranks = trace_json_is(j, "ranks");

        if (name || desc) {
            if (trace_json_enter(j, TRACE_JSON_STRING))
                *(name ? &g.name : &g.desc) = et_text_of(r);
        } else if (size) {
            if (trace_json_enter(j, TRACE_JSON_NUMBER))
                g.size = (uint32_t)trace_whole_of(j->text, j->length, DSE_NONE - 1);
        } else if (!ranks) {
            trace_json_skip(j);
        } else if (trace_json_enter(j, TRACE_JSON_ARRAY)) {
            g.ranks = trace_json_list_name(j, SIZE_MAX, &rank->names);
        }
    }
    g.size = g.size == DSE_NONE ? 0 : g.size;
    DSE_GROW(rank->group, rank->cap_groups, rank->n_groups + 1);
    rank->group[rank->n_groups++] = g;
}

/* [{"pg_name": "0", "pg_desc": "default_pg", "pg_size": 2, "ranks": [0, 1]}], as the text of a node. Any
 * other text declares no groups. */
static void read_groups(et_reader *r)
{
    et_reader inner = {.rank = r->rank};
    trace_source source;
    size_t n = r->config.len;

    trace_source_open_bytes(&source, r->config.data, n, n > 16 ? n : 16);
    trace_json_init(&inner.json, &source);
    if (trace_json_value(&inner.json) == TRACE_JSON_ARRAY)
        while (trace_json_item(&inner.json) && trace_json_value(&inner.json) == TRACE_JSON_OBJECT)
            read_group(&inner);
    trace_json_free(&inner.json);
    trace_source_close(&source);
}

/* The group of all ranks gives the world size. */
static void note_world(trace_rank *rank)
{
    for (size_t i = 0; i < rank->n_groups; i++) {
        const trace_group *g = &rank->group[i];
        const char *desc = TRACE_NAME(rank, g->desc);

        if (desc && strcmp(desc, "default_pg") == 0 && g->size)
            rank->world_size = g->size;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool ps_of(trace_decimal us, int64_t base_us, int64_t *ps)
{
    int64_t whole;

    return !__builtin_sub_overflow(us.whole, base_us, &whole) &&
           !__builtin_mul_overflow(whole, TRACE_PS_PER_US, ps) &&
           !__builtin_add_overflow(*ps, us.millionths, ps);
}

/* Times count from the second in which the first node starts. */
static bool set_times(et_reader *r, const et_node *n, trace_event *e)
{
    trace_rank *rank = r->rank;
    int64_t end;

    e->instant = true;
    if (n->wrong_time)
        return false;
    if (!n->has_ts || !n->has_dur)
        return true;
    if (!r->has_base) {
        if (n->ts.whole > TRACE_MAX_NS / 1000 || n->ts.whole < -TRACE_MAX_NS / 1000)
            return false;
        r->base_us = n->ts.whole / 1000000 * 1000000;
        rank->base_ns = r->base_us * 1000;
        r->has_base = true;
    }
    if (!ps_of(n->ts, r->base_us, &e->start_ps) || !ps_of(n->dur, 0, &e->dur_ps) || e->dur_ps < 0 ||
        __builtin_add_overflow(e->start_ps, e->dur_ps, &end) || !trace_is_near(e->start_ps) ||
        !trace_is_near(end))
        return false;
    e->instant = false;
    trace_extend(rank, e->start_ps, end, true);
    return true;
}

/* `at` is the byte where the node begins. */
static void add_node(et_reader *r, const et_node *n, uint64_t at)
{
    const char *name = TRACE_NAME(r->rank, n->name);
    trace_event e = {.name = n->name, .args = DSE_NONE, .category = TRACE_CPU_OP};

    if (!set_times(r, n, &e)) {
        if (!r->n_out_of_range++)
            r->first_out_of_range = at;
        return;
    }
    e.lane = trace_add_lane(r->rank, r->pid, n->tid);
    if (name && strcmp(name, TRACE_ET_COLLECTIVE) == 0)
        e.args = et_comm_args(r, n);
    trace_add_event(r->rank, &e);
    if (name && strstr(name, "process_group:init") && r->config.len)
        read_groups(r);
}

/* A node that is cut off is ignored. */
static void read_nodes(et_reader *r)
{
    trace_json *j = &r->json;
    et_node n;

    r->has_nodes = true;
    while (trace_json_item(j)) {
        uint64_t at = trace_json_offset(j);

        if (!trace_json_enter(j, TRACE_JSON_OBJECT))
            continue;
        et_read_node(r, &n);
        if (!j->fault)
            add_node(r, &n, at);
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static void read_top(et_reader *r)
{
    trace_json *j = &r->json;

    while (trace_json_key(j)) {
        if (trace_json_is(j, "nodes")) {
            if (trace_json_enter(j, TRACE_JSON_ARRAY))
                read_nodes(r);
        } else if (!trace_json_is(j, "pid")) {
            trace_json_skip(j);
        } else if (trace_json_enter(j, TRACE_JSON_NUMBER)) {
            r->pid = et_text_of(r);
        }
    }
}

static const char *reason(const trace_json *j)
{
    return *j->source->broken             ? j->source->broken
           : j->fault == TRACE_JSON_ENDED ? "the file ends here; it was cut off"
                                          : j->why;
}

static dse_status finish(et_reader *r, const char *path, trace_record *out, dse_error *err)
{
    const trace_json *j = &r->json;
    trace_rank *rank = r->rank;
    char where[256];

    snprintf(where, sizeof where, "%.200s: byte %" PRIu64, path, j->fault_at);
    if (j->fault && !rank->n_events)
        return dse_fail_at(err, *j->source->broken ? DSE_E_IO : DSE_E_SYNTAX, where,
                           "no node comes before this: %s", reason(j));
    if (!r->has_nodes)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "not an execution trace: it has no list 'nodes'");
    if (j->fault)
        trace_warn(out, where, "%s; the %zu nodes before it are used", reason(j), rank->n_events);
    if (r->n_out_of_range)
        trace_warn(
            out, path,
            "byte %" PRIu64 ": %" PRIu64
            " nodes are left out because their durations are negative, or their times too large; this is the "
            "first",
            r->first_out_of_range, r->n_out_of_range);
    note_world(rank);
    return DSE_OK;
}

dse_status trace_et_parse(trace_source *source, const char *path, trace_record *out, dse_error *err)
{
    et_reader r = {.rank = trace_record_add_file(out, TRACE_ET, path), .pid = DSE_NONE};
    dse_status st;

    trace_json_init(&r.json, source);
    dse_strbuf_init(&r.config);
    et_nodes_init(&r);
    trace_add_word(r.rank, trace_names_add(&r.rank->names, "", 0)); /* all nodes have no category */
    if (trace_json_value(&r.json) == TRACE_JSON_OBJECT)
        read_top(&r);
    st = finish(&r, path, out, err);
    dse_strbuf_free(&r.config);
    trace_json_free(&r.json);
    return st;
}

static dse_status read_file(const char *path, trace_record *out, dse_error *err)
{
    return trace_read_stream(trace_et_parse, path, out, err);
}

static bool is_et(const char *head, size_t n)
{
    const char *p = head + strspn(head, " \t\r\n");

    return n && *p == '{' && strstr(p, "\"schema\"") && strstr(p, "\"nodes\"") &&
           !strstr(p, "\"traceEvents\"");
}

extern const trace_reader trace_reader_et;
const trace_reader trace_reader_et = {"et", "PyTorch execution trace (JSON)", is_et, read_file};
