#include "driver/other_system.h"

#include "base/array.h"
#include "cards/device.h"
#include "cards/resize.h"
#include "driver/study.h"
#include "metrics/kernel_shapes.h"
#include "metrics/parallel.h"
#include "metrics/peak.h"
#include "sim/collective_time.h"
#include "sim/kernel_time.h"
#include "trace/names.h"
#include "whatif/emit.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* One of the two systems. */
typedef struct {
    const char *name;
    card_system card;
    card_tables tables;
    net_network net;
    sim_settings set;
} side;

typedef struct {
    const whatif_recorded *r;
    const whatif_recording *from;
    dse_arena *arena, scratch; /* scratch: of one collective */
    uint32_t n_ranks;          /* of the run */
    side on, to;               /* the recorded system, and the other one */
    trace_names seen;          /* collectives that were simulated, by all that tells them apart */
    size_t cap_seen;
    double *seen_ratio;
    drv_other_system *out;
} comparing;

/* ---- systems ----------------------------------------------------------------------------------- */

/* The card that ships for a device; of several that of its maker's own node. */
static const struct {
    const char *device, *in_name, *card; /* in_name: a word of the trace's name; NULL: any */
} cards[] = {
    {"nvidia_v100", NULL, "dgx_v100"}, {"nvidia_a100", "40GB", "dgx_a100_40gb"},
    {"nvidia_a100", NULL, "dgx_a100"}, {"nvidia_h100", NULL, "hgx_h100"},
    {"nvidia_h200", NULL, "hgx_h200"}, {"nvidia_h800", NULL, "hgx_h800"},
    {"nvidia_b200", NULL, "hgx_b200"}, {"nvidia_l40s", NULL, "l40s"},
    {"amd_mi300x", NULL, "mi300x"},
};

#define REMEDY "; --recorded-on NAME says on which system card the run was recorded"

/* By the device that the trace names; all ranks have the same. */
static dse_status find_recorded_on(const comparing *c, const char **card, const char **gpu, dse_error *err)
{
    const trace_rank *r = c->from->view[0].rank;
    const char *name = r->n_devices ? TRACE_NAME(r, r->device[0].name) : NULL,
               *device = metric_peak_device(name);

    if (!name)
        return dse_fail_at(
            err, DSE_E_ABSENT, r->path,
            "the trace does not say on which device it was recorded (deviceProperties)" REMEDY);
    for (size_t i = 0; device && i < DSE_COUNT(cards); i++)
        if (!strcmp(cards[i].device, device) && (!cards[i].in_name || strstr(name, cards[i].in_name))) {
            *card = cards[i].card;
            *gpu = name;
            return DSE_OK;
        }
    return dse_fail_at(err, DSE_E_ABSENT, r->path, "no system card that ships has the device '%.80s'" REMEDY,
                       name);
}

/* A network on which nothing is measured is simulated, and then as large as the run. */
static dse_status load_side(comparing *c, const char *name, side *s, dse_error *err)
{
    const cfg_settings none = {0};
    dse_status st = drv_system_load(name, &none, c->arena, &s->card, &s->name, err);

    if (st != DSE_OK)
        return st;
    if (card_system_npus(&s->card) < c->n_ranks)
        return dse_fail(err, DSE_E_RANGE, "%s has %llu NPUs, and the run %u ranks; name a larger system",
                        s->name, (unsigned long long)card_system_npus(&s->card), c->n_ranks);
    card_system_settle_profile(&s->card, true);
    s->tables.arena = c->arena;
    if ((st = card_system_fill_laws(&s->card, &s->tables, c->arena, err)) != DSE_OK ||
        (st = card_system_build(&s->card, &s->net, &s->set, err)) != DSE_OK)
        return st;
    if (!s->net.is_measured && c->n_ranks > 1 && card_system_npus(&s->card) > c->n_ranks &&
        ((st = card_system_resize(&s->card, c->n_ranks, &s->card, err)) != DSE_OK ||
         (st = card_system_build(&s->card, &s->net, &s->set, err)) != DSE_OK))
        return st;
    return card_system_load_tables(&s->card, &s->tables, &s->set, err);
}

