#include "cards/node.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/units.h"
#include "cards/locate.h"
#include "cards/system.h"

#include <math.h>
#include <string.h>

/* NVIDIA's data sheets: bandwidth of NVLink of a GPU, both directions, and links: V100 300 GB/s of 6, A100
 * 600 of 12, H100 and H200 900 of 18, B200 and B300 1.8 TB/s of 18; H800 and A800 are sold with 400 of 8.
 * Half of it is one direction. */
static const struct {
    const char *device;
    uint32_t links;
    double gb_per_s; /* of a link, one direction */
} nvlinks[] = {
    {"nvidia_v100", 6, 25},   {"nvidia_a100", 12, 25},  {"nvidia_a800", 8, 25},  {"nvidia_h100", 18, 25},
    {"nvidia_h200", 18, 25},  {"nvidia_h800", 8, 25},   {"nvidia_b200", 18, 50}, {"nvidia_b300", 18, 50},
    {"nvidia_gb200", 18, 50}, {"nvidia_gb300", 18, 50},
};

/* A card in the making: each number with the words that say where it is from. */
typedef struct {
    const card_node *node;
    const card_node_given *given;
    dse_arena *arena;
    dse_error *err;
    const char *device, *what; /* the description, as messages name it */
    uint32_t npus, nodes, nics, links;
    double link_gb, nvlink_gb, nic_gb, memory, memory_gb, peak; /* GB/s; bytes; GB/s; TFLOPS */
    bool is_full; /* every NPU is joined to each other by links of their own */
    const char *link_from, *nic_from, *memory_from, *bandwidth_from, *peak_from;
} made;

/* ---- what is given ------------------------------------------------------------------------------- */

static dse_status parse_rate(const char *option, const char *text, double *gb, dse_error *err)
{
    dse_error why = DSE_ERROR_INIT;
    bool had_unit;

    if (dse_parse_quantity(text, DSE_UNIT_BYTES_PER_S, gb, &had_unit, &why) != DSE_OK)
        return dse_fail(err, DSE_E_USAGE, "%s: %s", option, why.text);
    if (!had_unit || !(*gb > 0))
        return dse_fail(err, DSE_E_USAGE, "%s takes a rate, each way, as 400Gb/s or 50GB/s, not '%.40s'",
                        option, text);
    *gb /= 1e9;
    return DSE_OK;
}

static dse_status lacks(const made *m, const char *what, const char *option)
{
    return dse_fail(m->err, DSE_E_CONFIG, "%s does not say %s; give %s", m->what, what, option);
}

static dse_status find_sizes(made *m)
{
    const uint32_t described = m->node->npus;

    m->device = m->given->device ? m->given->device : *m->node->device ? m->node->device : NULL;
    m->npus = m->given->npus ? m->given->npus : described;
    m->nodes = m->given->nodes ? m->given->nodes : 1;
    m->nics = m->given->nics ? m->given->nics : m->node->nics;
    if (!m->device)
        return lacks(m, "which device the NPUs are", "--device NAME, for example --device nvidia_h100");
    if (!m->npus)
        return lacks(m, "how many NPUs a node has", "--npus-per-node N");
    if (m->npus == 1 && m->nodes == 1)
        return dse_fail(m->err, DSE_E_CONFIG, "one NPU has no network; give --nodes N");
    return DSE_OK;
}

/* ---- links ---------------------------------------------------------------------------------------- */

static double find_nvlink(const char *device, uint32_t *links)
{
    for (size_t i = 0; i < DSE_COUNT(nvlinks); i++)
        if (!strcmp(nvlinks[i].device, device)) {
            *links = nvlinks[i].links;
            return nvlinks[i].gb_per_s;
        }
    return 0;
}

static bool is_nvlink(const made *m)
{
    return m->given->link ? !strcmp(m->given->link, "nvlink") : m->node->tool ? m->node->nvlinks > 0 : true;
}

/* Of so many links between two NPUs: with more to all others than a NPU has there must be a switch, which all
 * of them reach. */
