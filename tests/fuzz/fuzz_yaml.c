/* YAML, and what a system card and a model card make of it. A card that is accepted is written out resolved
 * and read again: the second text must be the first, since that is how a result is reproduced. */
#include "cards/model.h"
#include "cards/system.h"
#include "config/doc.h"
#include "fuzz/fuzz.h"

#include <string.h>

static void check_tree(const cfg_node *n, int depth)
{
    ENSURE(depth <= CFG_MAX_DEPTH + 1 && n->line >= 1 && n->column >= 1);
    if (n->kind == CFG_SCALAR) {
        ENSURE(n->text && !n->n && !n->item);
        return;
    }
    ENSURE(!n->text && (!n->n || n->item) && (n->kind == CFG_MAP || !n->key));
    for (uint32_t i = 0; i < n->n; i++) {
        check_tree(n->item[i], depth + 1);
        ENSURE(n->kind == CFG_LIST || (n->key[i]->kind == CFG_SCALAR && n->key[i]->text));
        ENSURE(n->kind == CFG_LIST || cfg_get(n, n->key[i]->text) == n->item[i]); /* no key stands twice */
    }
}

typedef dse_status read_card(const cfg_doc *doc, void *out, dse_error *err);

static dse_status read_system(const cfg_doc *doc, void *out, dse_error *err)
{
    return card_system_read(doc, NULL, out, err);
}

static dse_status read_model(const cfg_doc *doc, void *out, dse_error *err)
{
    return card_model_read(doc, NULL, out, err);
}

static void write(const cfg_table *t, const void *values, dse_strbuf *out)
{
    dse_json j;

    dse_json_init(&j, out);
    cfg_table_write_json(t, values, &j);
}

static void check_card(const cfg_table *t, read_card *read, void *values, const cfg_doc *doc, dse_arena *a)
{
    dse_strbuf first, second;
    dse_error err = DSE_ERROR_INIT;
    cfg_doc again = {0};

    if (!fuzz_ok(read(doc, values, &err), &err))
        return;
    dse_strbuf_init(&first);
    dse_strbuf_init(&second);
    write(t, values, &first);
    if (fuzz_ok(cfg_parse_json("resolved", first.data, first.len, a, &again, &err), &err)) {
        dse_status st = read(&again, values, &err);

        ENSURE(fuzz_ok(st, &err));
        write(t, values, &second);
        ENSURE(!strcmp(first.data, second.data));
    }
    dse_strbuf_free(&first);
    dse_strbuf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    card_system system = {0};
    card_model model = {0};
    cfg_doc doc = {0};
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_yaml("card.yaml", (const char *)data, size, &arena, &doc, &err), &err)) {
        check_tree(doc.root, 0);
        check_card(&card_system_table, read_system, &system, &doc, &arena);
        check_card(&card_model_table, read_model, &model, &doc, &arena);
    }
    dse_arena_free(&arena);
    return 0;
}