/* ---- kernels ------------------------------------------------------------------------------------- */

/* The law of a class on one system; without one there or here the roofline for both: a share of the peak that
 * was measured on one device alone is no advantage of the other. */
static sim_law law_of(const comparing *c, const side *s, wl_kernel_class class)
{
    sim_law law = *sim_settings_law(&s->set, class);

    law.is_given =
        sim_settings_law(&c->on.set, class)->is_given && sim_settings_law(&c->to.set, class)->is_given;
    return law;
}

/* Of a large kernel: a rate that the device reaches, as time over operations or bytes. */
static double class_time(const comparing *c, const side *s, wl_kernel_class class)
{
    const sim_law law = law_of(c, s, class);
    const sim_device all = sim_device_of(&s->set), device = sim_device_for(&all, &law, 2);
    double slower = 1 + s->set.kernel_lag;

    return slower * (wl_kernel_multiplies(class)
                         ? (law.is_given ? law.flop_factor : 1) / device.peak_ops_per_s
                         : (law.is_given ? law.byte_factor : 1) / device.memory_bytes_per_s);
}

static double kernel_time(const comparing *c, const side *s, const wl_kernel *k)
{
    const sim_law law = law_of(c, s, k->class);
    const sim_device all = sim_device_of(&s->set), device = sim_device_for(&all, &law, k->element_bytes);
    dse_time ticks = law.is_given ? sim_kernel_law(k, &device, &law) : sim_kernel_time(k, &device).ticks;

    return (1 + s->set.kernel_lag) * (double)ticks;
}

/* 1 where a time is none. */
static double ratio_of(double to, double on) { return on > 0 && isfinite(to / on) ? to / on : 1; }

#define MOST 9e18 /* operations and bytes are counted in 64 bits */

static uint64_t count_of(double v) { return v >= 1 ? v < MOST ? (uint64_t)v : (uint64_t)MOST : 0; }

static uint64_t extent_of(double v) { return v >= 1 ? count_of(v) : 1; }

static double shape_ratio(const comparing *c, const metric_kernel_shape *s)
{
    const double element_bytes = s->type ? s->type->bytes : 0;
    wl_kernel k = {.class = wl_kernel_class_find(metric_shape_class_name[s->class]),
                   .extent = {extent_of(s->m), extent_of(s->n), extent_of(s->k), extent_of(s->batch)},
                   .element_bytes = element_bytes,
                   .operations = count_of(s->operations),
                   .bytes = count_of(s->bytes)};

    if (k.class == WL_KERNEL_MATMUL && element_bytes > 0 && element_bytes < 2 &&
        sim_settings_law(&c->on.set, WL_KERNEL_MATMUL_FP8)->peak_ops_per_s > 0 &&
        sim_settings_law(&c->to.set, WL_KERNEL_MATMUL_FP8)->peak_ops_per_s > 0)
        k.class = WL_KERNEL_MATMUL_FP8;
    if (!k.operations)
        k.operations = 1; /* what is bound by memory */
    return ratio_of(kernel_time(c, &c->to, &k), kernel_time(c, &c->on, &k));
}

static int class_of(uint8_t work)
{
    return work == METRIC_WORK_GEMM        ? DRV_OTHER_PRODUCTS
           : work == METRIC_WORK_ATTENTION ? DRV_OTHER_ATTENTION
                                           : DRV_OTHER_MEMORY;
}

