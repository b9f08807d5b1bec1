#include "step/cases.h"

#include "config/doc.h"

#include <stdio.h>
#include <string.h>

static uint32_t number(const json_t *at, const char *key)
{
    const json_t *v = json_object_get(at, key);

    return json_is_integer(v) ? (uint32_t)json_integer_value(v) : 0;
}

static bool flag(const json_t *at, const char *key) { return json_is_true(json_object_get(at, key)); }

static bool is_text(const json_t *at, const char *key, const char *text)
{
    const json_t *v = json_object_get(at, key);

    return json_is_string(v) && strcmp(json_string_value(v), text) == 0;
}

static double bytes_of(const json_t *at, const char *key) { return is_text(at, key, "float32") ? 4 : 2; }

static uint32_t percent(const json_t *at, const char *key)
{
    return (uint32_t)(100 * json_number_value(json_object_get(at, key)) + 0.5);
}

static case_state fail(const step_case *c, const dse_error *err)
{
    printf("%s: %s: %s\n", c->id, err->where, err->text);
    return CASE_FAILED;
}

/* ---- models ------------------------------------------------------------------------------------ */

/* The values of a file's symbols are numbers of the row. */
static case_state make_model(step_case *c, const cfg_doc *doc, const json_t *sizes, uint32_t n_layers)
{
    const cfg_node *map = cfg_get(doc->root, "symbols");
    wl_symbols symbols = {.n = map->n};
    dse_error err = {0};

    for (uint32_t i = 0; i < map->n; i++) {
        symbols.name[i] = map->key[i]->text;
        symbols.value[i] = number(sizes, map->item[i]->text);
    }
    if (step_model_read(doc, &symbols, n_layers, c->arena, &c->model, &err) != DSE_OK)
        return fail(c, &err);
    return CASE_READY;
}

static case_state load_model(step_case *c, const char *file, const json_t *sizes, uint32_t n_layers)
{
    char path[4096];
    dse_error err = {0};
    cfg_doc doc;

    snprintf(path, sizeof path, "%s/layers/%s", TEST_DATA, file);
    if (cfg_load(path, c->arena, &doc, &err) != DSE_OK)
        return fail(c, &err);
    return make_model(c, &doc, sizes, n_layers);
}

static case_state make_plan(step_case *c)
{
    const step_options *o = &c->options;
    const sched_options s = {.pp = o->pp, .micro_batches = o->n_micro_batches, .vp = o->vp};
    dse_error err = {0};

    if (sched_make(sched_find(o->vp > 1 ? "interleaved" : "1f1b"), &s, c->arena, &c->plan, &err) != DSE_OK)
        return fail(c, &err);
    return CASE_READY;
}

/* What every program has: one rank of all, 32-bit gradients. */
static step_options plain_options(void)
{
    return (step_options){.dp = 1,
                          .tp = 1,
                          .cp = 1,
                          .pp = 1,
                          .vp = 1,
                          .micro_batch = 1,
                          .n_micro_batches = 1,
                          .replicas = 1,
                          .activation_bytes = 4,
                          .weight_bytes = 4,
                          .reduce_bytes = 4};
}

/* ---- Megatron-LM ------------------------------------------------------------------------------- */

