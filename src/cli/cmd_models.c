/* Lists the cards in configs/models and configs/systems, the keys of a card, and what one card says; writes a
 * new one. */
#include "base/fs.h"
#include "cards/device.h"
#include "cards/hf.h"
#include "cards/locate.h"
#include "cli/command.h"
#include "cli/new_card.h"
#include "driver/study.h"
#include "report/tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *card; /* or NEW_CARD */
    bool keys, names, json;
    new_model_options model;
    new_system_options system;
} list_options;

#define FIELD(f) .offset = offsetof(list_options, f)

#define NEW_CARD "new"

/* Of both commands, but for the name of the card. */
#define CARD_ROW(card_, of)                                                                                  \
    {                                                                                                        \
        card_, OPT_STRING, NULL, "",                                                                         \
            "show this card: each value with its unit, and where it is from; " NEW_CARD                      \
            ": write one of " of,                                                                            \
            FIELD(card)                                                                                      \
    }
#define LIST_ROWS                                                                                            \
    {"--keys",   OPT_FLAG, NULL, "false", "list the keys of a card instead: type, unit, range, default",     \
     FIELD(keys)},                                                                                           \
        {"--names", OPT_FLAG, NULL, "false", "print the names alone, one a line", FIELD(names)},             \
    {                                                                                                        \
        "--json", OPT_FLAG, NULL, "false", "print the list, or the card, as JSON", FIELD(json)               \
    }

static const option model_options[] = {
    CARD_ROW("MODEL", "a Hugging Face config"),
    OPTION_GROUP(new_model_rows, model),
    LIST_ROWS,
};

static const option system_options[] = {
    CARD_ROW("SYSTEM", "a node's description"),
    LIST_ROWS,
    OPTION_GROUP(new_system_rows, system),
};

/* Under one name for programs and for people. */
#define V_BOTH(kind, name, v) V_AS(name, kind(name, v))

/* "50,25"; "-" where there is none. */
static const char *join_numbers(const cfg_double_list *l, dse_arena *a)
{
    const char *text = l->n ? "" : "-";

    for (uint32_t i = 0; i < l->n; i++)
        text = dse_arena_printf(a, "%s%s%g", text, i ? "," : "", l->v[i]);
    return text;
}

/* The same for programs. */
static const char *json_numbers(const cfg_double_list *l, dse_arena *a)
{
    return dse_arena_printf(a, "[%s]", l->n ? join_numbers(l, a) : "");
}

static dse_status add_model(const char *name, const char *path, dse_arena *a, report_node *list,
                            dse_error *err)
{
    card_model m;
    cfg_doc doc;
    dse_status st = cfg_load(path, a, &doc, err);

    if (st != DSE_OK || (st = card_model_read(&doc, NULL, &m, err)) != DSE_OK)
        return st;
    if ((st = card_model_settle_profile(&m, a, err)) != DSE_OK)
        return st;
    report_row(list, V_BOTH(V_TEXT, "model", name),
               V_BOTH(V_TEXT, "profile", card_model_trains(&m) ? "train" : "stage"),
               V_BOTH(V_INTEGER, "layers", m.layers), V_BOTH(V_INTEGER, "d_model", m.d_model),
               V_BOTH(V_INTEGER, "d_ff", m.d_ff), V_BOTH(V_INTEGER, "heads", m.heads),
               V_BOTH(V_INTEGER, "vocabulary", m.vocabulary), V_BOTH(V_INTEGER, "batch", m.batch),
               V_BOTH(V_INTEGER, "sequence", m.sequence));
    return DSE_OK;
}

/* "Mesh2D 4x4 x Switch 2, with congestion" */
static void add_network(const net_network *net, dse_strbuf *out)
{
    for (uint32_t i = 0; i < net->n_dims; i++) {
        char name[NET_DIMENSION_NAME];

        net_dimension_name(&net->dim[i], name, sizeof name);
        dse_strbuf_addf(out, "%s%s", i ? " x " : "", name);
    }
    if (net->congestion)
        dse_strbuf_adds(out, ", with congestion");
}

