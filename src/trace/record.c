#include "trace/record.h"

#include "base/fs.h"

#include <inttypes.h>

void trace_record_write_csv(const trace_record *r, dse_strbuf *out)
{
    dse_strbuf_adds(out, "sys,node_id,issue_tick,finish_tick,node_type,node_name\n");
    for (uint64_t i = 0; i < r->n; i++) {
        dse_strbuf_addf(out, "%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,", r->rank[i], r->id[i],
                        r->start[i], r->end[i], r->type[i]);
        dse_strbuf_add_csv(out, r->name[i]);
        dse_strbuf_addc(out, '\n');
    }
}

dse_status trace_record_save_csv(const trace_record *r, const char *path, dse_error *err)
{
    dse_strbuf text;
    dse_status st;

    dse_strbuf_init(&text);
    trace_record_write_csv(r, &text);
    st = dse_write_text(path, &text, err);
    dse_strbuf_free(&text);
    return st;
}