case_state read_megatron(step_case *c)
{
    const json_t *a = json_object_get(c->row, "args");
    step_options *o = &c->options;
    uint32_t others = number(a, "tp") * number(a, "pp") * number(a, "cp");

    *o = plain_options();
    o->tp = number(a, "tp");
    o->pp = number(a, "pp");
    o->cp = number(a, "cp");
    o->dp = number(a, "world") / others;
    o->vp = number(a, "vpp") ? number(a, "vpp") : 1;
    o->micro_batch = number(a, "b");
    o->n_micro_batches = number(a, "m");
    o->sequence_parallel = o->gathers_again = flag(a, "sp");
    o->sums_whole_gradients = true;
    if (is_text(a, "rec", "full"))
        o->recompute = STEP_RECOMPUTE_FULL;
    else if (is_text(a, "rec", "selective"))
        o->recompute = STEP_RECOMPUTE_SELECTIVE;
    o->recompute_layers = is_text(a, "recmeth", "block") ? number(a, "recnl") : 0;
    o->zero = flag(a, "distopt");
    o->pads_parameters = 64;
    o->overlaps_gradients = flag(a, "ogr");
    o->overlaps_parameters = flag(a, "opg");
    o->bucket_elements = number(a, "bucket");
    o->buckets_first_stage = o->calls_alone = true;
    o->batches_messages = o->vp > 1;
    o->fuses_loss = flag(a, "cef");
    o->activation_bytes = o->weight_bytes = bytes_of(a, "dt");
    o->reduce_bytes = flag(a, "fp32red") ? 4 : bytes_of(a, "dt");
    o->ep = number(a, "ep");
    o->etp = json_is_null(json_object_get(a, "etp")) ? o->tp : number(a, "etp");
    o->experts_in_turn = true;
    o->dispatch = is_text(a, "disp", "allgather") ? STEP_DISPATCH_ALL_GATHER : STEP_DISPATCH_ALL_TO_ALL;
    o->capacity_percent = percent(a, "cap");
    if (o->capacity_percent)
        o->capacity = flag(a, "pad") ? STEP_CAPACITY_PAD : STEP_CAPACITY_DROP;
    c->of = (step_list_of){.rank = number(a, "rank") / (o->tp * o->cp * o->dp), .step = 1};
    if (load_model(c,
                   !number(a, "moe")     ? "megatron.yaml"
                   : number(a, "shared") ? "megatron_shared_expert.yaml"
                                         : "megatron_experts.yaml",
                   a, number(a, "L")) != CASE_READY)
        return CASE_FAILED;
    c->model.is_tied = flag(a, "tied");
    return make_plan(c);
}

/* ---- FSDP2 ------------------------------------------------------------------------------------- */

case_state read_fsdp2(step_case *c)
{
    const json_t *forward = json_object_get(c->row, "raf");
    step_options *o = &c->options;

    *o = plain_options();
    o->dp = number(c->row, "world");
    o->n_micro_batches = number(c->row, "nmb");
    o->zero = 3;
    o->replicas = number(c->row, "hsdp") ? number(c->row, "hsdp") : 1;
    o->reshard_after_forward = !json_is_false(forward);
    o->reshard_ranks = json_is_integer(forward) ? number(c->row, "raf") : 0;
    o->shards_root = is_text(c->row, "mode", "blocks");
    o->sync = is_text(c->row, "sync", "each")   ? STEP_SYNC_EACH
              : is_text(c->row, "sync", "last") ? STEP_SYNC_LAST
                                                : STEP_SYNC_LAST_NO_RESHARD;
    o->activation_bytes = o->weight_bytes = flag(c->row, "mp") ? 2 : 4;
    c->of = (step_list_of){.by_micro_batch = true, .step = 1};
    if (load_model(c, "fsdp2.yaml", c->row, number(c->row, "L")) != CASE_READY)
        return CASE_FAILED;
    return make_plan(c);
}

/* ---- torch DDP: a model of the row's linear modules --------------------------------------------- */

