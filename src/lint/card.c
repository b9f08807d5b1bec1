/* Our cards, and what is common to both descriptions of a system. */
#include "cards/device.h"
#include "cards/hf.h"
#include "cards/model.h"
#include "lint/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- a card, key by key -------------------------------------------------------------------- */

typedef struct {
    lint *l;
    const cfg_table *table;
    const cfg_doc *doc;
    void *values; /* of the table, for checking: what a key says goes there */
    cfg_given given;
    bool refused;
} card;

static void refuse(card *c, const char *key, const dse_error *why)
{
    lint_add_error(c->l, key, key, why);
    c->refused = true;
}

static void card_value(card *c, const cfg_param *p, const cfg_node *key, const cfg_node *value)
{
    const lint_row *row = lint_find(&lint_parameters, p->key);
    size_t number = (size_t)(p - c->table->rows);
    dse_error why = DSE_ERROR_INIT;

    if (row)
        lint_row_key(c->l, c->doc, row, p->key, key, value, p->unit_name, p->help);
    else
        lint_add_key(c->l, p->key, key, value, p->unit_name, p->help, LINT_USED);
    if (cfg_given_has(&c->given, number))
        cfg_fail(&why, c->doc, key, "the key stands twice");
    else
        cfg_param_set(p, c->doc, value, c->values, &why);
    cfg_given_put(&c->given, number);
    if (why.status != DSE_OK)
        refuse(c, p->key, &why);
}

static void card_section(card *c, const cfg_node *map, const char *prefix)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const cfg_node *key = map->key[i], *value = map->item[i];
        const cfg_param *p;
        bool is_section;
        dse_error why = DSE_ERROR_INIT;
        char path[192];

        snprintf(path, sizeof path, "%s%s%.80s", prefix, *prefix ? "." : "", key->text);
        p = cfg_param_find(c->table, path);
        is_section = cfg_is_section(c->table, path);
        if (p && !(is_section && (value->kind == CFG_MAP || !*value->text))) {
            card_value(c, p, key, value);
            continue;
        }
        if (is_section) {
            if (value->kind == CFG_MAP)
                card_section(c, value, path);
            else if (value->kind != CFG_SCALAR || *value->text) { /* empty: its lines are all comments */
                cfg_fail(&why, c->doc, key, "must be a mapping of keys to values");
                refuse(c, path, &why);
            }
            continue;
        }
        lint_add_key(c->l, path, key, value, "", "", LINT_UNKNOWN);
        cfg_unknown_key(c->table, c->doc, key, path, &why);
        refuse(c, path, &why);
    }
}

static const cfg_node *default_node(cfg_node *node, const char *text)
{
    *node = (cfg_node){.kind = CFG_SCALAR, .text = text};
    return node;
}

static void card_absent(card *c)
{
    for (uint32_t i = 0; i < c->table->n; i++) {
        const cfg_param *p = &c->table->rows[i];
        cfg_node node;

        const lint_row *row = lint_find(&lint_parameters, p->key);
        const char *meaning = row && row->meaning ? row->meaning : p->help;

        if (cfg_given_has(&c->given, i) || (row && row->effect == LINT_NEVER_READ) || p->omit_default)
            continue;
        if (!p->fallback) {
            lint_add_key(c->l, p->key, NULL, NULL, p->unit_name, meaning, LINT_MISSING);
            lint_add(c->l, LINT_ERROR, c->doc->path, p->key, "missing, and it has no default; add it (%s)",
                     p->help);
            c->refused = true;
        } else {
            lint_add_key(c->l, p->key, NULL, *p->fallback ? default_node(&node, p->fallback) : NULL,
                         p->unit_name, meaning, *p->fallback ? LINT_DEFAULT : LINT_ABSENT);
        }
    }
}

/* What a system card leaves to the file of its device. One that is wrong is said when the card is read. */
static void of_device(card *c)
{
    card_system *s = c->values;

    s->given = c->given;
    if (card_system_fill_sheet(s, NULL) != DSE_OK)
        return;
    for (uint32_t i = 0; i < c->table->n; i++) {
        const cfg_param *p = &c->table->rows[i];
        dse_strbuf value = dse_strbuf_in(c->l->arena);
        cfg_node node;
        dse_json j;

        if (!cfg_given_has(&s->given, i) || cfg_given_has(&c->given, i))
            continue;
        dse_json_init(&j, &value);
        cfg_param_write_json(p, s, &j);
        lint_add_key(c->l, p->key, NULL, default_node(&node, value.data), p->unit_name,
                     dse_arena_printf(c->l->arena, "%s; of configs/devices/%s.yaml", p->help, s->device),
                     LINT_DEFAULT);
    }
    c->given = s->given;
}