static dse_status use_nvlinks(made *m)
{
    uint32_t most = 0;
    const double each = find_nvlink(m->device, &most);
    const uint32_t links = m->node->nvlinks ? m->node->nvlinks : most;

    if (!(each > 0))
        return lacks(m, dse_arena_printf(m->arena, "the rate of a link of %s", m->device),
                     "--link RATE, each way of a NPU, for example --link 450GB/s");
    m->is_full = m->node->nvlinks && m->npus > 2 && m->node->nvlinks * (m->npus - 1) <= most;
    m->link_gb = each * links;
    m->link_from =
        dse_arena_printf(m->arena, "%u NVLinks %s of %g GB/s each way (NVIDIA's data sheet of the device).",
                         (unsigned)links, m->is_full ? "between each two" : "of a NPU to the switch", each);
    return DSE_OK;
}

static dse_status find_link(made *m)
{
    const card_node *n = m->node;

    if (m->npus == 1)
        return DSE_OK;
    if (m->given->link && !is_nvlink(m)) {
        m->link_from = "Given.";
        return parse_rate("--link", m->given->link, &m->link_gb, m->err);
    }
    if (!m->given->link && n->is_switched && n->npu_bytes_per_s > 0) {
        m->link_gb = n->npu_bytes_per_s / 1e9;
        m->link_from = "All NVLinks of a GPU to switches (NVLinkBandwidth of hwloc's export).";
        return DSE_OK;
    }
    if (!m->given->link && n->pair_bytes_per_s > 0) {
        m->link_gb = n->pair_bytes_per_s / 1e9;
        m->is_full = m->npus > 2;
        m->link_from = "NVLinks between two GPUs (NVLinkBandwidth of hwloc's export).";
        return DSE_OK;
    }
    if (!m->given->link && n->pcie_bytes_per_s > 0) {
        m->link_gb = n->pcie_bytes_per_s / 1e9;
        m->link_from = "PCIe of a GPU as its slot is trained (pci_link_speed of hwloc's export); bridges and "
                       "the host are taken for one switch.";
        return DSE_OK;
    }
    if (is_nvlink(m))
        return use_nvlinks(m);
    return lacks(
        m, dse_arena_printf(m->arena, "the rate of the links in a node (they are %s, not NVLink)", n->link),
        "--link RATE, each way of a NPU, for example --link 32GB/s");
}

static dse_status find_nic(made *m)
{
    if (m->nodes == 1)
        return DSE_OK;
    if (!m->nics)
        return lacks(m, "how many network cards a node has", "--nics N");
    if (!m->given->nic)
        return lacks(m, "the rate of a network card", "--nic RATE, for example --nic 400Gb/s");
    m->nic_from = m->given->nics || !m->node->tool ? "given"
                  : m->node->nics < m->node->all_nics
                      ? dse_arena_printf(m->arena, "those of %u that are PIX or PXB from a GPU",
                                         (unsigned)m->node->all_nics)
                      : "all of the description";
    return parse_rate("--nic", m->given->nic, &m->nic_gb, m->err);
}

/* ---- the device, of cards that ship for it --------------------------------------------------------- */

/* A number that options give, and what the cards say of it. */
typedef struct {
    const char *what, *option; /* "memory bandwidth"; "--memory-bandwidth %gGB/s", of a value */
    double value, example;
    const char *card; /* the first that has it; NULL: none */
    bool differ;
    dse_strbuf all; /* "--memory 40GB (as dgx_a100_40gb) or --memory 80GB (as dgx_a100)" */
} agreed;

static void agree(agreed *a, double value, const char *card, dse_arena *arena)
{
    const char *option;

    if (isnan(value))
        return;
    option = dse_arena_printf(arena, a->option, value);
    option = dse_arena_printf(arena, "%s (as ", option); /* else 98 would be the beginning of 989.5 */
    if (!strstr(a->all.data, option))
        dse_strbuf_addf(&a->all, "%s%s%s)", a->card ? " or " : "", option, card);
    a->differ |= a->card && fabs(value - a->value) > 0;
    if (!a->card)
        a->value = value, a->card = card;
}

/* What all cards say of the device; those with another memory than the one that is known say nothing. Sizes
 * differ by what a driver keeps for itself and by the units of a name: an A100 of 80 GB says 85.1. */
