/* xplane_parts -- the plane of xplane.pb that is being read, with its metadata. Private to the reader
 * (xplane.c).
 *
 * Functions that return false, or -1, have filled the error. */
#ifndef DSE_TRACE_XPLANE_PARTS_H
#define DSE_TRACE_XPLANE_PARTS_H

#include "base/protobuf.h"
#include "trace/record.h"

/* A field and its wire type in one number. */
#define FIELD(number, wire) ((uint32_t)(number) << 3 | (wire))
#define FIELD_OF(f)         FIELD((f).field, (f).wire)

/* Messages of a map by their key; the last one of a key counts. */
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
    /* The current plane. */
    xplane_ids events, stats;
    uint32_t *name, *args; /* by index of the event metadata */
    uint8_t *key;          /* by index of the statistic metadata: stat_key */
    size_t cap_name, cap_args, cap_key;
    pb_range plane_name;
    uint32_t lane;
} xplane;

/* Reads the next field: 1, or 0 at the end of the message. -1: it is invalid, and the error says where. */
int xplane_next(xplane *x, pb_range *message, pb_field *f);

/* The id of a text in the rank's names. */
uint32_t xplane_add_name(xplane *x, pb_range text);

/* The index of an id; DSE_NONE: the plane has no such metadata. */
uint32_t xplane_find_id(const xplane_ids *m, int64_t id);

/* Reads the name and the metadata of a plane; those of events are only located. */
bool xplane_read_metadata(xplane *x, pb_range plane);

/* Reads the event metadata at an index into x->name and x->args, once. */
bool xplane_describe(xplane *x, uint32_t at);

/* Adds a statistic to *a or *t; sets *any if it went into *a. */
bool xplane_apply_stat(xplane *x, pb_range stat, trace_args *a, trace_device_time *t, bool *any);

void xplane_free_metadata(xplane *x);

static inline bool xplane_is_empty(pb_range r) { return r.p == r.end; }

#endif
