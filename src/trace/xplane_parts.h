/* xplane_parts -- a plane of xplane.pb under way: its metadata and what they say of events. Private to the reader
 * (xplane.c).
 *
 * What returns false, or -1, has filled the error of the file. */
#ifndef DSE_TRACE_XPLANE_PARTS_H
#define DSE_TRACE_XPLANE_PARTS_H

#include "base/protobuf.h"
#include "trace/record.h"

/* A field and its wire type in one number. */
#define FIELD(number, wire) ((uint32_t)(number) << 3 | (wire))
#define FIELD_OF(f)         FIELD((f).field, (f).wire)

/* Messages of a map by their key; of two with one key the last counts. */
typedef struct {
    size_t n, cap_id, cap_message;
    int64_t *id;
    pb_range *message;
    dse_idtable table;
} xplane_ids;

typedef struct {
    const char *path;
    const unsigned char *begin; /* of the file */
    trace_record *out;
    trace_rank *r;
    dse_error *err;
    uint64_t n_left_out;
    const unsigned char *first_left_out;
    /* The plane under way. */
    xplane_ids events, stats;
    uint32_t *name, *args; /* of the event metadata, by place */
    uint8_t *key;          /* what the statistic metadata are about: xplane_metadata.c */
    size_t cap_name, cap_args, cap_key;
    pb_range plane_name;
    uint32_t lane;
} xplane;

/* The next field: 1, or 0 at the end of the message. -1: it is none, and the error says where. */
int xplane_next(xplane *x, pb_range *message, pb_field *f);

/* The id of a text in the rank's names. */
uint32_t xplane_add_name(xplane *x, pb_range text);

/* The place of a number; DSE_NONE: the plane has no such metadata. */
uint32_t xplane_find_id(const xplane_ids *m, int64_t id);

/* Name and metadata of a plane, in place of those of the one before. Of events they are only found. */
bool xplane_read_metadata(xplane *x, pb_range plane);

/* Reads what the metadata at a place say of their events into x->name and x->args, unless it was. */
bool xplane_describe(xplane *x, uint32_t at);

/* Lays a statistic over *a and *t; *any becomes true if *a has a part of it. */
bool xplane_apply_stat(xplane *x, pb_range stat, trace_args *a, trace_device_time *t, bool *any);

void xplane_free_metadata(xplane *x);

static inline bool xplane_is_empty(pb_range r) { return r.p == r.end; }

#endif
