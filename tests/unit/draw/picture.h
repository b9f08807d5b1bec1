/* A network and its picture as text. */
#ifndef UNIT_DRAW_PICTURE_H
#define UNIT_DRAW_PICTURE_H

#include "draw/draw.h"
#include "unit/network/nets.h"

typedef struct {
    dse_arena arena;
    net_network net;
    net_graph graph;
    dse_strbuf text;
} picture;

static inline void picture_begin(picture *p, const char *network)
{
    dse_error err = DSE_ERROR_INIT;

    p->net = nets_make(network);
    dse_arena_init(&p->arena);
    dse_strbuf_init(&p->text);
    assert_ok(net_graph_init(&p->graph, &p->net, &p->arena, &err), &err);
}

static inline void picture_end(picture *p)
{
    dse_strbuf_free(&p->text);
    dse_arena_free(&p->arena);
}

static inline uint32_t picture_count(const char *text, const char *part)
{
    uint32_t n = 0;

    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

#endif
