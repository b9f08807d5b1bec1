#include "driver/network.h"

#include "cards/locate.h"
#include "driver/study.h"

static dse_status check_settings(const cfg_settings *settings, dse_error *err)
{
    for (size_t i = 0; settings && i < settings->n; i++)
        if (!cfg_table_has(&card_system_table, settings->item[i].path))
            return dse_fail(err, DSE_E_CONFIG, "'%.80s' is a setting of a model; a network has none",
                            settings->item[i].path);
    return DSE_OK;
}

static dse_status load_system(const char *system, const cfg_settings *settings, dse_arena *a,
                              card_system *card, drv_network *out, dse_error *err)
{
    dse_status st = check_settings(settings, err);

    if (st == DSE_OK)
        st = drv_system_load(system, settings, a, card, &out->name, err);
    return st == DSE_OK ? card_network_build(card, NULL, &out->net, err) : st;
}

static dse_status load_file(const char *file, const cfg_settings *settings, dse_arena *a, card_system *card,
                            drv_network *out, dse_error *err)
{
    cfg_doc doc;
    dse_status st = cfg_load(file, a, &doc, err);

    if (st != DSE_OK)
        return st;
    if (cfg_get(doc.root, "network"))
        return dse_fail_at(err, DSE_E_CONFIG, file,
                           "this is a system card, not a network.yml; give it as --system");
    st = card_system_read_astra_network(&doc, settings, card, &out->net, err);
    return st == DSE_OK ? card_name(file, a, &out->name, err) : st;
}

dse_status drv_network_load(const char *system, const char *file, const cfg_settings *settings, dse_arena *a,
                            drv_network *out, dse_error *err)
{
    card_system *card = DSE_ARENA_NEW(a, card_system, 1); /* in the arena, as some of its text is returned */
    dse_status st;

    *out = (drv_network){0};
    st = system ? load_system(system, settings, a, card, out, err)
                : load_file(file, settings, a, card, out, err);
    out->n_unknown_keys = card->n_unknown_keys;
    out->unknown_key = card->unknown_key;
    return st;
}
