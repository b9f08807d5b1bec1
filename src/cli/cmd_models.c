/* Lists the cards in configs/models and configs/systems, and the keys of a card; writes a new one. */
#include "cards/locate.h"
#include "cli/command.h"
#include "cli/new_card.h"
#include "driver/study.h"
#include "report/tree.h"

#include <math.h>

typedef struct {
    const char *mode;
    bool keys, names;
    new_model_options model;
    new_system_options system;
} list_options;

#define FIELD(f) .offset = offsetof(list_options, f)

static const char *const modes[] = {"new", NULL};

#define LIST_ROWS                                                                                            \
    {"--keys",   OPT_FLAG, NULL, "false", "list the keys of a card instead: type, unit, range, default",     \
     FIELD(keys)},                                                                                           \
    {                                                                                                        \
        "--names", OPT_FLAG, NULL, "false", "print the names alone, one a line", FIELD(names)                \
    }

static const option model_options[] = {
    {"MODE", OPT_STRING, NULL, "", "write a card of a Hugging Face config", .choices = modes, FIELD(mode)},
    OPTION_GROUP(new_model_rows, model),
    LIST_ROWS,
};

static const option system_options[] = {
    {"MODE", OPT_STRING, NULL, "", "write a card of a node's description", .choices = modes, FIELD(mode)},
    LIST_ROWS,
    OPTION_GROUP(new_system_rows, system),
};

/* "50,25"; "-" where there is none. */
static const char *join_numbers(const cfg_double_list *l, dse_arena *a)
{
    const char *text = l->n ? "" : "-";

    for (uint32_t i = 0; i < l->n; i++)
        text = dse_arena_printf(a, "%s%s%g", text, i ? "," : "", l->v[i]);
    return text;
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
    report_row(list, V_NOTE("model", name), V_NOTE("profile", card_model_trains(&m) ? "train" : "stage"),
               V_AS("layers", V_INTEGER(NULL, m.layers)), V_AS("d_model", V_INTEGER(NULL, m.d_model)),
               V_AS("d_ff", V_INTEGER(NULL, m.d_ff)), V_AS("heads", V_INTEGER(NULL, m.heads)),
               V_AS("vocabulary", V_INTEGER(NULL, m.vocabulary)), V_AS("batch", V_INTEGER(NULL, m.batch)),
               V_AS("sequence", V_INTEGER(NULL, m.sequence)));
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
    report_row(list, V_NOTE("system", name), V_AS("NPUs", V_COUNT(NULL, net.n_npus)),
               V_NOTE("topology", network.data), V_CELL("link GiB/s", join_numbers(&s.bandwidth, a)),
               V_CELL("latency ns", join_numbers(&s.latency, a)),
               V_CELL("memory GB/s", report_format("%g", s.memory_bandwidth).text),
               V_CELL("TFLOPS", report_format(isnan(s.peak_perf) ? "-" : "%g", s.peak_perf).text));
    return DSE_OK;
}

typedef struct {
    card_kind kind;
    const cfg_table *table;
    const char *headings; /* of a list without cards */
    dse_status (*add)(const char *name, const char *path, dse_arena *a, report_node *list, dse_error *err);
} listing;

static const listing models = {CARD_MODELS, &card_model_table,
                               "model  profile  layers  d_model  d_ff  heads  vocabulary  batch  sequence\n",
                               add_model};
static const listing systems = {CARD_SYSTEMS, &card_system_table,
                                "system  NPUs  topology  link GiB/s  latency ns  memory GB/s  TFLOPS\n",
                                add_system};

/* `bare`: the names, for completion, without reading a card, so that a broken one does not hide the others. */
static dse_status list_cards(const listing *l, bool bare, command_run *r, dse_error *err)
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
    if (o->keys && o->names)
        return dse_fail(err, DSE_E_USAGE, "give either --keys or --names, not both");
    if (!o->keys)
        return list_cards(l, o->names, r, err);
    cfg_table_describe(l->table, r->out);
    return DSE_OK;
}

static dse_status check_new(const list_options *o, dse_error *err)
{
    return o->keys || o->names ? dse_fail(err, DSE_E_USAGE, "--keys and --names list cards; 'new' writes one")
                               : DSE_OK;
}

static dse_status run_models(const void *opts, command_run *r, dse_error *err)
{
    const list_options *o = opts;

    if (!o->mode)
        return list(&models, o, new_model_given(&o->model), r, err);
    return check_new(o, err) == DSE_OK ? new_model_card(&o->model, r, err) : DSE_E_USAGE;
}

static dse_status run_systems(const void *opts, command_run *r, dse_error *err)
{
    const list_options *o = opts;

    if (!o->mode)
        return list(&systems, o, new_system_given(&o->system), r, err);
    return check_new(o, err) == DSE_OK ? new_system_card(&o->system, r, err) : DSE_E_USAGE;
}

extern const command command_models, command_systems;
const command command_models = {
    .name = "models",
    .summary = "list the model cards that ship, or the keys of one; write one of a config",
    .example = "ccldse models new llama/config.json -o llama.yaml",
    COMMAND_OPTIONS(model_options, list_options),
    .run = run_models,
};
const command command_systems = {
    .name = "systems",
    .summary = "list the system cards that ship, or the keys of one; write one of a node",
    .details = "'new' reads what nvidia-smi topo -m or lstopo say of a node, or takes its parts as options. "
               "What these do not "
               "say is given, or is a fact of the device: NVLink's rate of its data sheet, memory and peak "
               "of the cards that "
               "ship for it where they agree.",
    .example = "ccldse systems new --topo topo.txt --device nvidia_h100 --memory 80GB --nodes 4 --nic "
               "400Gb/s -o mine.yaml",
    COMMAND_OPTIONS(system_options, list_options),
    .run = run_systems,
};
