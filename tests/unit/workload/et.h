/* Traces of schema v0.0.4, written field by field: what a reader must take, and what it must refuse. */
#ifndef UNIT_WORKLOAD_ET_H
#define UNIT_WORKLOAD_ET_H

#include "base/protobuf.h"
#include "workload/graph.h"

enum {
    ET_ID = 1,
    ET_NAME = 2,
    ET_TYPE = 3,
    ET_CTRL_DEPS = 4,
    ET_DATA_DEPS = 5,
    ET_DURATION = 7,
    ET_ATTR = 10
};
enum {
    ET_INT32 = 7,
    ET_INT64 = 9,
    ET_UINT32 = 11,
    ET_UINT64 = 13,
    ET_BOOL_LIST = 28,
    ET_STRING = 29,
    ET_STRING_LIST = 30
};

/* A message of the file: its length, then its bytes. Clears it for the next one. */
static inline void et_message(dse_strbuf *file, dse_strbuf *message)
{
    pb_put_varint(file, message->len);
    dse_strbuf_add(file, message->data, message->len);
    dse_strbuf_clear(message);
}

/* The file begins with an empty GlobalMetadata. */
static inline void et_begin(dse_strbuf *file, dse_strbuf *node)
{
    dse_strbuf_init(file);
    dse_strbuf_init(node);
    et_message(file, node);
}

static inline void et_node(dse_strbuf *node, uint64_t id, const char *name, uint32_t type)
{
    pb_put_uint(node, ET_ID, id);
    pb_put_string(node, ET_NAME, name);
    pb_put_uint(node, ET_TYPE, type);
}

static inline void et_attr(dse_strbuf *node, const char *name, uint32_t field, uint64_t value)
{
    dse_strbuf a;

    dse_strbuf_init(&a);
    pb_put_string(&a, 1, name);
    pb_put_uint(&a, field, value);
    pb_put_bytes(node, ET_ATTR, a.data, a.len);
    dse_strbuf_free(&a);
}

static inline void et_string_attr(dse_strbuf *node, const char *name, const char *value)
{
    dse_strbuf a;

    dse_strbuf_init(&a);
    pb_put_string(&a, 1, name);
    pb_put_string(&a, ET_STRING, value);
    pb_put_bytes(node, ET_ATTR, a.data, a.len);
    dse_strbuf_free(&a);
}

/* `strings` ends with NULL: name, size, name, size. */
static inline void et_strings_attr(dse_strbuf *node, const char *name, const char *const *strings)
{
    dse_strbuf a, list;

    dse_strbuf_init(&a);
    dse_strbuf_init(&list);
    pb_put_string(&a, 1, name);
    while (*strings)
        pb_put_string(&list, 1, *strings++);
    pb_put_bytes(&a, ET_STRING_LIST, list.data, list.len);
    pb_put_bytes(node, ET_ATTR, a.data, a.len);
    dse_strbuf_free(&a);
    dse_strbuf_free(&list);
}

static inline void et_comp(dse_strbuf *node, uint64_t id, const char *name, uint64_t num_ops,
                           uint64_t tensor_size)
{
    et_node(node, id, name, WL_NODE_COMP);
    et_attr(node, "num_ops", ET_INT64, num_ops);
    et_attr(node, "tensor_size", ET_UINT64, tensor_size);
}

static inline void et_coll(dse_strbuf *node, uint64_t id, const char *name, uint32_t coll, uint64_t size,
                           const char *group)
{
    et_node(node, id, name, WL_NODE_COLL);
    et_attr(node, "comm_size", ET_INT64, size);
    et_attr(node, "comm_type", ET_INT64, coll);
    if (group)
        et_string_attr(node, "pg_name", group);
    et_attr(node, "is_cpu_op", ET_INT32, 0);
}

static inline void et_message_node(dse_strbuf *node, uint64_t id, const char *name, bool send, uint32_t peer,
                                   uint64_t size, uint32_t tag)
{
    et_node(node, id, name, send ? WL_NODE_SEND : WL_NODE_RECV);
    et_attr(node, "comm_size", ET_INT64, size);
    et_attr(node, "comm_tag", ET_INT32, tag);
    et_attr(node, send ? "comm_dst" : "comm_src", ET_INT32, peer);
}

static inline void et_deps(dse_strbuf *node, bool control, const uint64_t *ids, size_t n)
{
    dse_strbuf list;

    dse_strbuf_init(&list);
    for (size_t i = 0; i < n; i++)
        pb_put_varint(&list, ids[i]);
    pb_put_bytes(node, control ? ET_CTRL_DEPS : ET_DATA_DEPS, list.data, list.len);
    dse_strbuf_free(&list);
}

static inline void et_dep(dse_strbuf *node, uint64_t id) { et_deps(node, false, &id, 1); }

#endif