static case_state make_linears(step_case *c, const json_t *linears)
{
    dse_strbuf text;
    json_t *sizes = json_object();
    dse_error err = {0};
    case_state state;
    cfg_doc doc;
    size_t n = json_array_size(linears), i;
    json_t *one;

    dse_strbuf_init(&text);
    dse_strbuf_adds(&text, "blocks:\n");
    json_array_foreach(linears, i, one)
    {
        const char *block = i == 0 ? "  embedding:\n" : i == 1 ? "  layer:\n" : i + 1 == n ? "  head:\n" : "";
        json_int_t in = json_integer_value(json_array_get(one, 0)),
                   out = json_integer_value(json_array_get(one, 1));
        char name[2][32];

        snprintf(name[0], sizeof name[0], "N%lld", (long long)in);
        snprintf(name[1], sizeof name[1], "N%lld", (long long)out);
        json_object_set_new(sizes, name[0], json_integer(in));
        json_object_set_new(sizes, name[1], json_integer(out));
        dse_strbuf_addf(&text, "%s    m%zu: {linear: [%s, %s], bias: %s}\n", block, i, name[0], name[1],
                        json_is_true(json_array_get(one, 2)) ? "yes" : "no");
    }
    dse_strbuf_adds(&text, "symbols:\n");
    for (void *at = json_object_iter(sizes); at; at = json_object_iter_next(sizes, at))
        dse_strbuf_addf(&text, "  %s: %s\n", json_object_iter_key(at), json_object_iter_key(at));
    dse_strbuf_addf(&text, "hidden: %s\nsequence: %s\n", json_object_iter_key(json_object_iter(sizes)),
                    json_object_iter_key(json_object_iter(sizes)));
    if (cfg_parse_yaml(c->id, text.data, text.len, c->arena, &doc, &err) != DSE_OK)
        state = fail(c, &err);
    else
        state = make_model(c, &doc, sizes, 1);
    json_decref(sizes);
    dse_strbuf_free(&text);
    return state;
}

static case_state read_ddp(step_case *c)
{
    step_options *o = &c->options;
    double cap = json_number_value(json_object_get(c->row, "bucket_cap_mb")) * 1024 * 1024;

    o->dp = number(c->row, "world");
    o->n_micro_batches = number(c->row, "nmb");
    o->overlaps_gradients = o->buckets_by_readiness = true;
    o->bucket_elements = ((uint64_t)cap + 3) / 4;
    c->of = (step_list_of){.by_micro_batch = true};
    c->n_steps = 2;
    if (make_linears(c, json_object_get(c->row, "linears")) != CASE_READY)
        return CASE_FAILED;
    return make_plan(c);
}

/* ---- DTensor, ring ----------------------------------------------------------------------------- */

static case_state read_dtensor(step_case *c)
{
    step_options *o = &c->options;

    o->tp = number(c->row, "world");
    o->micro_batch = number(c->row, "B");
    o->sequence_parallel = true;
    o->recompute = flag(c->row, "full_ac") ? STEP_RECOMPUTE_FULL : STEP_RECOMPUTE_NONE;
    o->stops_early = true;
    o->gathers_logits = !flag(c->row, "lossp");
    o->loss_after_model = true;
    o->activation_bytes = o->weight_bytes = bytes_of(c->row, "dtype");
    if (load_model(c, "dtensor.yaml", c->row, number(c->row, "L")) != CASE_READY)
        return CASE_FAILED;
    return make_plan(c);
}

case_state read_ddp_or_dtensor(step_case *c)
{
    c->options = plain_options();
    return is_text(c->row, "kind", "ddp") ? read_ddp(c) : read_dtensor(c);
}

case_state read_ring(step_case *c)
{
    step_options *o = &c->options;

    *o = plain_options();
    o->cp = number(c->row, "world");
    o->micro_batch = number(c->row, "B");
    o->context = is_text(c->row, "rotate", "allgather") ? STEP_CONTEXT_ALL_GATHER_RING : STEP_CONTEXT_RING;
    o->activation_bytes = bytes_of(c->row, "dtype");
    if (load_model(c, "ring.yaml", c->row, 1) != CASE_READY)
        return CASE_FAILED;
    return make_plan(c);
}

/* ---- passes of Megatron-LM ----------------------------------------------------------------------- */

/* "F" and "B" for a pass, "G" for a reduction of gradients, "P" for a gathering of parameters; before
 * each, how many messages were sent and received. */
static void add_event(dse_strbuf *out, char event, uint32_t messages[2])
{
    if (messages[0] || messages[1])
        dse_strbuf_addf(out, "%us%ur ", messages[0], messages[1]);
    messages[0] = messages[1] = 0;
    if (event)
        dse_strbuf_addf(out, "%c ", event);
}

