#include "trace/ticks.h"

#include "base/fs.h"

#include <inttypes.h>

void trace_ticks_init(trace_ticks *r, uint32_t n_ranks, uint64_t n, dse_arena *a)
{
    *r = (trace_ticks){.n_ranks = n_ranks, .n = n};
    r->rank = DSE_ARENA_NEW(a, uint32_t, n);
    r->id = DSE_ARENA_NEW(a, uint64_t, n);
    r->start = DSE_ARENA_NEW(a, dse_time, n);
    r->end = DSE_ARENA_NEW(a, dse_time, n);
    r->category = DSE_ARENA_NEW(a, uint8_t, n);
    r->type = DSE_ARENA_NEW(a, uint8_t, n);
    r->bytes = DSE_ARENA_NEW(a, uint64_t, n);
    r->collective = DSE_ARENA_NEW(a, uint8_t, n);
    r->with = DSE_ARENA_NEW(a, uint32_t, n);
    r->name = DSE_ARENA_NEW(a, const char *, n);
    r->kernel = DSE_ARENA_NEW(a, const trace_kernel *, n);
}

void trace_ticks_write_csv(const trace_ticks *r, dse_strbuf *out)
{
    dse_strbuf_adds(out, "sys,node_id,issue_tick,finish_tick,node_type,node_name\n");
    for (uint64_t i = 0; i < r->n; i++) {
        dse_strbuf_addf(out, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,", r->rank[i], r->id[i],
                        r->start[i], r->end[i], r->type[i]);
        dse_strbuf_add_csv(out, r->name[i]);
        dse_strbuf_addc(out, '\n');
    }
}

dse_status trace_ticks_save_csv(const trace_ticks *r, const char *path, dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    trace_ticks_write_csv(r, &text);
    st = dse_write_text(path, &text, err);
    dse_strbuf_free(&text);
    return st;
}