static dse_status add_system(const char *name, const char *path, dse_arena *a, report_node *list,
                             dse_error *err)
{
    net_network net;
    card_system s;
    cfg_doc doc;
    dse_status st = cfg_load(path, a, &doc, err);
    dse_strbuf network = dse_strbuf_in(a);

    if (st != DSE_OK || (st = card_system_read(&doc, NULL, &s, err)) != DSE_OK)
        return st;
    if ((st = card_network_build(&s, NULL, &net, err)) != DSE_OK)
        return st;
    add_network(&net, &network);
    report_row(
        list, V_BOTH(V_TEXT, "system", name), V_AS("NPUs", V_COUNT("npus", net.n_npus)),
        V_BOTH(V_TEXT, "topology", network.data), V_RAW("link_gib_per_s", json_numbers(&s.bandwidth, a)),
        V_CELL("link GiB/s", join_numbers(&s.bandwidth, a)), V_RAW("latency_ns", json_numbers(&s.latency, a)),
        V_CELL("latency ns", join_numbers(&s.latency, a)), V_REAL("memory_gb_per_s", s.memory_bandwidth),
        V_CELL("memory GB/s", report_format("%g", s.memory_bandwidth).text), V_REAL("tflops", s.peak_perf),
        V_CELL("TFLOPS", report_format(isnan(s.peak_perf) ? "-" : "%g", s.peak_perf).text));
    return DSE_OK;
}

typedef struct {
    card_kind kind;
    const cfg_table *table;
    const char *headings; /* of a list without cards */
    dse_status (*add)(const char *name, const char *path, dse_arena *a, report_node *list, dse_error *err);
    dse_status (*show)(const char *name, bool json, command_run *r, dse_error *err);
} listing;

/* ---- one card ------------------------------------------------------------------------------- */

/* What a card says, once as it was read and once with what its device adds. */
typedef struct {
    const cfg_table *table;
    const cfg_doc *doc; /* NULL: several files */
    const char *path, *device;
    const void *read, *resolved;
} shown_card;

/* "line 14"; "default"; where the laws of kernels are from. */
static const char *origin_of(const shown_card *c, const cfg_param *p, dse_arena *a)
{
    const char *dot = strchr(p->key, '.');
    const cfg_node *node = NULL;

    if (c->doc) {
        node = !dot ? cfg_get(c->doc->root, p->key)
                    : cfg_get(cfg_get(c->doc->root, dse_arena_printf(a, "%.*s", (int)(dot - p->key), p->key)),
                              dot + 1);
        if (dot && !node) /* "precision: mixed" says what is below it */
            node = cfg_get(c->doc->root, p->key);
    }
    if (node)
        return dse_arena_printf(a, "line %" PRIu32, node->line);
    if (cfg_is_given(c->table, c->read, p->key))
        return !c->doc                   ? "its files"
               : c->device && *c->device ? dse_arena_printf(a, "device %s", c->device)
                                         : "the card";
    if (!strncmp(p->key, "collectives.", 12) && strcmp(p->key, "collectives.all") != 0)
        return origin_of(c, cfg_param_find(c->table, "collectives.all"), a);
    if (cfg_param_is_absent(p, c->read))
        return dse_arena_printf(a, "device %s", c->device);
    return "default";
}

/* A value for people, with its unit: without the quotes of JSON, six digits of a fraction, sizes as "80.0
 * GB". */
static const char *readable(const cfg_param *p, const char *json, dse_arena *a)
{
    const bool size = !strcmp(p->unit_name, "B");
    dse_strbuf out = dse_strbuf_in(a);

    for (const char *from = json; *from;) {
        char *end = (char *)(uintptr_t)from;
        const double number =
            p->type == CFG_T_DOUBLE || p->type == CFG_T_DOUBLE_LIST ? strtod(from, &end) : 0;

        if (end > from && size)
            dse_strbuf_adds(&out, report_size(number).text);
        else if (end > from)
            dse_strbuf_addf(&out, "%.*g", number < 1e6 ? 6 : 15, number);
        else if (*from != '"')
            dse_strbuf_addf(&out, *from == ',' ? ", " : "%c", *from);
        from = end > from ? end : from + 1;
    }
    if (*p->unit_name && !size)
        dse_strbuf_addf(&out, " %s", p->unit_name);
    return out.data;
}

