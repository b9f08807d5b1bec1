#include "cli/new_card.h"

#include "base/fs.h"
#include "cards/hf.h"
#include "cards/locate.h"
#include "cards/node.h"
#include "driver/count.h"

#define MOST_BYTES (64u << 20) /* of a description */
#define MOST       1000000     /* NPUs, cards, nodes */

#define OUTPUT_ROWS                                                                                          \
    {"--output",   OPT_STRING, "FILE", "", "card to write with 'new', instead of standard output",           \
     FIELD(output)},                                                                                         \
    {                                                                                                        \
        "-o", OPT_STRING, "FILE", "", "the same", FIELD(o)                                                   \
    }

static dse_status save(const char *output, const char *o, command_run *r, dse_error *err)
{
    if (output && o)
        return dse_fail(err, DSE_E_USAGE, "give either --output or -o");
    return command_save(output ? output : o, r, err);
}

/* ---- models ------------------------------------------------------------------------------------- */

#define FIELD(f) .offset = offsetof(new_model_options, f)

static const option model_rows[] = {
    {"FILE", OPT_STRING, NULL, "", "config.json, or its folder, with 'new'", FIELD(config)},
    OUTPUT_ROWS,
};

const option *new_model_rows(size_t *n)
{
    *n = DSE_COUNT(model_rows);
    return model_rows;
}

const char *new_model_given(const new_model_options *o)
{
    return o->config ? o->config : o->output ? "--output" : o->o ? "-o" : NULL;
}

dse_status new_model_card(const new_model_options *o, command_run *r, dse_error *err)
{
    card_hf_notes notes;
    cfg_doc config, card;
    step_count count;
    const char *path;
    dse_status st;

    if (!o->config)
        return dse_fail(err, DSE_E_USAGE, "give a Hugging Face config: ccldse models new config.json");
    if ((st = card_locate(CARD_MODELS, o->config, r->arena, &path, err)) != DSE_OK ||
        (st = cfg_load(path, r->arena, &config, err)) != DSE_OK)
        return st;
    if (!card_hf_is_config(&config))
        return dse_fail_at(err, DSE_E_CONFIG, path,
                           "this is no Hugging Face config: it has neither model_type nor architectures");
    if ((st = card_hf_card(&config, r->arena, &card, &notes, err)) != DSE_OK ||
        (st = drv_model_count(&card, 1, r->arena, &count, err)) != DSE_OK)
        return st;
    card_hf_write(&config, &card, &notes, count.total, r->out);
    return save(o->output, o->o, r, err);
}
#undef FIELD

/* ---- systems ------------------------------------------------------------------------------------ */

#define FIELD(f) .offset = offsetof(new_system_options, f)

static const option system_rows[] = {
    {"--topo", OPT_STRING, "FILE", "", "with 'new': what 'nvidia-smi topo -m' prints on a node", FIELD(topo)},
    {"--lstopo", OPT_STRING, "FILE", "", "with 'new': what 'lstopo FILE.xml' writes on a node",
     FIELD(lstopo)},
    {"--device", OPT_STRING, "NAME", "", "the NPU, a name in configs/devices such as nvidia_h100",
     FIELD(device)},
    {"--npus-per-node", OPT_INT, "N", "", "NPUs of a node", .min = 1, .max = MOST, FIELD(npus)},
    {"--link", OPT_STRING, "RATE", "",
     "rate of the links in a node, each way of a NPU: 32GB/s; or nvlink for the device's", FIELD(link)},
    {"--nodes", OPT_INT, "N", "", "nodes (default: 1)", .min = 1, .max = MOST, FIELD(nodes)},
    {"--nics", OPT_INT, "N", "", "network cards of a node for its NPUs", .min = 1, .max = MOST, FIELD(nics)},
    {"--nic", OPT_STRING, "RATE", "", "rate of each, each way: 400Gb/s", FIELD(nic)},
    {"--memory", OPT_SIZE, "SIZE", "", "memory of a NPU: 80GB", FIELD(memory)},
    {"--memory-bandwidth", OPT_STRING, "RATE", "", "its bandwidth: 3350GB/s", FIELD(memory_bandwidth)},
    {"--peak", OPT_DOUBLE, "TFLOPS", "", "peak of a NPU in 16 bits, dense", .min = 1e-3, .max = 1e9,
     FIELD(peak)},
    OUTPUT_ROWS,
};

const option *new_system_rows(size_t *n)
{
    *n = DSE_COUNT(system_rows);
    return system_rows;
}

const char *new_system_given(const new_system_options *o)
{
    for (size_t i = 0; i < DSE_COUNT(system_rows); i++) {
        const option *row = &system_rows[i];
        const void *field = (const char *)(const void *)o + row->offset;

        if (row->type == OPT_STRING ? *(const char *const *)field != NULL
            : row->type == OPT_INT  ? *(const int64_t *)field != 0
                                    : *(const double *)field > 0)
            return row->name;
    }
    return NULL;
}

static dse_status read_node(const new_system_options *o, command_run *r, card_node *out, dse_error *err)
{
    const char *path = o->topo ? o->topo : o->lstopo;
    dse_strbuf text = dse_strbuf_in(r->arena);
    dse_status st;

    *out = (card_node){0};
    if (o->topo && o->lstopo)
        return dse_fail(err, DSE_E_USAGE, "give either --topo or --lstopo");
    if (!path)
        return DSE_OK;
    if ((st = dse_read_file(path, MOST_BYTES, &text, err)) != DSE_OK)
        return st;
    return o->topo ? card_node_read_topo(path, text.data, out, err)
                   : card_node_read_lstopo(path, text.data, out, err);
}

dse_status new_system_card(const new_system_options *o, command_run *r, dse_error *err)
{
    const card_node_given given = {.device = o->device,
                                   .link = o->link,
                                   .nic = o->nic,
                                   .memory = o->memory > 0 ? o->memory : 0,
                                   .memory_bandwidth = o->memory_bandwidth,
                                   .peak_tflops = o->peak > 0 ? o->peak : 0,
                                   .npus = (uint32_t)o->npus,
                                   .nics = (uint32_t)o->nics,
                                   .nodes = (uint32_t)o->nodes};
    card_node node;
    dse_status st = read_node(o, r, &node, err);

    if (st == DSE_OK)
        st = card_node_write(&node, &given, r->arena, r->out, err);
    return st == DSE_OK ? save(o->output, o->o, r, err) : st;
}
