/* snapshot_parts -- the complete dictionaries and lists of a memory snapshot, by their ids. Private to
 * snapshot_build.c, which gathers them, and snapshot_finish.c, which makes an allocator of them. */
#ifndef DSE_TRACE_SNAPSHOT_PARTS_H
#define DSE_TRACE_SNAPSHOT_PARTS_H

#include "trace/snapshot.h"

/* The kind of a complete dictionary or list, in the high bits of its id; the low bits are an index. */
enum { IS_ENTRY, IS_BLOCK, IS_SEGMENT, IS_ROOT, IS_SETTINGS, IS_LIST };
#define INDEX_BITS 28
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

typedef struct {
    uint32_t key, next;
    trace_plain value;
} snapshot_item;

typedef struct {
    uint32_t first, last, n;
    bool used; /* each list may be used once, which bounds the work on crafted files */
} snapshot_list;

typedef struct {
    uint64_t requested;
    uint8_t state; /* TRACE_BLOCK_STATES: unknown */
    bool has_requested;
} snapshot_block;

typedef struct {
    trace_segment s;
    uint32_t blocks; /* id of the list; DSE_NONE */
} snapshot_segment;

typedef struct {
    trace_plain segments, traces, settings;
} snapshot_root;

typedef struct snapshot_draft snapshot_draft; /* a dictionary that is not complete yet */

struct trace_snapshot {
    trace_names names;
    snapshot_draft *drafts;
    size_t n_drafts, cap_drafts;
    uint32_t free_draft, free_item;
    snapshot_item *items;
    size_t n_items, cap_items;
    snapshot_list *lists;
    size_t n_lists, cap_lists;
    trace_allocation *entries;
    size_t n_entries, cap_entries;
    snapshot_block *blocks;
    size_t n_blocks, cap_blocks;
    snapshot_segment *segments;
    size_t n_segments, cap_segments;
    snapshot_root *roots;
    size_t n_roots, cap_roots;
    uint32_t *settings; /* first items */
    size_t n_settings, cap_settings;
    uint64_t n_unknown_actions, n_unknown_states;
};

#endif