static dse_status ask_cards(const made *m, agreed *memory, agreed *bandwidth, agreed *peak)
{
    const char **name, *folder;
    size_t n;
    dse_status st = card_list(CARD_SYSTEMS, m->arena, &name, &n, &folder, m->err);

    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        card_system s;
        cfg_doc doc;

        if (cfg_load(dse_arena_printf(m->arena, "%s/%s.yaml", folder, name[i]), m->arena, &doc, NULL) !=
                DSE_OK ||
            card_system_read(&doc, NULL, &s, NULL) != DSE_OK || strcmp(s.device, m->device) != 0)
            continue;
        agree(peak, s.peak_perf, name[i], m->arena);
        agree(memory, s.hbm_bytes / 1e9, name[i], m->arena);
        if (!(m->memory > 0) || fabs(s.hbm_bytes - m->memory) < 0.08 * m->memory)
            agree(bandwidth, s.memory_bandwidth, name[i], m->arena);
    }
    return st;
}

static dse_status take(const made *m, const agreed *a, double *out, const char **from)
{
    if (!a->card)
        return dse_fail(m->err, DSE_E_CONFIG,
                        "no card that ships has the %s of '%s'; give it, for example %s", a->what, m->device,
                        dse_arena_printf(m->arena, a->option, a->example));
    if (a->differ)
        return dse_fail(m->err, DSE_E_CONFIG, "cards that ship for %s differ in the %s; give %s", m->device,
                        a->what, a->all.data);
    *out = a->value;
    *from = dse_arena_printf(m->arena, "As in %s, which has the source.", a->card);
    return DSE_OK;
}

static dse_status find_memory(made *m, const agreed *of_cards)
{
    dse_status st;

    if (m->memory > 0)
        return DSE_OK;
    st = take(m, of_cards, &m->memory, &m->memory_from);
    m->memory *= 1e9;
    return st;
}

static dse_status find_device(made *m)
{
    agreed memory = {"memory", "--memory %gGB", .example = 80, .all = dse_strbuf_in(m->arena)};
    agreed bandwidth = {"memory bandwidth", "--memory-bandwidth %gGB/s", .example = 3350,
                        .all = dse_strbuf_in(m->arena)};
    agreed peak = {"dense peak in 16 bits", "--peak %g", .example = 989.5, .all = dse_strbuf_in(m->arena)};
    const bool is_given = m->given->memory > 0;
    dse_status st;

    m->memory = is_given ? m->given->memory : m->node->memory_bytes;
    m->memory_from = is_given ? "Given." : "Of the description (CUDAGlobalMemorySize).";
    if ((st = ask_cards(m, &memory, &bandwidth, &peak)) != DSE_OK || (st = find_memory(m, &memory)) != DSE_OK)
        return st;
    m->bandwidth_from = m->peak_from = "Given.";
    st = m->given->memory_bandwidth
             ? parse_rate("--memory-bandwidth", m->given->memory_bandwidth, &m->memory_gb, m->err)
             : take(m, &bandwidth, &m->memory_gb, &m->bandwidth_from);
    m->peak = m->given->peak_tflops;
    return st != DSE_OK || m->peak > 0 ? st : take(m, &peak, &m->peak, &m->peak_from);
}

/* ---- the text --------------------------------------------------------------------------------------- */

static const char *per_dimension(const made *m, const char *in_node, const char *between)
{
    if (m->npus == 1)
        return dse_arena_printf(m->arena, "[%s]", between);
    return m->nodes == 1 ? dse_arena_printf(m->arena, "[%s]", in_node)
                         : dse_arena_printf(m->arena, "[%s, %s]", in_node, between);
}

static const char *gb_per_s(const made *m, double gb) { return dse_arena_printf(m->arena, "%.10gGB/s", gb); }

