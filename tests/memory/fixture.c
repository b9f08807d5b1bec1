#include "memory/references.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void count(tally *t, const char *why)
{
    size_t i = 0;

    while (i < t->n_reasons && strcmp(t->reason[i].why, why) != 0)
        i++;
    if (i == sizeof t->reason / sizeof t->reason[0]) {
        printf("too many reasons\n");
        exit(1);
    }
    if (i == t->n_reasons)
        t->reason[t->n_reasons++] = (reason){why, 0};
    t->reason[i].n++;
}

void same(tally *t, const char *id, const char *what, double ours, double theirs, double slack)
{
    t->n_values++;
    if (fabs(ours - theirs) <= slack + 1e-12 * fabs(theirs))
        return;
    t->n_different++;
    if (t->n_different <= 40)
        printf("%s: %s is %.17g, not %.17g: %+.17g\n", id, what, ours, theirs, ours - theirs);
}

double number_of(const json_t *row, const char *key) { return json_number_value(json_object_get(row, key)); }
uint32_t whole_of(const json_t *row, const char *key) { return (uint32_t)number_of(row, key); }
bool flag_of(const json_t *row, const char *key) { return json_is_true(json_object_get(row, key)); }
const char *text_of(const json_t *row, const char *key)
{
    const char *s = json_string_value(json_object_get(row, key));

    return s ? s : "";
}

#define EXPERTS ", experts: Experts, top_k: TopK"

/* Of feed-forward networks with a gate. */
static const char experts_text[] = "    router: {router: [Hidden, Experts], top_k: TopK}\n"
                                   "    dispatch: {dispatch: Hidden" EXPERTS "}\n"
                                   "    fc1: {grouped: [Hidden, Ffn, Ffn], split: column" EXPERTS "}\n"
                                   "    activation: {activation: Ffn, gated: yes" EXPERTS "}\n"
                                   "    fc2: {grouped: [Ffn, Hidden], split: row" EXPERTS "}\n"
                                   "    combine: {combine: Hidden" EXPERTS "}\n";

static const char *network_text(const dimensions *d, const char *bias, dse_arena *a)
{
    if (d->n_experts)
        return experts_text;
    return dse_arena_printf(a,
                            "    fc1: {linear: [Hidden, Ffn%s], split: column%s}\n"
                            "    activation: {activation: Ffn%s}\n"
                            "    fc2: {linear: [Ffn, Hidden], split: row%s}\n",
                            d->is_gated ? ", Ffn" : "", bias, d->is_gated ? ", gated: yes" : "", bias);
}

/* The chain of a transformer, with the parts that other programs know. */
static char *written(const dimensions *d, dse_arena *a)
{
    const char *norm = d->has_mean ? ", mean: yes" : "", *bias = d->has_bias ? ", bias: yes" : "";
    const char *drop = d->drops ? "{dropout: Hidden}" : NULL;

    return dse_arena_printf(
        a,
        "hidden: Hidden\nsequence: Seq\nblocks:\n"
        "  embedding:\n    token: {embedding: [Vocab, Hidden]}\n"
        "  layer:\n"
        "    norm1: {norm: Hidden%s}\n"
        "    qkv: {linear: [Hidden, Heads*Size, KvHeads*Size, KvHeads*Size], split: column%s, kv_heads: "
        "KvHeads}\n"
        "    attention: {attention: [Heads, KvHeads, Size], causal: yes, again: yes}\n"
        "    projection: {linear: [Heads*Size, Hidden], split: row%s}\n%s%s%s"
        "    residual1: {add: norm1}\n"
        "    norm2: {norm: Hidden%s}\n"
        "%s%s%s%s"
        "    residual2: {add: norm2}\n"
        "  head:\n    norm: {norm: Hidden%s}\n    output: {linear: [Hidden, Vocab], split: column}\n"
        "    loss: {loss: Vocab}\n",
        norm, bias, bias, drop ? "    dropout1: " : "", drop ? drop : "", drop ? "\n" : "", norm,
        network_text(d, bias, a), drop ? "    dropout2: " : "", drop ? drop : "", drop ? "\n" : "", norm);
}

step_model make_model(const char *file, const dimensions *d, dse_arena *a)
{
    wl_symbols *s = DSE_ARENA_NEW(a, wl_symbols, 1);
    dse_error err = DSE_ERROR_INIT;
    cfg_doc doc;
    step_model m;
    dse_status st;

    *s = (wl_symbols){.n = 10,
                      .name = {"Seq", "Vocab", "Hidden", "Ffn", "Heads", "KvHeads", "Size", "HeadDim",
                               "Experts", "TopK"},
                      .value = {(int64_t)d->sequence, (int64_t)d->vocab, (int64_t)d->hidden, (int64_t)d->ffn,
                                (int64_t)d->heads, (int64_t)d->kv_heads, (int64_t)d->head_size,
                                (int64_t)d->head_size, (int64_t)d->n_experts, (int64_t)d->top_k}};
    if (file) {
        st = cfg_load(dse_arena_printf(a, "%s/configs/layers/%s", TEST_SOURCE, file), a, &doc, &err);
    } else {
        char *text = written(d, a);

        st = cfg_parse_yaml("fixture", text, strlen(text), a, &doc, &err);
    }
    if (st == DSE_OK)
        st = step_model_read(&doc, s, d->layers, a, &m, &err);
    if (st != DSE_OK) {
        printf("%s\n", dse_error_say(&err).text);
        exit(1);
    }
    m.is_tied = d->is_tied;
    return m;
}

step_options plain_options(void)
{
    return (step_options){.dp = 1,
                          .tp = 1,
                          .cp = 1,
                          .pp = 1,
                          .vp = 1,
                          .micro_batch = 1,
                          .n_micro_batches = 1,
                          .replicas = 1,
                          .reshard_after_forward = true,
                          .logits_copies = 1,
                          .activation_bytes = 2,
                          .weight_bytes = 2,
                          .kept_weight_bytes = 2,
                          .gradient_bytes = 4,
                          .reduce_bytes = 4,
                          .optimizer_bytes = 12};
}

bool run_memory(const step_model *m, const step_options *o, uint32_t rank, dse_arena *a, sched_plan *plan,
                step_rank_memory *out)
{
    const sched_options order = {
        .pp = o->pp, .micro_batches = o->n_micro_batches, .vp = o->vp, .like = SCHED_LIKE_ANY};

    if (sched_make(sched_find(o->vp > 1 ? "interleaved" : "1f1b"), &order, a, plan, NULL) != DSE_OK)
        return false;
    step_memory_of(step_memory_new(m, o, plan->n_stages, a), plan, rank, a, out);
    return true;
}
