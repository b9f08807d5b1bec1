/* net_topology -- what one dimension of a network looks like: one row of the table in topology.c.
 *
 * A dimension has n NPUs with local ids 0..n-1 and, in some topologies, one switch, whose local id is n. The
 * congestion-unaware model asks a row for the number of links between two NPUs; the congestion-aware one for
 * the links themselves and for the one that a message takes next. Both agree: a route has `hops` links. */
#ifndef DSE_NETWORK_TOPOLOGY_H
#define DSE_NETWORK_TOPOLOGY_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_MAX_AXES 3

/* The size of one dimension. Along its axes, the first fastest: local id = x + width * (y + height * z). */
typedef struct {
    uint32_t n;                    /* NPUs */
    uint32_t extent[NET_MAX_AXES]; /* width, height, depth; a topology without axes is one line of n */
    uint8_t order[NET_MAX_AXES];   /* the axes in the order in which a message travels along them */
    bool wraps;                    /* the topology's */
} net_shape;

/* How it is usually drawn. */
typedef enum {
    NET_FORM_CIRCLE, /* NPUs on a circle */
    NET_FORM_BAR,    /* the switch, and the NPUs along it */
    NET_FORM_GRID,   /* by the extents: columns and rows, of three axes planes above each other */
    NET_FORM_CUBES   /* two copies of the form of half of the NPUs, down to a cube */
} net_form;

typedef struct {
    const char *name; /* as in network.yml and in cards */
    const char *summary;
    net_form form;
    uint32_t n_axes;   /* 2: width and height; 3: depth as well; 0: npus_count alone */
    bool power_of_two; /* of NPUs */
    bool has_switch;   /* of as many ports as there are NPUs, in their order */
    bool in_reference; /* the reference has it too, in both models */
    bool wraps;        /* the ends of an axis of three NPUs or more are linked */
    /* hops(a, b) depends only on the distance of a and b on a circle of n: all NPUs see the same network. */
    bool cyclic;

    /* Links on the way; src != dst, both below n; at least 1. */
    uint32_t (*hops)(const net_shape *s, uint32_t src, uint32_t dst);
    /* Ports of an NPU, the same number for all; a port at a border may have no link. */
    uint32_t (*n_ports)(const net_shape *s);
    /* The device that a port of an NPU leads to: a local id, or DSE_NONE. */
    uint32_t (*neighbour)(const net_shape *s, uint32_t npu, uint32_t port);
    /* The port by which a message for dst leaves an NPU; npu != dst. */
    uint32_t (*port)(const net_shape *s, uint32_t npu, uint32_t dst);
    /* Successive links that the message takes through ports of that number. */
    uint32_t (*leg)(const net_shape *s, uint32_t port, uint32_t npu, uint32_t dst);
    /* The largest `hops` of any two NPUs. */
    uint32_t (*diameter)(const net_shape *s);
    /* The fewest links, counted in one direction, from one half of the NPUs to the other; of an odd number
     * one half has one more. A switch is in the half in which it costs less. */
    uint64_t (*bisection)(const net_shape *s);
} net_topology;

/* NULL if there is no topology of that name (upper and lower case matter, as in the reference). */
const net_topology *net_topology_find(const char *name);

/* DSE_OK if the name is known, else DSE_E_CONFIG with the known names. */
dse_status net_topology_check(const char *name, dse_error *err);

/* All rows, in the order of help texts. */
const net_topology *net_topologies(size_t *n);

/* "width", "height", "depth": how cards call the extent along an axis. */
const char *net_axis_name(uint32_t axis);

/* All axes of a topology, for messages: "width and height"; "" if it has none. */
const char *net_axis_names(const net_topology *t);

/* Completes a shape of which n, or the extents, or both are given, 0 standing for what is not: a Mesh2D of 16
 * is 4 by 4, of 16 and width 8 it is 8 by 2. An order that net_shape_route has not set is x, y, z.
 * DSE_E_RANGE for fewer than two NPUs, sizes that do not agree, a count that is no square (or cube, or power
 * of two) where it must be one. A finished shape can be finished again. */
dse_status net_shape_finish(const net_topology *t, net_shape *s, dse_error *err);

/* DSE_OK if the text has only letters of axes, so that it may be the order of some topology; else
 * DSE_E_CONFIG. */
dse_status net_routing_check(const char *order, dse_error *err);

/* "yx" into the order of the axes; "" is "xy" or "xyz". DSE_E_CONFIG unless it has each axis of the topology
 * once; then the shape is as it was. */
dse_status net_shape_route(const net_topology *t, const char *order, net_shape *s, dse_error *err);

#endif