/* True if a run would take the keys one by one. */
static bool lint_card(lint *l, const cfg_table *table, const cfg_doc *doc, void *values)
{
    card c = {.l = l, .table = table, .doc = doc, .values = values};

    card_section(&c, doc->root, "");
    if (table == &card_system_table)
        of_device(&c);
    card_absent(&c);
    *(cfg_given *)values = c.given;
    return !c.refused;
}

static const char elements[] = "sizes are numbers of elements: STAGE writes them where ASTRA-sim reads "
                               "bytes, so that messages, memory traffic and "
                               "peak memory of a 16-bit training are half of what they are in bytes";

static const char bytes[] =
    "sizes are bytes, by the precision: ccldse counts them, and two operations a multiply-add; STAGE has no "
    "such key and counts elements";

static const char of_main[] = "stage.version main: STAGE's branch main has the cost of attention linear in "
                              "the sequence, the work of experts "
                              "divided by ep twice, gradients reduced in every micro-batch, and messages in "
                              "elements; profile train has all of "
                              "it right";

static const char trains[] = "profile train: sizes are bytes, and how many an element has is said by the "
                             "program whose habits count (--like)";

static dse_status fill_in_defaults(card_model *m, dse_error *err)
{
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < card_model_table.n; i++) {
        const cfg_param *p = &card_model_table.rows[i];

        if (p->fallback && !cfg_is_given(&card_model_table, m, p->key))
            st = cfg_param_default(p, p->fallback, m, err);
    }
    return st;
}

void lint_model_card(lint *l, const cfg_doc *doc)
{
    card_model values = {0};
    dse_error why = DSE_ERROR_INIT;
    wl_precision precision;

    if (!lint_card(l, &card_model_table, doc, &values))
        return;
    if (fill_in_defaults(&values, &why) != DSE_OK ||
        card_model_check_precision(&values, doc->path, &why) != DSE_OK) {
        lint_add_error(l, "precision", "", &why);
        return;
    }
    if (card_model_check_experts(&values, &why) != DSE_OK) {
        lint_add(l, LINT_ERROR, cfg_at(doc, cfg_get(doc->root, "experts")).text, "experts", "%s", why.text);
        return;
    }
    precision = card_model_precision(&values);
    if (card_model_settle_profile(&values, l->arena, &why) != DSE_OK) {
        lint_add_error(l, "operators", "", &why);
        return;
    }
    lint_add(l, LINT_NOTE, doc->path, "", "%s",
             card_model_trains(&values)    ? trains
             : card_model_is_main(&values) ? of_main
             : wl_in_bytes(&precision)     ? bytes
                                           : elements);
}

void lint_system_card(lint *l, const cfg_doc *doc)
{
    card_system values = {0};
    dse_error why = DSE_ERROR_INIT;

    if (!lint_card(l, &card_system_table, doc, &values))
        return;
    if (card_system_read(doc, NULL, &values, &why) != DSE_OK) /* checks between keys */
        lint_add_error(l, "", "", &why);
    else {
        l->names_of_astra = false;
        lint_complete_system(l, &(card_places){doc, doc}, doc->path, &values);
    }
}

/* ---- a system, whichever files it is from -------------------------------------------------- */

/* Whether a switch or a name has the value that is written so. */
static bool has_value(const card_system *s, const cfg_param *p, const char *value)
{
    const void *field = (const char *)s + p->offset;

    return p->type == CFG_T_NAME ? !strcmp(field, value) : *(const bool *)field == !strcmp(value, "true");
}

/* In ASTRA-sim's files a switch is a number. */
static const char *astra_value(const cfg_param *p, const char *value)
{
    return p->type != CFG_T_BOOL ? value : !strcmp(value, "true") ? "1" : "0";
}

/* The key as its file calls it. */
static const char *name_in(const cfg_doc *doc, const cfg_param *p, const cfg_node **key,
                           const cfg_node **value)
{
    const cfg_node *map = doc->root;
    const char *dot = strchr(p->key, '.');
    char section[40];

    for (int way = 0; way < 3; way++) {
        const char *name = way == 0 ? p->astra_key : way == 1 ? p->key : dot + 1;

        if (way == 2) {
            snprintf(section, sizeof section, "%.*s", (int)(dot - p->key), p->key);
            map = cfg_get(doc->root, section);
        }
        for (uint32_t i = 0; name && map && map->kind == CFG_MAP && i < map->n; i++)
            if (!strcmp(map->key[i]->text, name)) {
                *key = map->key[i];
                *value = map->item[i];
                return way == 0 ? p->astra_key : p->key;
            }
    }
    return NULL;
}