static void put_keys(const shown_card *c, dse_arena *a, report_node *list)
{
    for (uint32_t i = 0; i < c->table->n; i++) {
        const cfg_param *p = &c->table->rows[i];
        dse_strbuf value = dse_strbuf_in(a);
        dse_json j;

        if (cfg_param_is_absent(p, c->resolved) || p->moved)
            continue;
        dse_json_init(&j, &value);
        cfg_param_write_json(p, c->resolved, &j);
        report_row(list, V_BOTH(V_TEXT, "key", p->key), V_RAW("value", value.data),
                   V_GIVEN(*p->unit_name, V_TEXT("unit", p->unit_name)),
                   V_BOTH(V_TEXT, "from", origin_of(c, p, a)), V_NOTE("value", readable(p, value.data, a)));
    }
}

static void print_card(const shown_card *c, const char *name, bool json, command_run *r)
{
    report_tree t;
    report_node *root = report_tree_begin(&t);

    if (json) {
        report_put(root, V_TEXT("name", name), V_TEXT("path", c->path));
        put_keys(c, r->arena, report_lines(root, "keys"));
        report_tree_end(&t, r->out);
        return;
    }
    dse_strbuf_addf(r->out, "%s (%s)\n", name, c->path);
    put_keys(c, r->arena, root);
    report_table_end(&t, r->out);
}

static dse_status show_model(const char *name, bool json, command_run *r, dse_error *err)
{
    shown_card c = {.table = &card_model_table};
    const char *note;
    card_model m;
    cfg_doc doc;
    dse_status st;

    if ((st = card_locate(CARD_MODELS, name, r->arena, &c.path, err)) != DSE_OK ||
        (st = cfg_load(c.path, r->arena, &doc, err)) != DSE_OK ||
        (st = card_hf_resolve(&doc, r->arena, &note, err)) != DSE_OK ||
        (st = card_model_read_part(&doc, NULL, &m, err)) != DSE_OK ||
        (st = card_model_settle_profile(&m, r->arena, err)) != DSE_OK ||
        (st = card_name(c.path, r->arena, &name, err)) != DSE_OK)
        return st;
    c.doc = &doc;
    c.read = c.resolved = &m;
    if (note)
        report_warning("%s", note);
    print_card(&c, name, json, r);
    return DSE_OK;
}

static dse_status show_system(const char *name, bool json, command_run *r, dse_error *err)
{
    shown_card c = {.table = &card_system_table};
    card_system read, resolved;
    card_tables tables = {.arena = r->arena};
    cfg_doc doc;
    dse_status st;

    if ((st = card_locate(CARD_SYSTEMS, name, r->arena, &c.path, err)) != DSE_OK ||
        (st = drv_system_load(name, NULL, r->arena, &read, &name, err)) != DSE_OK)
        return st;
    resolved = read;
    if ((st = card_system_fill_laws(&resolved, &tables, r->arena, err)) != DSE_OK)
        return st;
    if (!dse_is_dir(c.path)) {
        if ((st = cfg_load(c.path, r->arena, &doc, err)) != DSE_OK)
            return st;
        c.doc = &doc;
    }
    c.device = read.device;
    c.read = &read;
    c.resolved = &resolved;
    print_card(&c, name, json, r);
    return DSE_OK;
}

static const listing models = {CARD_MODELS, &card_model_table,
                               "model  profile  layers  d_model  d_ff  heads  vocabulary  batch  sequence\n",
                               add_model, show_model};
static const listing systems = {CARD_SYSTEMS, &card_system_table,
                                "system  NPUs  topology  link GiB/s  latency ns  memory GB/s  TFLOPS\n",
                                add_system, show_system};

/* ---- the commands --------------------------------------------------------------------------- */

/* `bare`: the names, for completion, without reading a card, so that a broken one does not hide the
 * others. */
