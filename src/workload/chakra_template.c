#include "workload/chakra_template.h"

#include <assert.h>
#include <string.h>

enum { MAX_NUMBER_BYTES = 20 }; /* 2^64 - 1 in decimal; a varint has at most 10 */

void wl_template_init(wl_template *t)
{
    *t = (wl_template){0};
    dse_strbuf_init(&t->text);
}

void wl_template_free(wl_template *t)
{
    dse_strbuf_free(&t->text);
    dse_free(t->hole);
    wl_template_init(t);
}

void wl_template_clear(wl_template *t)
{
    dse_strbuf_clear(&t->text);
    t->n_holes = t->n_placed = 0;
}

void wl_template_hole(wl_template *t, wl_hole_kind kind, uint64_t value)
{
    size_t before = t->text.len - t->n_placed;

    if (t->text.failed || before > UINT32_MAX || !DSE_GROW(t->hole, t->cap_holes, t->n_holes + 1)) {
        t->text.failed = true;
        return;
    }
    t->hole[t->n_holes++] = (wl_hole){value, (uint32_t)before, kind};
    t->n_placed = t->text.len;
}

void wl_template_id(wl_template *t, const wl_node *n)
{
    if (n->type == WL_NODE_SEND || n->type == WL_NODE_RECV)
        wl_template_hole(t, WL_HOLE_MESSAGE_ID, n->slot);
    else
        wl_template_hole(t, WL_HOLE_ID, n->id);
}

/* ---- filling ------------------------------------------------------------------------------- */

size_t wl_template_room(const wl_template *t, const wl_workload *w)
{
    size_t largest = MAX_NUMBER_BYTES;

    for (uint32_t i = 0; i < w->n_groups; i++)
        if (strlen(w->group[i].name) > largest)
            largest = strlen(w->group[i].name);
    return t->text.len + t->n_holes * largest;
}

static unsigned char *put_varint_before(unsigned char *p, uint64_t v)
{
    size_t n = pb_varint_size(v);

    p -= n;
    for (size_t i = 0; i + 1 < n; i++, v >>= 7)
        p[i] = (unsigned char)(v | 0x80);
    p[n - 1] = (unsigned char)v;
    return p;
}

static unsigned char *put_decimal_before(unsigned char *p, uint64_t v)
{
    do {
        *--p = (unsigned char)('0' + v % 10);
        v /= 10;
    } while (v);
    return p;
}

static uint64_t number_of(const wl_hole *h, const wl_rank *r)
{
    switch (h->kind) {
    case WL_HOLE_ID: return r->id_base + h->value;
    case WL_HOLE_MESSAGE_ID: return r->p2p[h->value].id;
    case WL_HOLE_PEER: return r->p2p[h->value].peer;
    case WL_HOLE_TAG: return r->p2p[h->value].tag;
    default: assert(h->kind == WL_HOLE_GROUP && "the others are no numbers"); return r->group[h->value];
    }
}

/* From the back to the front, so that a length is known when its place comes. */
unsigned char *wl_template_fill(const wl_template *t, const wl_workload *w, uint32_t rank, unsigned char *end)
{
    const unsigned char *ends[WL_TEMPLATE_MAX_DEPTH];
    const char *text = t->text.data + t->n_placed, *name;
    unsigned char *p = end - (t->text.len - t->n_placed);
    const wl_rank *r = &w->rank[rank];
    size_t depth = 0;

    memcpy(p, text, t->text.len - t->n_placed);
    for (size_t i = t->n_holes; i-- > 0;) {
        const wl_hole *h = &t->hole[i];

        switch (h->kind) {
        case WL_HOLE_END:
            assert(depth < WL_TEMPLATE_MAX_DEPTH && "a schema nests no deeper");
            ends[depth++] = p;
            break;
        case WL_HOLE_BEGIN: p = put_varint_before(p, (uint64_t)(ends[--depth] - p)); break;
        case WL_HOLE_GROUP_NAME:
            name = w->group[r->group[h->value]].name;
            p -= strlen(name);
            memcpy(p, name, strlen(name));
            break;
        default: p = (t->decimal ? put_decimal_before : put_varint_before)(p, number_of(h, r)); break;
        }
        text -= h->before;
        p -= h->before;
        memcpy(p, text, h->before);
    }
    return p;
}
