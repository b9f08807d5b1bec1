#include "cards/model.h"

#include <string.h>

#define FIELD(f) .offset = offsetof(card_model, f), .unit_name = ""
#define SIZE     .type = CFG_T_INT, .min = 1, .max = 1e15

static const cfg_param rows[] = {
    {.key = "vocabulary", SIZE, FIELD(vocabulary), .help = "entries of the vocabulary, at input and output"},
    {.key = "d_model", SIZE, FIELD(d_model), .help = "width of the model"},
    {.key = "d_ff", SIZE, FIELD(d_ff), .help = "width of the feed-forward network"},
    {.key = "heads", SIZE, FIELD(heads), .help = "attention heads"},
    {.key = "layers",
     .type = CFG_T_INT,
     .min = 1,
     .max = 100000,
     FIELD(layers),
     .help = "transformer layers"},
    {.key = "batch", SIZE, FIELD(batch), .help = "sequences in a training step, over all ranks"},
    {.key = "sequence", SIZE, FIELD(sequence), .help = "tokens in a sequence"},
    {.key = "operators",
     .type = CFG_T_NAME,
     FIELD(operators),
     .fallback = "transformer",
     .help = "the operators of a step: a file of configs/operators, or a path"},
};

const cfg_table card_model_table = {.rows = rows, .n = sizeof rows / sizeof rows[0], .title = "model card"};

dse_status card_model_read(const cfg_doc *doc, const cfg_settings *settings, card_model *out, dse_error *err)
{
    return cfg_table_read(&card_model_table, doc, settings, out, err);
}

dse_status card_model_read_part(const cfg_doc *doc, const cfg_settings *settings, card_model *out,
                                dse_error *err)
{
    return cfg_table_read_part(&card_model_table, doc, settings, out, err);
}

dse_status card_model_check(const card_model *m, const char *path, dse_error *err)
{
    return cfg_table_check(&card_model_table, path, m, err);
}

static const cfg_param *find_size(const char *key)
{
    for (uint32_t i = 0; i < card_model_table.n; i++)
        if (rows[i].type == CFG_T_INT && !strcmp(rows[i].key, key))
            return &rows[i];
    return NULL;
}

dse_status card_model_symbols(const card_model *m, const cfg_doc *operators, wl_symbols *out, dse_error *err)
{
    const cfg_node *symbols = cfg_get(operators->root, "symbols");

    *out = (wl_symbols){0};
    for (uint32_t i = 0; symbols && symbols->kind == CFG_MAP && i < symbols->n && i < WL_MAX_SYMBOLS; i++) {
        const char *key = symbols->item[i]->kind == CFG_SCALAR ? symbols->item[i]->text : "";
        const cfg_param *p = find_size(key);
        cfg_place at;

        if (!p)
            return dse_fail_at(err, DSE_E_CONFIG, cfg_where(operators, symbols->item[i], &at),
                               "the symbol '%.40s' stands for '%.40s', which is no size of a model card",
                               symbols->key[i]->text, key);
        out->name[out->n] = symbols->key[i]->text;
        out->value[out->n++] = *(const int64_t *)(const void *)((const char *)m + p->offset);
    }
    return DSE_OK;
}