static dse_status list_cards(const listing *l, bool bare, bool json, command_run *r, dse_error *err)
{
    const char **names, *folder;
    report_tree t;
    report_node *list;
    size_t n;
    dse_status st = card_list(l->kind, r->arena, &names, &n, &folder, err);

    if (st != DSE_OK)
        return st;
    list = report_tree_begin(&t);
    for (size_t i = 0; st == DSE_OK && i < n; i++)
        if (bare)
            dse_strbuf_addf(r->out, "%s\n", names[i]);
        else
            st = l->add(names[i], dse_arena_printf(r->arena, "%s/%s.yaml", folder, names[i]), r->arena, list,
                        err);
    if (json) {
        list->value.kind = REPORT_LIST;
        list->value.line = true;
        report_tree_end(&t, r->out);
        return st;
    }
    if (st == DSE_OK && !n && !bare)
        dse_strbuf_adds(r->out, l->headings);
    report_table_end(&t, r->out);
    return st;
}

static dse_status list(const listing *l, const list_options *o, const char *given, command_run *r,
                       dse_error *err)
{
    if (given)
        return dse_fail(err, DSE_E_USAGE, "%s is for 'new': ccldse %s new", given,
                        l == &models ? "models" : "systems");
    if (o->keys + o->names + (o->card != NULL) > 1)
        return dse_fail(err, DSE_E_USAGE,
                        o->card ? "give either a card, --keys or --names"
                                : "give either --keys or --names, not both");
    if (o->json && (o->keys || o->names))
        return dse_fail(err, DSE_E_USAGE, "%s prints text; leave out --json", o->keys ? "--keys" : "--names");
    if (o->card)
        return l->show(o->card, o->json, r, err);
    if (!o->keys)
        return list_cards(l, o->names, o->json, r, err);
    cfg_table_describe(l->table, r->out);
    return DSE_OK;
}

static dse_status check_new(const list_options *o, dse_error *err)
{
    return o->keys || o->names || o->json
               ? dse_fail(err, DSE_E_USAGE, "--keys, --names and --json list cards; 'new' writes one")
               : DSE_OK;
}

static bool is_new(const list_options *o) { return o->card && !strcmp(o->card, NEW_CARD); }

static dse_status run_models(const void *opts, command_run *r, dse_error *err)
{
    const list_options *o = opts;

    if (!is_new(o))
        return list(&models, o, new_model_given(&o->model), r, err);
    return check_new(o, err) == DSE_OK ? new_model_card(&o->model, r, err) : DSE_E_USAGE;
}

static dse_status run_systems(const void *opts, command_run *r, dse_error *err)
{
    const list_options *o = opts;

    if (!is_new(o))
        return list(&systems, o, new_system_given(&o->system), r, err);
    return check_new(o, err) == DSE_OK ? new_system_card(&o->system, r, err) : DSE_E_USAGE;
}

extern const command command_models, command_systems;
const command command_models = {
    .name = "models",
    .summary = "list the model cards that ship, show one in full, or the keys of all; write one of a config",
    .example = "ccldse models llama-3.1-70b\nccldse models new llama/config.json -o llama.yaml",
    COMMAND_OPTIONS(model_options, list_options),
    .run = run_models,
};
const command command_systems = {
    .name = "systems",
    .summary = "list the system cards that ship, show one in full, or the keys of all; write one of a node",
    .details =
        "'new' takes the parts of a node as options, or reads what its tools say: nvidia-smi topo -m "
        ">topo.txt gives a file for --topo, lstopo node.xml one for --lstopo. What these do not say is "
        "given, or is a fact of the device: NVLink's rate of its data sheet, memory and peak of the cards "
        "that ship for it where they agree.",
    .example =
        "ccldse systems hgx_h100\n"
        "ccldse systems new --device nvidia_h100 --npus-per-node 8 --memory 80GB --nodes 4 --nics 8 --nic "
        "400Gb/s -o mine.yaml",
    COMMAND_OPTIONS(system_options, list_options),
    .run = run_systems,
};
