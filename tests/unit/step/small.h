/* A small model, and the text of a rank's list of collectives. */
#ifndef UNIT_STEP_SMALL_H
#define UNIT_STEP_SMALL_H

#include "step/list.h"
#include "unit/unit.h"

/* Of hidden size 8 and a vocabulary of 40: a layer has 8 + 64 + 128 elements, in this order. */
static const char small_text[] = "hidden: H\n"
                                 "sequence: S\n"
                                 "blocks:\n"
                                 "  embedding:\n"
                                 "    token: {embedding: [V, H]}\n"
                                 "  layer:\n"
                                 "    norm: {norm: H}\n"
                                 "    qkv: {linear: [H, H], split: column}\n"
                                 "    attention: {attention: [T, T, H/T]}\n"
                                 "    down: {linear: [F, H], split: row}\n"
                                 "  head:\n"
                                 "    norm: {norm: H}\n"
                                 "    output: {linear: [H, V], split: column}\n"
                                 "    loss: {loss: V}\n";

static inline step_model small_model_of(const char *text, uint32_t n_layers, dse_arena *a)
{
    static const wl_symbols symbols = {5, {"H", "S", "V", "T", "F"}, {8, 4, 40, 2, 16}};
    dse_error err = {0};
    cfg_doc doc;
    step_model m;

    assert_ok(cfg_parse_yaml("small", text, strlen(text), a, &doc, &err), &err);
    assert_ok(step_model_read(&doc, &symbols, n_layers, a, &m, &err), &err);
    return m;
}

static inline step_model small_model(uint32_t n_layers, dse_arena *a)
{
    return small_model_of(small_text, n_layers, a);
}

/* The same with a second kind of layer, `wide`, of 8 + 64 + 256 elements, and this pattern of both. */
static inline step_model small_mixed_model(const char *pattern, uint32_t n_layers, dse_arena *a)
{
    const char *head = strstr(small_text, "  head:");

    return small_model_of(dse_arena_printf(a,
                                           "%.*s  wide:\n"
                                           "    norm: {norm: H}\n"
                                           "    qkv: {linear: [H, H], split: column}\n"
                                           "    attention: {attention: [T, T, H/T]}\n"
                                           "    down: {linear: [S*H, H], split: row}\n"
                                           "%spattern: %s\n",
                                           (int)(head - small_text), small_text, head, pattern),
                          n_layers, a);
}

static inline step_options small_options(void)
{
    return (step_options){.dp = 1,
                          .tp = 1,
                          .cp = 1,
                          .pp = 1,
                          .vp = 1,
                          .micro_batch = 1,
                          .n_micro_batches = 1,
                          .replicas = 1,
                          .activation_bytes = 2,
                          .weight_bytes = 2,
                          .reduce_bytes = 4};
}

/* Of a rank of the pipeline, in the order of this schedule; "B:all_reduce:64", or "B:all_reduce:64x3",
 * each with the bytes that go in, joined by spaces. In the arena. */
static inline const char *small_list(const step_model *m, const step_options *o, const char *schedule,
                                     uint32_t rank, dse_arena *a)
{
    const sched_options s = {.pp = o->pp, .micro_batches = o->n_micro_batches, .vp = o->vp};
    const step_list_of of = {.rank = rank, .step = 2};
    dse_error err = {0};
    sched_plan plan;
    step_list list;
    dse_strbuf text;
    const char *out;

    assert_ok(sched_make(sched_find(schedule), &s, a, &plan, &err), &err);
    step_list_make(m, o, &plan, &of, &list);
    dse_strbuf_init(&text);
    for (size_t i = 0; i < list.n; i++) {
        const step_entry *e = &list.entry[i];

        dse_strbuf_adds(&text, i ? " " : "");
        step_phase_name(e, &text);
        dse_strbuf_addf(&text, ":%s:%llu", step_call_name(&e->call), (unsigned long long)e->call.in_bytes);
        if (e->times > 1)
            dse_strbuf_addf(&text, "x%llu", (unsigned long long)e->times);
    }
    out = dse_arena_strdup(a, text.data);
    dse_strbuf_free(&text);
    step_list_free(&list);
    return out;
}

#endif
