/* ASTRA-sim's files of a system, system.json and network.yml: read, as we take them or as ASTRA-sim itself
 * does, and written. */
#include "cards/system.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* Keys of system.json that are no parameter: without effect here, and refused unless they are 0. */
static const char *const ignored_keys[] = {
    "local-mem-trace-filename",
    "intra-dimension-scheduling",
    "inter-dimension-scheduling",
};
static const char *const refused_keys[] = {
    "all-reduce-implementation-chakra",
    "all-gather-implementation-chakra",
    "all-to-all-implementation-chakra",
};

bool card_astra_takes_for_true(const cfg_param *p, const cfg_node *value)
{
    return p->type == CFG_T_BOOL && value->kind == CFG_SCALAR && !value->quoted &&
           !strcmp(value->text, "false") &&
           strcmp(p->astra_key, "model-shared-bus") !=
               0; /* read as an integer, which a boolean converts to */
}

const cfg_param *card_astra_find(const char *key, bool network)
{
    for (uint32_t i = 0; i < card_system_table.n; i++)
        if (card_system_table.rows[i].astra_key &&
            card_system_in_network_file(&card_system_table.rows[i]) == network &&
            !strcmp(card_system_table.rows[i].astra_key, key))
            return &card_system_table.rows[i];
    return NULL;
}

bool card_astra_reads(const sim_version_row *v, const cfg_param *p)
{
    return v->has_custom_collectives || !strstr(p->key, "custom");
}

static dse_status read_astra_file(const cfg_doc *doc, bool network, bool released, const sim_version_row *v,
                                  card_system *out, dse_error *err)
{
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];
        const cfg_node *node = p->astra_key ? cfg_get(doc->root, p->astra_key) : NULL;
        dse_status st;

        if (card_system_in_network_file(p) != network)
            continue;
        if ((released && p->astra_lacks) || !card_astra_reads(v, p))
            node = NULL;
        if (released && node && (p->bare || p->listed) && node->kind == CFG_SCALAR)
            return cfg_fail(err, doc, node, "ASTRA-sim takes '%s' as a list alone; write [%s]", p->astra_key,
                            node->text);
        if (node && card_astra_takes_for_true(p, node))
            return cfg_fail(err, doc, node, "ASTRA-sim takes false for true in '%s'; write 0 or 1",
                            p->astra_key);
        if (node)
            st = cfg_param_set(p, doc, node, out, err);
        else if (!p->astra_key)
            st = cfg_param_default(p, p->fallback, out, err);
        else if (p->astra_fallback)
            st = cfg_param_default(p, p->astra_fallback, out, err);
        else
            return dse_fail_at(err, DSE_E_CONFIG, doc->path, "the key '%s' is missing (%s)", p->astra_key,
                               p->help);
        if (st != DSE_OK)
            return st;
        if (node)
            cfg_given_put(&out->given, i);
    }
    return DSE_OK;
}

static bool is_known(const char *key, const sim_version_row *v)
{
    const cfg_param *p = card_astra_find(key, false);

    for (size_t i = 0; i < DSE_COUNT(ignored_keys); i++)
        if (!strcmp(ignored_keys[i], key))
            return true;
    return p && card_astra_reads(v, p);
}

static dse_status check_other_keys(const cfg_doc *doc, const sim_version_row *v, card_system *out,
                                   dse_error *err)
{
    for (uint32_t i = 0; i < doc->root->n; i++) {
        const char *key = doc->root->key[i]->text;
        bool refused = false;

        for (size_t k = 0; v->refuses_chakra_settings && k < DSE_COUNT(refused_keys); k++) {
            if (strcmp(refused_keys[k], key))
                continue;
            refused = true;
            if (doc->root->item[i]->kind != CFG_SCALAR || strcmp(doc->root->item[i]->text, "0"))
                return cfg_fail(
                    err, doc, doc->root->key[i],
                    "'%s': collectives as Chakra traces crash the reference and are not simulated", key);
        }
        if (!refused && !is_known(key, v) && !out->n_unknown_keys++)
            snprintf(out->unknown_key, CFG_NAME_MAX, "%.60s", key);
    }
    return DSE_OK;
}

/* Told before the size: of a mesh ASTRA-sim does not get as far. */
static dse_status check_released_topologies(const cfg_doc *network, const card_system *s, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;

    for (uint32_t i = 0; i < s->topology.n; i++)
        if (net_released_topology(net_topology_find(s->topology.v[i]), &why) != DSE_OK)
            return dse_fail_at(err, why.status,
                               card_place(&(card_places){NULL, network}, "network.topology").text, "%s",
                               why.text);
    return DSE_OK;
}

/* The version that a system.json names. */
static dse_status find_version(const cfg_doc *system, bool released, cfg_name out, dse_error *err)
{
    const cfg_param *p = cfg_param_find(&card_system_table, "simulator.version");
    const cfg_node *node = released ? NULL : cfg_get(system->root, p->astra_key);
    card_system s = {0};
    dse_status st =
        node ? cfg_param_set(p, system, node, &s, err) : cfg_param_default(p, p->astra_fallback, &s, err);

    memcpy(out, s.version, sizeof s.version);
    return st;
}

