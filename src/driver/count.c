#include "driver/count.h"

#include "cards/locate.h"

#include <inttypes.h>

dse_status drv_model_of(const cfg_doc *card, int64_t sequence, dse_arena *a, card_model *out_card,
                        step_model *out, dse_error *err)
{
    const cfg_setting given[] = {{"batch", "1"}, {"sequence", dse_arena_printf(a, "%" PRId64, sequence)}};
    cfg_doc operators, layers;
    wl_symbols symbols;
    const char *path;
    card_model m;
    dse_status st;

    if ((st = card_model_read(card, &(cfg_settings){2, given}, &m, err)) != DSE_OK ||
        (st = card_locate(CARD_LAYERS, m.operators, a, &path, err)) != DSE_OK ||
        (st = cfg_load(path, a, &operators, err)) != DSE_OK ||
        (st = card_model_symbols(&m, &operators, &symbols, err)) != DSE_OK ||
        (st = card_model_layers(&m, &operators, a, &layers, err)) != DSE_OK ||
        (st = step_model_read(&layers, &symbols, (uint32_t)m.layers, a, out, err)) != DSE_OK)
        return st;
    out->is_tied = m.tied_embeddings;
    if (m.mtp_layers)
        step_model_add_mtp(out, (uint32_t)m.mtp_layers, a);
    *out_card = m;
    return DSE_OK;
}

dse_status drv_model_count(const cfg_doc *card, int64_t sequence, dse_arena *a, step_count *out,
                           dse_error *err)
{
    step_model model;
    card_model m;
    dse_status st = drv_model_of(card, sequence, a, &m, &model, err);

    if (st == DSE_OK)
        *out = step_count_of(&model);
    return st;
}