void lint_check_dependencies(lint *l, const card_places *in, const card_system *s)
{
    for (uint32_t i = 0; i < lint_n_dependencies; i++) {
        const lint_dependency *d = &lint_dependencies[i];
        const cfg_param *p = cfg_param_find(&card_system_table, d->key);
        const cfg_param *on = cfg_param_find(&card_system_table, d->on);
        const cfg_doc *doc = card_system_in_network_file(p) ? in->network : in->system;
        const cfg_node *key, *value;
        const char *name;

        if (!doc || !has_value(s, on, d->while_value) || !(name = name_in(doc, p, &key, &value)))
            continue;
        lint_set_effect(l, doc->path, name, LINT_NO_EFFECT);
        lint_add(l, LINT_WARNING, cfg_at(doc, key).text, name, "without effect while %s is %s",
                 name == p->key ? on->key : on->astra_key,
                 name == p->key ? d->while_value : astra_value(on, d->while_value));
    }
}

void lint_link_rates(const card_system *s, char out[LINT_LINK_RATES_MAX])
{
    *out = '\0';
    for (uint32_t i = 0; i < s->bandwidth.n; i++) {
        size_t n = strlen(out);

        snprintf(out + n, LINT_LINK_RATES_MAX - n, "%s%.5g", i ? ", " : "", s->bandwidth.v[i] * 1.073741824);
    }
}

/* The same word, two units: with the numbers. */
static void note_units(lint *l, const char *path, const card_system *s)
{
    char list[LINT_LINK_RATES_MAX];

    lint_link_rates(s, list);
    lint_add(l, LINT_NOTE, path, "",
             "a bare link bandwidth counts 2^30 bytes per second, a bare memory bandwidth 10^9: the links "
             "have %s GB/s, the memory has %.5g GB/s, in 10^9 bytes",
             list, s->memory_bandwidth);
}

static bool has_implementations(const card_system *s)
{
    for (int i = 0; i < SIM_N_COLLECTIVES; i++)
        if (s->collective[i].n)
            return true;
    return false;
}

/* Without congestion chunks do not wait for each other: a card that says
 * nothing has one in profile train. */
static void note_chunks(lint *l, const card_places *in, const net_network *net, const card_system *s)
{
    const char *key = "scheduler.active_chunks_per_dimension";
    const int64_t chunks = s->active_chunks < s->splits ? s->active_chunks : s->splits;

    if (l->names_of_astra || net->is_measured || net->congestion || chunks < 2 ||
        !cfg_is_given(&card_system_table, s, key))
        return;
    lint_add(l, LINT_NOTE, card_place(in, key).text, key,
             "%" PRId64
             " chunks of a collective travel at once as if each had the link alone: large ones are up to so "
             "many times faster than the link, in profile train, too; 1 keeps to it",
             chunks);
}

/* A missing list, or one that omits a dimension, is refused only when a collective needs it. The first entry
 * of oneRing and its like stands for all dimensions. */
static void check_implementations(lint *l, const char *path, const sim_settings *set, uint32_t n_dims)
{
    static const char *const names[SIM_N_COLLECTIVES] = {[SIM_ALL_REDUCE] = "all-reduce",
                                                         [SIM_ALL_GATHER] = "all-gather",
                                                         [SIM_REDUCE_SCATTER] = "reduce-scatter",
                                                         [SIM_ALL_TO_ALL] = "all-to-all"};

    for (int i = 0; i < SIM_N_COLLECTIVES; i++) {
        const sim_implementations *of = &set->implementations[i];

        if (!of->n_dims)
            lint_add(l, LINT_WARNING, path, "",
                     "no implementation of the %s: one over all NPUs crashes ASTRA-sim or never ends, and is "
                     "refused here; list one a dimension",
                     names[i]);
        else if (of->n_dims < n_dims && !of->dim[0].over_all)
            lint_add(
                l, LINT_WARNING, path, "",
                "the implementations of the %s are for %" PRIu32 " of the %" PRIu32
                " dimensions: one over all NPUs leaves the others out, and is so much faster; list one a "
                "dimension",
                names[i], of->n_dims, n_dims);
    }
}