static void write_network(const made *m, dse_strbuf *out)
{
    const bool is_nv =
        m->npus > 1 && (!m->node->tool || m->node->nvlinks || !strcmp(m->node->link, "NVLink"));
    const double nic = m->nodes > 1 ? m->nic_gb * m->nics / m->npus : 0;

    dse_strbuf_addf(out, "network:\n  topology: %s\n",
                    per_dimension(m, m->is_full ? "FullyConnected" : "Switch", "Switch"));
    dse_strbuf_addf(out, "  npus_count: %s\n",
                    per_dimension(m, dse_arena_printf(m->arena, "%u", (unsigned)m->npus),
                                  dse_arena_printf(m->arena, "%u", (unsigned)m->nodes)));
    if (m->npus > 1)
        dse_strbuf_addf(out, "  # In a node: %s\n", m->link_from);
    if (m->nodes > 1)
        dse_strbuf_addf(
            out,
            "  # Between nodes: %u network card%s of %g Gb/s (%s), %g GB/s for each of %u NPUs, each way.\n",
            (unsigned)m->nics, m->nics > 1 ? "s" : "", m->nic_gb * 8, m->nic_from, nic, (unsigned)m->npus);
    dse_strbuf_addf(out, "  bandwidth: %s\n", per_dimension(m, gb_per_s(m, m->link_gb), gb_per_s(m, nic)));
    dse_strbuf_adds(
        out,
        "  # Latency of a link: an assumption, as in the cards that ship, whose comments have the source.\n");
    dse_strbuf_addf(out, "  latency: %s\n", per_dimension(m, is_nv ? "936.25ns" : "950ns", "2000ns"));
    if (m->nodes > 1 && m->npus > 1)
        dse_strbuf_adds(out,
                        "  # What crosses nodes pays for the network as well as for the links in the node.\n"
                        "  multi_hop: full\n");
    if (m->nodes > 1 && m->nics < m->npus)
        dse_strbuf_addf(out, "  # NPUs of a node share its network cards.\n  rails: %s\n",
                        per_dimension(m, "null", dse_arena_printf(m->arena, "%u", (unsigned)m->nics)));
    dse_strbuf_adds(out, "  # What collectives reach of this is not known: they are simulated at the rate of "
                         "the links. Measured ones "
                         "(nccl-tests) go\n  # into efficiency, collective_latency, step_latency and "
                         "measured_*: ccldse systems "
                         "--keys, configs/systems/hgx_h100.yaml.\n\n");
}

static void write_head(const made *m, dse_strbuf *out)
{
    dse_strbuf_addf(out, "# %u node%s of %u %s, made by 'ccldse systems new' from %s.\n", (unsigned)m->nodes,
                    m->nodes > 1 ? "s" : "", (unsigned)m->npus, m->device,
                    m->node->tool
                        ? dse_arena_printf(m->arena, "the output of %s (%s)", m->node->tool, m->node->path)
                        : "the options that were given");
    if (m->node->tool && *m->node->link)
        dse_strbuf_addf(out, "# It says: %u NPUs, at worst joined by %s, %u network cards.\n",
                        (unsigned)m->node->npus, m->node->link, (unsigned)m->node->all_nics);
    dse_strbuf_addf(out, "device: %s\n\n", m->device);
}

static void write_card(const made *m, dse_strbuf *out)
{
    write_head(m, out);
    write_network(m, out);
    dse_strbuf_addf(out, "collectives:\n  all: %s\n\n", per_dimension(m, "ring", "ring"));
    dse_strbuf_addf(out, "compute:\n  # %s\n  peak_perf: %.10g\n\n", m->peak_from, m->peak);
    dse_strbuf_addf(out, "memory:\n  # %s\n  bandwidth: %s\n  # %s\n  capacity: %.10gGB\n\n",
                    m->bandwidth_from, gb_per_s(m, m->memory_gb), m->memory_from, m->memory / 1e9);
    dse_strbuf_adds(
        out, "scheduler: # as in the cards that ship\n  scheduling_policy: LIFO\n  endpoint_delay: 10 # ns\n"
             "  collective_optimization: localBWAware\n  active_chunks_per_dimension: 1\n"
             "  preferred_dataset_splits: 1\n");
}

/* What is written must be a card. */
static dse_status check_card(const char *text, dse_arena *a, dse_error *err)
{
    card_system s;
    cfg_doc doc;
    dse_status st = cfg_parse_yaml("the new card", text, strlen(text), a, &doc, err);

    return st == DSE_OK ? card_system_read(&doc, NULL, &s, err) : st;
}

dse_status card_node_write(const card_node *node, const card_node_given *given, dse_arena *a, dse_strbuf *out,
                           dse_error *err)
{
    made m = {.node = node,
              .given = given,
              .arena = a,
              .err = err,
              .what = node->tool ? node->path : "the command line"};
    dse_status st;

    if ((st = find_sizes(&m)) != DSE_OK || (st = find_link(&m)) != DSE_OK || (st = find_nic(&m)) != DSE_OK ||
        (st = find_device(&m)) != DSE_OK)
        return st;
    write_card(&m, out);
    return check_card(out->data, a, err);
}