static void compare_kernels(comparing *c)
{
    static const wl_kernel_class classes[DRV_OTHER_CLASSES] = {WL_KERNEL_MATMUL, WL_KERNEL_ATTENTION,
                                                               WL_KERNEL_ELEMENTWISE};
    const whatif_graph *g = &c->r->graph;
    const metric_kernel_shape *shape = NULL;
    uint32_t rank = DSE_NONE, *place = NULL;

    for (int i = 0; i < DRV_OTHER_CLASSES; i++)
        c->out->of_class[i] = ratio_of(class_time(c, &c->to, classes[i]), class_time(c, &c->on, classes[i]));
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const whatif_op *o = &g->op[i];
        const metric_view *v = &c->from->view[o->rank];
        const metric_kernel_shape *s;

        c->out->op_time[i] = 1;
        if (!o->on_gpu || o->kind == METRIC_WORK_COMM || o->kind == WHATIF_COPY)
            continue;
        if (o->rank != rank) {
            rank = o->rank;
            shape = metric_kernel_shapes_of(v, c->arena);
            place = DSE_ARENA_RAW(c->arena, uint32_t, v->rank->n_events + 1);
            memset(place, 0xff, v->rank->n_events * sizeof *place); /* DSE_NONE */
            for (uint32_t k = 0; k < v->kernels.n; k++)
                place[v->kernels.event[k]] = k;
        }
        s = place[o->event] == DSE_NONE ? NULL : &shape[place[o->event]];
        if (s && s->class) {
            c->out->op_time[i] = shape_ratio(c, s);
            c->out->n_by_shape++;
        } else {
            c->out->op_time[i] = c->out->of_class[class_of(o->kind)];
            c->out->n_by_class++;
        }
    }
}

/* ---- collectives --------------------------------------------------------------------------------- */

/* The ranks of a collective: those that recorded it; of ranks that are taken to do the same those that the
 * group declares, or else the first of the run. */
