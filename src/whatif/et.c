#include "whatif/et.h"

#include "base/fs.h"
#include "base/protobuf.h"
#include "workload/chakra_v004.h"

#include <stdio.h>
#include <string.h>

uint32_t whatif_et_add(whatif_et *et, dse_arena *a, whatif_node n)
{
    DSE_ARENA_GROW(a, et->node, et->cap, et->n + 1);
    et->node[et->n] = n;
    return et->n++;
}

static void add_once(dse_arena *a, uint32_t **list, uint32_t *n, uint32_t *cap, uint32_t on)
{
    size_t room = *cap;

    for (uint32_t i = 0; i < *n; i++)
        if ((*list)[i] == on)
            return;
    if (on == DSE_NONE)
        return;
    DSE_ARENA_GROW(a, *list, room, *n + 1u);
    *cap = (uint32_t)room;
    (*list)[(*n)++] = on;
}

void whatif_et_depend(whatif_et *et, dse_arena *a, uint32_t node, uint32_t on)
{
    whatif_node *n = &et->node[node];

    add_once(a, &n->ctrl, &n->n_ctrl, &n->cap_ctrl, on);
}

void whatif_et_depend_on_data(whatif_et *et, dse_arena *a, uint32_t node, uint32_t on)
{
    whatif_node *n = &et->node[node];

    add_once(a, &n->data, &n->n_data, &n->cap_data, on);
}

void whatif_et_set_attrs(whatif_node *n, dse_arena *a, const whatif_attr *attr, uint32_t n_attrs)
{
    n->attr = dse_arena_copy(a, attr, n_attrs, sizeof *attr);
    n->n_attrs = n_attrs;
}

static void add_ids(dse_strbuf *part, dse_strbuf *node, uint32_t field, const uint32_t *id, uint32_t n)
{
    dse_strbuf_clear(part);
    for (uint32_t i = 0; i < n; i++)
        pb_put_varint(part, id[i]);
    if (n)
        pb_put_bytes(node, field, part->data, part->len);
}

static void add_attr(dse_strbuf *part, dse_strbuf *node, uint32_t field, const whatif_attr *a)
{
    dse_strbuf_clear(part);
    pb_put_string(part, ATTR_NAME, a->name);
    if (a->field == ATTR_STRING)
        pb_put_string(part, ATTR_STRING, a->text);
    else
        pb_put_uint(part, a->field, (uint64_t)a->value);
    pb_put_bytes(node, field, part->data, part->len);
}

/* IOInfo. */
static void add_side(dse_strbuf *part, dse_strbuf *node, uint32_t field, const char *const side[3])
{
    dse_strbuf_clear(part);
    for (uint32_t i = 0; i < 3; i++)
        if (side[i][0])
            pb_put_string(part, IO_VALUES + i, side[i]);
    pb_put_bytes(node, field, part->data, part->len);
}

static void add_message(dse_strbuf *out, const dse_strbuf *message)
{
    pb_put_varint(out, message->len);
    dse_strbuf_add(out, message->data, message->len);
}

/* Fields by number; those that are 0 are left out, as proto3 has it. */
void whatif_et_write(const whatif_et *et, const char *version, dse_strbuf *out)
{
    dse_strbuf node, part;

    dse_strbuf_init(&node);
    dse_strbuf_init(&part);
    if (!et->n_about && version[0])
        pb_put_string(&node, METADATA_VERSION, version);
    for (uint32_t i = 0; i < et->n_about; i++)
        add_attr(&part, &node, METADATA_ATTR, &et->about[i]);
    add_message(out, &node);
    for (uint32_t i = 0; i < et->n; i++) {
        const whatif_node *n = &et->node[i];

        if (n->type == WL_NODE_INVALID)
            continue;
        dse_strbuf_clear(&node);
        if (i)
            pb_put_uint(&node, NODE_ID, i);
        pb_put_string(&node, NODE_NAME, n->name);
        pb_put_uint(&node, NODE_TYPE, n->type);
        add_ids(&part, &node, NODE_CTRL_DEPS, n->ctrl, n->n_ctrl);
        add_ids(&part, &node, NODE_DATA_DEPS, n->data, n->n_data);
        if (n->duration_us)
            pb_put_uint(&node, NODE_DURATION, n->duration_us);
        if (n->side) {
            add_side(&part, &node, NODE_INPUTS, n->side);
            add_side(&part, &node, NODE_OUTPUTS, n->side + 3);
        }
        for (uint32_t k = 0; k < n->n_attrs; k++)
            add_attr(&part, &node, NODE_ATTR, &n->attr[k]);
        add_message(out, &node);
    }
    dse_strbuf_free(&node);
    dse_strbuf_free(&part);
}

/* As Python's json.dump(indent=2) has it. */
static void put_groups(const whatif_files *r, dse_strbuf *out)
{
    dse_strbuf_adds(out, "{");
    for (uint32_t i = 0; i < r->n_groups; i++) {
        dse_strbuf_addf(out, "%s\n  \"%u\": [", i ? "," : "", i + 1);
        for (uint32_t k = 0; k < r->group[i].n; k++)
            dse_strbuf_addf(out, "%s\n    %u", k ? "," : "", r->group[i].rank[k]);
        dse_strbuf_adds(out, "\n  ]");
    }
    dse_strbuf_adds(out, "\n}");
}

dse_status whatif_files_write(const whatif_files *r, const char *folder, dse_error *err)
{
    dse_strbuf text;
    char path[4096];
    dse_status st = dse_mkdirs(folder, err);

    dse_strbuf_init(&text);
    for (uint32_t i = 0; st == DSE_OK && i < r->n_ranks; i++) {
        dse_strbuf_clear(&text);
        if (!r->et[i].n)
            continue;
        whatif_et_write(&r->et[i], "0.0.4", &text);
        snprintf(path, sizeof path, "%.4000s/chakra_trace.%u.et", folder, i);
        st = dse_write_text(path, &text, err);
    }
    dse_strbuf_clear(&text);
    put_groups(r, &text);
    snprintf(path, sizeof path, "%.4000s/comm_group.json", folder);
    if (st == DSE_OK && r->n_groups)
        st = dse_write_text(path, &text, err);
    dse_strbuf_free(&text);
    return st;
}
