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

    if (before > UINT32_MAX) /* no file of that size is read or written */
        dse_out_of_memory();
    DSE_GROW(t->hole, t->cap_holes, t->n_holes + 1);
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
    default: assert(h->kind == WL_HOLE_GROUP && "no other number is written"); return r->group[h->value];
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

/* ---- matching ------------------------------------------------------------------------------ */

/* The first hole for something says what it is; the others must agree. A peer and a tag have one hole
 * each. */
static bool bind_number(const wl_hole *h, uint64_t v, uint32_t rank, wl_binding *b)
{
    wl_p2p *p;

    switch (h->kind) {
    case WL_HOLE_ID:
        if (!b->has_id_base) {
            b->id_base = v - h->value;
            b->has_id_base = true;
        }
        return v == b->id_base + h->value;
    case WL_HOLE_MESSAGE_ID:
        p = &b->p2p[h->value];
        if (!b->has_id[h->value]) {
            p->id = v;
            b->has_id[h->value] = true;
        }
        return v == p->id;
    case WL_HOLE_PEER: b->p2p[h->value].peer = (uint32_t)v; return true;
    case WL_HOLE_TAG: b->p2p[h->value].tag = (uint32_t)v; return true;
    default: assert(h->kind == WL_HOLE_RANK && "the others are no numbers"); return (uint32_t)v == rank;
    }
}

static bool bind_name(const wl_hole *h, pb_range name, wl_binding *b)
{
    pb_range *known = &b->group_name[h->value];

    if (!known->p)
        *known = name;
    return name.end - name.p == known->end - known->p &&
           !memcmp(name.p, known->p, (size_t)(name.end - name.p));
}

static bool take_text(pb_range *at, const char *text, size_t n)
{
    if (n > (size_t)(at->end - at->p) || memcmp(at->p, text, n))
        return false;
    at->p += n;
    return true;
}

bool wl_template_match(const wl_template *t, pb_range file, uint32_t rank, wl_binding *out)
{
    const unsigned char *ends[WL_TEMPLATE_MAX_DEPTH];
    const char *text = t->text.data;
    pb_range at = file; /* up to the end of what is open */
    size_t depth = 0;
    uint64_t v;

    for (size_t i = 0; i < t->n_holes; i++) {
        const wl_hole *h = &t->hole[i];

        out->reached = at.p;
        if (!take_text(&at, text, h->before))
            return false;
        text += h->before;
        switch (h->kind) {
        case WL_HOLE_BEGIN:
            if (!pb_get_varint(&at, &v) || v > (uint64_t)(at.end - at.p))
                return false;
            assert(depth < WL_TEMPLATE_MAX_DEPTH && "a schema nests no deeper");
            ends[depth++] = at.end;
            at.end = at.p + v;
            break;
        case WL_HOLE_END:
            if (at.p != at.end)
                return false;
            at.end = ends[--depth];
            break;
        case WL_HOLE_GROUP_NAME:
            if (!bind_name(h, at, out))
                return false;
            at.p = at.end;
            break;
        default:
            if (!pb_get_varint(&at, &v) || !bind_number(h, v, rank, out))
                return false;
        }
    }
    return take_text(&at, text, t->text.len - t->n_placed) && at.p == at.end;
}