/* "0F1,SF0.1+RF,0B0,0GRADSYNC": passes, calls of messages, reductions. What else there is makes no call. */
static void add_row(const char *row, dse_strbuf *out)
{
    uint32_t messages[2] = {0};

    for (size_t n; *row; row += n + (row[n] != '\0')) {
        size_t digits = strspn(row, "0123456789");
        char kind = row[digits];

        n = strcspn(row, ",+");
        if (!digits && (strncmp(row, "SF", 2) == 0 || strncmp(row, "SB", 2) == 0))
            messages[0]++;
        else if (!digits && kind == 'R')
            messages[1]++;
        else if (digits && (strchr("FBGP", kind)))
            add_event(out, kind, messages);
    }
    add_event(out, '\0', messages);
}

static char event_of(const step_entry *e)
{
    bool forward = e->phase == STEP_PHASE_FORWARD;

    if (e->call.group == STEP_GROUP_TP)
        return forward ? 'F' : 'B';
    return forward ? 'P' : 'G';
}

static void add_list(const step_list *list, dse_strbuf *out)
{
    uint32_t messages[2] = {0};

    for (size_t i = 0; i < list->n; i++) {
        const step_entry *e = &list->entry[i];

        if (e->phase == STEP_PHASE_MESSAGE) {
            messages[e->call.type == STEP_RECV] += (uint32_t)e->times;
            continue;
        }
        for (uint64_t k = 0; k < e->times; k++)
            add_event(out, event_of(e), messages);
    }
    add_event(out, '\0', messages);
}

static bool check_rank(step_case *c, const char *row)
{
    dse_strbuf seen, recorded;
    step_list list;
    bool agree;

    dse_strbuf_init(&seen);
    dse_strbuf_init(&recorded);
    step_list_make(&c->model, &c->options, &c->plan, &c->of, &list);
    add_list(&list, &seen);
    step_list_free(&list);
    add_row(row, &recorded);
    agree = strcmp(seen.data, recorded.data) == 0;
    if (!agree)
        printf("%s, rank %u:\n  %s\n  recorded\n  %s\n", c->id, c->of.rank, seen.data, recorded.data);
    dse_strbuf_free(&seen);
    dse_strbuf_free(&recorded);
    return agree;
}

case_state check_passes(step_case *c)
{
    const json_t *exec = json_object_get(c->row, "exec");
    step_options *o = &c->options;
    sched_options s = {.group_size = number(c->row, "microbatch_group_size_per_vp_stage")};
    dse_error err = {0};

    if (!json_is_array(exec) || flag(c->row, "overlap_p2p"))
        return CASE_SKIPPED;
    *o = plain_options();
    o->tp = 2;
    s.pp = o->pp = number(c->row, "pp");
    s.vp = o->vp = number(c->row, "v");
    s.micro_batches = o->n_micro_batches = number(c->row, "m");
    o->overlaps_gradients = o->aligns_gradients = true;
    o->zero = o->overlaps_parameters = o->aligns_parameters = flag(c->row, "param_sync_func");
    o->batches_messages = o->vp > 1;
    if (load_model(c, "pair.yaml", c->row, o->pp * o->vp) != CASE_READY)
        return CASE_FAILED;
    if (sched_make(sched_find(o->vp > 1 ? "interleaved" : "1f1b"), &s, c->arena, &c->plan, &err) != DSE_OK)
        return fail(c, &err);
    for (c->of.rank = 0; c->of.rank < o->pp; c->of.rank++) {
        bool within =
            o->vp == 1 && c->of.rank == 0; /* its last pass, so that no call of the schedule shows */

        o->dp = flag(c->row, "grad_sync_func") && !within ? 2 : 1;
        if (!check_rank(c, json_string_value(json_array_get(exec, c->of.rank))))
            return CASE_FAILED;
    }
    return CASE_READY;
}