static uint32_t members_of(comparing *c, const whatif_collective *v, uint32_t **out)
{
    const whatif_graph *g = &c->r->graph;
    const whatif_op *first = &g->op[g->member[v->first_op]];
    const trace_rank *rank = c->from->view[first->rank].rank;
    const trace_args *args = metric_args_of(rank, &rank->event[first->event]);
    const char *declared = args ? metric_group_of(rank, args).ranks : NULL;
    uint32_t n = v->group_size > v->n_ranks ? v->group_size : v->n_ranks;

    *out = DSE_ARENA_RAW(&c->scratch, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        (*out)[i] = n > v->n_ranks ? i : c->from->view[g->op[g->member[v->first_op + i]].rank].rank->rank;
    if (n > v->n_ranks && declared) {
        const metric_ranks all = metric_ranks_of(declared, n, &c->scratch);

        for (uint32_t i = 0; i < n && all.n == n; i++)
            (*out)[i] = all.rank[i];
    }
    return n;
}

/* ns; NAN: it cannot be simulated. */
static double comm_time(const side *s, uint32_t n, const uint32_t *member, uint8_t type, uint64_t bytes,
                        dse_arena *a)
{
    const sim_groups groups = {.n_groups = 1, .n = n, .member = member};
    sim_pair pair = {member[0], member[n - 1]};
    const sim_pairs pairs = {1, &pair};
    sim_alone v;

    if (type == WHATIF_NO_COLLECTIVE)
        v = s->net.is_measured ? sim_message_time(&s->net, &pairs, bytes, a)
                               : sim_alone_messages(&s->net, &pairs, bytes);
    else if (s->net.is_measured)
        v = sim_collective_time(&s->net, &groups, type, bytes, a);
    else if (sim_alone_groups(&s->set, &s->net, &groups, type, bytes, a, &v, NULL) != DSE_OK)
        return NAN;
    return (double)v.ticks + (double)s->set.collective_overhead;
}

/* The size that takes so long on the recorded system; 0: even the smallest takes longer. */
static uint64_t bytes_of_time(comparing *c, uint32_t n, const uint32_t *member, uint8_t type, double ns)
{
    uint64_t low = 0, high = 1ull << 44;

    while (low < high) {
        uint64_t mid = low + (high - low + 1) / 2;

        if (comm_time(&c->on, n, member, type, mid, &c->scratch) <= ns)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* The time on the other system over that on the recorded one, of `bytes`, or 0 of what takes the recorded
 * time. A step repeats its collectives: each is simulated once. */
static double ratio_of_collective(comparing *c, const whatif_collective *v, uint8_t type, uint64_t bytes,
                                  uint32_t n, const uint32_t *member)
{
    const uint32_t known = c->seen.n;
    dse_strbuf key = dse_strbuf_in(&c->scratch);
    uint32_t id;

    dse_strbuf_addf(&key, "%d %" PRIu64 " %" PRId64, type, bytes, bytes ? 0 : (int64_t)v->duration);
    for (uint32_t i = 0; i < n; i++)
        dse_strbuf_addf(&key, " %" PRIu32, member[i]);
    id = trace_names_add(&c->seen, key.data, key.len);
    if (id < known)
        return c->seen_ratio[id];
    if (!bytes)
        bytes = bytes_of_time(c, n, member, type, (double)v->duration / TRACE_PS_PER_NS);
    bytes = bytes ? bytes : 1;
    DSE_GROW(c->seen_ratio, c->cap_seen, (size_t)id + 1);
    c->seen_ratio[id] = ratio_of(comm_time(&c->to, n, member, type, bytes, &c->scratch),
                                 comm_time(&c->on, n, member, type, bytes, &c->scratch));
    return c->seen_ratio[id];
}

static void compare_collectives(comparing *c)
{
    const whatif_graph *g = &c->r->graph;

    for (uint32_t i = 0; i < g->n_collectives; i++) {
        const whatif_collective *v = &g->collective[i];
        uint8_t type = whatif_collective_type(v);
        uint64_t bytes = whatif_collective_bytes(g, c->from, v);
        uint32_t *member, n;

        dse_arena_reset(&c->scratch);
        c->out->collective_time[i] = 1;
        n = v->whole && v->n_ranks ? members_of(c, v, &member) : 0;
        for (uint32_t k = 0; k < n; k++)
            n = member[k] < c->n_ranks ? n : 0;
        if (n < 2 || (type == WHATIF_NO_COLLECTIVE && (v->type != METRIC_SEND_RECV || n != 2))) {
            c->out->n_as_recorded++;
            continue;
        }
        c->out->n_by_time += !bytes;
        c->out->collective_time[i] = ratio_of_collective(c, v, type, bytes, n, member);
        c->out->n_simulated++;
    }
}

dse_status drv_other_system_of(const whatif_recorded *r, const whatif_recording *from, const char *system,
                               const char *recorded_on, dse_arena *a, drv_other_system *out, dse_error *err)
{
    comparing c = {.r = r, .from = from, .arena = a, .out = out, .n_ranks = 1};
    dse_status st = DSE_OK;

    *out = (drv_other_system){.op_time = DSE_ARENA_NEW(a, double, r->graph.n_ops + 1u),
                              .collective_time = DSE_ARENA_NEW(a, double, r->graph.n_collectives + 1u)};
    for (uint32_t i = 0; i < from->n_views; i++) {
        const trace_rank *rank = from->view[i].rank;

        c.n_ranks = rank->world_size > c.n_ranks ? rank->world_size : c.n_ranks;
        c.n_ranks = rank->rank >= c.n_ranks ? rank->rank + 1 : c.n_ranks;
    }
    if ((!recorded_on && (st = find_recorded_on(&c, &recorded_on, &out->gpu, err)) != DSE_OK) ||
        (st = load_side(&c, recorded_on, &c.on, err)) != DSE_OK ||
        (st = load_side(&c, system, &c.to, err)) != DSE_OK)
        return st;
    out->system = c.to.name;
    out->recorded_on = c.on.name;
    compare_kernels(&c);
    dse_arena_init(&c.scratch);
    compare_collectives(&c);
    dse_arena_free(&c.scratch);
    trace_names_free(&c.seen);
    dse_free(c.seen_ratio);
    return DSE_OK;
}
