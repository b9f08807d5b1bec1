#include "trace/pickle_machine.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_CONTAINERS (1u << 27) /* 1 GiB */

dse_status pickle_placed(pickle_machine *m, dse_status st)
{
    char where[256];

    if (st == DSE_OK || !m->err)
        return st;
    snprintf(where, sizeof where, "%.200s: byte %" PRIu64, m->path, m->at);
    dse_error_set_where(m->err, where);
    return st;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static dse_status truncated(pickle_machine *m)
{
    m->at = pickle_position(m);
    return pickle_fail(
        m,
        "the pickle ends here, after %s and without STOP; it was cut off, and nothing of it can be trusted",
        m->op && m->op->name ? m->op->name : "nothing");
}

dse_status pickle_refill(pickle_machine *m)
{
    trace_source *from = m->source;

    if (!trace_source_more(from, (size_t)((const char *)m->p - from->window))) {
        m->p = m->end = (const uint8_t *)from->window + from->n;
        if (!*from->broken)
            return truncated(m);
        m->at = pickle_position(m);
        return pickle_placed(m, dse_fail(m->err, DSE_E_IO, "cannot read on: %s", from->broken));
    }
    m->p = (const uint8_t *)from->window;
    m->end = m->p + from->n;
    return DSE_OK;
}

dse_status pickle_take_long(pickle_machine *m, unsigned size, uint64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < size; i++) {
        dse_status st = pickle_more(m);

        if (st != DSE_OK)
            return st;
        *out |= (uint64_t)*m->p++ << (8 * i);
    }
    return DSE_OK;
}

dse_status pickle_take_bytes(pickle_machine *m, uint64_t n, uint64_t keep)
{
    dse_strbuf_clear(&m->text);
    while (n) {
        dse_status st = pickle_more(m);
        uint64_t here = (uint64_t)(m->end - m->p);

        if (st != DSE_OK)
            return st;
        here = here < n ? here : n;
        if (keep)
            dse_strbuf_add(&m->text, m->p, (size_t)(here < keep ? here : keep));
        keep -= here < keep ? here : keep;
        m->p += here;
        n -= here;
    }
    return DSE_OK;
}

dse_status pickle_take_line(pickle_machine *m, size_t keep)
{
    dse_strbuf_clear(&m->text);
    for (;;) {
        dse_status st = pickle_more(m);
        uint8_t c;

        if (st != DSE_OK)
            return st;
        if ((c = *m->p++) == '\n')
            break;
        if (m->text.len <= keep)
            dse_strbuf_addc(&m->text, (char)c);
    }
    if (m->text.len && m->text.data[m->text.len - 1] == '\r')
        m->text.data[--m->text.len] = '\0';
    return DSE_OK;
}

/* ---- the stack ------------------------------------------------------------------------------- */

dse_status pickle_need(pickle_machine *m, size_t n)
{
    if (m->n_stack - pickle_floor_of(m) < n)
        return pickle_fail(m, "%s finds fewer than %zu values on the stack", m->op->name, n);
    return DSE_OK;
}

dse_status pickle_push(pickle_machine *m, trace_plain v)
{
    if (m->n_stack == PICKLE_MAX_STACK)
        return pickle_fail(m, "more than %u values wait on the stack", PICKLE_MAX_STACK);
    DSE_GROW(m->stack, m->cap_stack, m->n_stack + 1);
    m->stack[m->n_stack++] = v;
    return DSE_OK;
}

dse_status pickle_push_integer(pickle_machine *m, trace_plain_kind kind, int64_t v)
{
    return pickle_push(m, (trace_plain){.kind = kind, .id = DSE_NONE, .v.integer = v});
}

dse_status pickle_push_container(pickle_machine *m, trace_plain_kind kind)
{
    if (m->n_all == MAX_CONTAINERS)
        return pickle_fail(m, "more than %u lists, tuples and dictionaries", MAX_CONTAINERS);
    DSE_GROW(m->all, m->cap_all, m->n_all + 1);
    m->all[m->n_all] = (pickle_container){DSE_NONE, (uint8_t)kind, false};
    return pickle_push(m, (trace_plain){.kind = kind, .id = (uint32_t)m->n_all++});
}

dse_status pickle_push_text(pickle_machine *m, const char *text, size_t n)
{
    uint32_t id = n <= TRACE_PLAIN_MAX_TEXT ? trace_names_add_bytes(m->to->names, text, n) : DSE_NONE;

    return pickle_push(m, (trace_plain){.kind = TRACE_PLAIN_TEXT, .id = id});
}

dse_status pickle_give(pickle_machine *m, const trace_plain *v, trace_plain *out)
{
    pickle_container *c;

    *out = *v;
    if (!trace_plain_is_container(v))
        return DSE_OK;
    c = &m->all[v->id];
    if (!c->closed) {
        dse_status st = m->to->close(m->to->to, (trace_plain_kind)c->kind, &c->mine, m->err);

        if (st != DSE_OK)
            return pickle_placed(m, st);
        c->closed = true;
    }
    out->id = c->mine;
    return DSE_OK;
}

dse_status pickle_fill(pickle_machine *m, uint32_t into, size_t from)
{
    trace_plain_kind kind = (trace_plain_kind)m->all[into].kind;
    size_t step = kind == TRACE_PLAIN_DICT ? 2 : 1;
    trace_plain key, value;
    dse_status st = DSE_OK;

    if ((m->n_stack - from) % step)
        return pickle_fail(m, "%s finds a key without a value", m->op->name);
    if (m->all[into].closed)
        return pickle_fail(
            m, "%s fills a container that stands in another place already: it would contain itself",
            m->op->name);
    for (size_t i = from; st == DSE_OK && i < m->n_stack; i += step) {
        if (step == 2)
            st = pickle_give(m, &m->stack[i], &key);
        if (st == DSE_OK)
            st = pickle_give(m, &m->stack[i + step - 1], &value);
        if (st == DSE_OK)
            m->to->item(m->to->to, kind, &m->all[into].mine, step == 2 ? &key : NULL, &value);
    }
    m->n_stack = from;
    return st;
}

dse_status pickle_under(pickle_machine *m, size_t from, trace_plain_kind kind, uint32_t *into)
{
    if (from == pickle_floor_of(m) || m->stack[from - 1].kind != kind)
        return pickle_fail(m, "%s finds no %s to add to", m->op->name,
                           kind == TRACE_PLAIN_DICT ? "dictionary" : "list");
    *into = m->stack[from - 1].id;
    return DSE_OK;
}

dse_status pickle_pop_mark(pickle_machine *m, size_t *from)
{
    if (!m->n_marks)
        return pickle_fail(m, "%s finds no mark on the stack", m->op->name);
    *from = m->mark[--m->n_marks];
    return DSE_OK;
}