const sim_version_row *card_astra_version(const cfg_doc *system)
{
    cfg_name name = "";

    (void)find_version(system, false, name, NULL); /* who reads the file reports it */
    return &sim_versions[sim_version_find(name)];
}

dse_status card_system_read_version(const cfg_doc *system, const cfg_doc *network, bool released,
                                    const char *version, card_system *out, dse_error *err)
{
    const cfg_doc *docs[] = {system, network};
    const sim_version_row *v;
    cfg_name name = "";
    dse_status st = DSE_OK;

    memset(out, 0, sizeof *out);
    out->short_lists = true;
    for (int i = 0; i < 2; i++)
        if (docs[i]->root->kind != CFG_MAP)
            return dse_fail_at(err, DSE_E_CONFIG, docs[i]->path, "the file must map keys to values");
    if (!version && (st = find_version(system, released, name, err)) != DSE_OK)
        return st;
    v = &sim_versions[sim_version_find(version ? version : name)];
    for (int i = 0; st == DSE_OK && i < 2; i++)
        st = read_astra_file(docs[i], i == 1, released, v, out, err);
    snprintf(out->version, sizeof out->version, "%s", v->name);
    if (st == DSE_OK)
        st = check_other_keys(system, v, out, err);
    return st == DSE_OK && released ? check_released_topologies(network, out, err) : st;
}

dse_status card_system_read_astra_network(const cfg_doc *network, const cfg_settings *settings,
                                          card_system *out, net_network *net, dse_error *err)
{
    const card_places in = {NULL, network};
    const size_t n = settings ? settings->n : 0;
    dse_status st;

    memset(out, 0, sizeof *out);
    if (network->root->kind != CFG_MAP)
        return dse_fail_at(err, DSE_E_CONFIG, network->path, "the file must map keys to values");
    st = read_astra_file(network, true, false, &sim_versions[SIM_STAGE], out, err);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        if (strncmp(settings->item[i].path, "network.", 8) != 0)
            return dse_fail(err, DSE_E_CONFIG,
                            "'%.80s' is not a setting of a network; those begin with 'network.'",
                            settings->item[i].path);
        st = cfg_table_set(&card_system_table, &settings->item[i], out, err);
    }
    if (st == DSE_OK)
        st = card_network_build(out, n ? NULL : &in, net, err);
    dse_error_set_where(err, network->path);
    return st;
}

dse_status card_system_read_astra(const cfg_doc *system, const cfg_doc *network, card_system *out,
                                  dse_error *err)
{
    return card_system_read_version(system, network, false, NULL, out, err);
}

dse_status card_system_read_released(const cfg_doc *system, const cfg_doc *network, card_system *out,
                                     dse_error *err)
{
    return card_system_read_version(system, network, true, NULL, out, err);
}

void card_system_write_astra_system(const card_system *s, dse_strbuf *out)
{
    bool first = true;

    dse_strbuf_adds(out, "{\n");
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];
        dse_json j;

        if (!p->astra_key || p->astra_ignores || card_system_in_network_file(p) || cfg_param_is_absent(p, s))
            continue;
        if (p->type == CFG_T_BOOL && p->astra_fallback && !strcmp(p->astra_fallback, p->fallback) &&
            !*(const bool *)((const char *)s + p->offset))
            continue; /* a rare switch that is off */
        dse_strbuf_addf(out, "%s  \"%s\": ", first ? "" : ",\n", p->astra_key);
        first = false;
        if (p->type == CFG_T_BOOL) { /* the reference compares with 0 */
            dse_strbuf_adds(out, *(const bool *)((const char *)s + p->offset) ? "1" : "0");
            continue;
        }
        dse_json_init(&j, out);
        cfg_param_write_json(p, s, &j);
    }
    dse_strbuf_adds(out, "\n}\n");
}

void card_system_write_astra_network(const card_system *s, dse_strbuf *out)
{
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];
        dse_json j;

        if (!card_system_in_network_file(p) || (p->fallback && cfg_param_is_absent(p, s)))
            continue;
        dse_strbuf_addf(out, "%s: ", p->astra_key);
        dse_json_init(&j, out);
        if (p->type == CFG_T_NAME_LIST) { /* unquoted, as the reference's own files are */
            const cfg_name_list *l = (const void *)((const char *)s + p->offset);
            dse_strbuf_addc(out, '[');
            for (uint32_t k = 0; k < l->n; k++)
                dse_strbuf_addf(out, "%s%s", k ? "," : "", *l->v[k] ? l->v[k] : "~");
            dse_strbuf_addc(out, ']');
        } else {
            cfg_param_write_json(p, s, &j);
        }
        dse_strbuf_addf(out, "%s%s\n", *p->unit_name ? "  # " : "", p->unit_name);
    }
}