void lint_complete_system(lint *l, const card_places *in, const char *path, const card_system *s)
{
    dse_error why = DSE_ERROR_INIT;
    sim_settings settings;
    net_network net;

    if (card_system_check(s, in, &why) != DSE_OK || card_system_build(s, &net, &settings, &why) != DSE_OK) {
        lint_add_failure(l, path, &why);
        return;
    }
    lint_check_dependencies(l, in, s);
    note_units(l, path, s);
    lint_network(l, in, &net);
    note_chunks(l, in, &net, s);
    check_implementations(l, path, &settings, net.n_dims);
    if (has_implementations(s))
        lint_add(l, LINT_NOTE, path, "",
                 "the implementations are for collectives over all %" PRIu32
                 " NPUs; a smaller group runs %s in listed order, in one phase, with an endpoint "
                 "delay of 10 ns",
                 net.n_npus,
                 lint_version(s)->groups_by_algorithm ? "the one of a list of one name, or else a flat ring,"
                                                      : "as a flat ring");
    if (card_system_released_check(s, &why) != DSE_OK)
        lint_add(l, LINT_NOTE, path, "", "%s", why.text);
    if (!s->roofline_enabled && !s->replay_only)
        lint_add(l, LINT_NOTE, path, "",
                 "without the roofline a compute node lasts as long as its trace says, and 1 ns if that says "
                 "nothing, as STAGE's do");
    if (s->track_local_mem && !s->trace_enabled && !lint_version(s)->prints_memory_untraced)
        lint_add(l, LINT_NOTE, path, "",
                 "local memory is tracked, but ASTRA-sim prints the peak only if tracing (trace-enabled) is "
                 "on, too");
    lint_add(l, LINT_NOTE, path, "",
             "sizes in a workload are taken as bytes, and STAGE writes numbers of elements: figures are "
             "those of one byte an "
             "element");
    if (!isnan(s->hbm_bytes))
        lint_add(l, LINT_NOTE, path, "",
                 "memory.capacity is in bytes, and peak memory counts elements as if they were bytes, unless "
                 "the model card has a precision");
    l->n_networks++;
    l->net = net;
    l->values = *s;
    l->net_path = path;
}

/* ---- a Hugging Face config ----------------------------------------------------------------- */

static void hf_key(lint *l, const cfg_doc *made, const cfg_node *key, const cfg_node *value,
                   const card_hf_notes *notes)
{
    const char *card_key = card_hf_card_key(made, key);
    const cfg_param *p = card_key ? cfg_param_find(&card_model_table, card_key) : NULL;

    for (uint32_t i = 0; i < notes->n; i++) {
        if (notes->item[i].key != key)
            continue;
        lint_add_key(l, key->text, key, value, "", notes->item[i].text, LINT_NOT_MODELLED);
        return;
    }
    if (p)
        lint_add_key(l, key->text, key, value, p->unit_name, p->help, LINT_USED);
    else
        lint_add_key(l, key->text, key, value, "", "", LINT_NOT_NEEDED);
}

void lint_hf_config(lint *l, const cfg_doc *doc)
{
    dse_error why = DSE_ERROR_INIT;
    const cfg_node *text = card_hf_text(doc);
    card_hf_notes notes = {0};
    card_model values;
    cfg_doc sizes;
    bool accepted = card_hf_card(doc, l->arena, &sizes, &notes, &why) == DSE_OK;

    for (uint32_t i = 0; i < doc->root->n; i++)
        if (doc->root->item[i] != text)
            hf_key(l, accepted ? &sizes : NULL, doc->root->key[i], doc->root->item[i], &notes);
    for (uint32_t i = 0; text != doc->root && i < text->n; i++)
        hf_key(l, accepted ? &sizes : NULL, text->key[i], text->item[i], &notes);
    for (uint32_t i = 0; accepted && i < sizes.root->n; i++) {
        const cfg_param *p = cfg_param_find(&card_model_table, sizes.root->key[i]->text);
        dse_error wrong = DSE_ERROR_INIT;

        if (cfg_param_set(p, &sizes, sizes.root->item[i], &values, &wrong) != DSE_OK)
            lint_add_error(l, p->key, p->key, &wrong);
    }
    if (!accepted) {
        lint_add_error(l, "", "", &why);
        return;
    }
    for (uint32_t i = 0; i < notes.n; i++)
        lint_add(l, LINT_WARNING, cfg_at(doc, notes.item[i].key).text, notes.item[i].key->text,
                 "not modelled: %s", notes.item[i].text);
    if (card_hf_check(&sizes, NULL, &why) != DSE_OK)
        lint_add(l, LINT_NOTE, doc->path, "", "%s", why.text);
    lint_add(l, LINT_NOTE, doc->path, "", "%s", cfg_get(sizes.root, "operators") ? trains : elements);
}
