/* A snapshot of a real run that ran out of memory in the first forward pass, while the loss was taken: Llama
 * 3 8B, FSDP2 over 4 ranks, every second layer checkpointed. Gradients and optimizer state did not exist
 * yet. */
#include "memory/references.h"

static double component(const json_t *file, const char *name)
{
    return number_of(json_object_get(file, "components_bytes"), name);
}

static const step_module *module_of(const step_block *b, const step_module_kind *kind, uint32_t nth)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->module[i].kind == kind && !nth--)
            return &b->module[i];
    return NULL;
}

/* Each of what an unchecked layer keeps, from the kind of module that says it. */
static void check_layer(const json_t *file, const step_model *m, const step_options *o, tally *t)
{
    const step_block *b = &m->block[STEP_LAYER];
    const step_shape s = step_shape_of(m, o);
    double norms = 0, inputs = 0, activation;
    double hidden = (double)step_module_input(&b->module[0], &s);
    const step_module *attention = module_of(b, &step_module_attention, 0);

    for (uint32_t i = 0; i < 2; i++)
        norms += (double)step_module_kept(module_of(b, &step_module_norm, i), &s) - hidden; /* rstd */
    inputs += (double)step_module_kept(module_of(b, &step_module_linear, 0), &s);
    inputs += (double)step_module_kept(module_of(b, &step_module_linear, 2), &s);
    same(t, "snapshot", "norms", 16 * (norms + inputs),
         component(file, "16 uncheckpointed layers: 2 RMSNorm outputs + fp32 rstd"), 0);
    same(t, "snapshot", "attention", 16 * (double)step_module_kept(attention, &s),
         component(file, "16x rotated q") + component(file, "16x k,v expanded to all heads") +
             component(file, "16x attention log-sum-exp") +
             component(file, "2 random seeds per attention (16 layers)"),
         0);
    same(t, "snapshot", "attention output",
         16 * (double)step_module_kept(module_of(b, &step_module_linear, 1), &s),
         component(file, "16x attention output"), 0);
    same(t, "snapshot", "residual", 16 * hidden, component(file, "16x residual after attention"), 0);
    activation = (double)step_module_kept(module_of(b, &step_module_activation, 0), &s);
    activation += (double)step_module_kept(module_of(b, &step_module_linear, 3), &s);
    same(t, "snapshot", "feed-forward", 16 * activation, component(file, "16x w1 out, w3 out, silu, product"),
         0);
}

static void check_head(const json_t *file, const step_model *m, const step_options *o, tally *t)
{
    const step_block *b = &m->block[STEP_HEAD];
    const step_shape s = step_shape_of(m, o);
    const step_module *loss = module_of(b, &step_module_loss, 0);

    same(t, "snapshot", "head", (double)step_module_kept(&b->module[1], &s) + 4 * (double)s.tokens,
         component(file, "final norm output + rstd"), 0);
    same(t, "snapshot", "logits", (double)step_module_input(loss, &s), component(file, "logits bf16"), 0);
    same(t, "snapshot", "tokens and labels",
         (double)step_module_kept(&m->block[STEP_EMBEDDING].module[0], &s) + 8 * (double)s.tokens,
         component(file, "token ids and labels int64"), 0);
}

void check_snapshot(const json_t *file, tally *t)
{
    const dimensions d = {.hidden = 4096,
                          .ffn = 14336,
                          .heads = 32,
                          .kv_heads = 8,
                          .head_size = 128,
                          .vocab = 128256,
                          .sequence = 2048,
                          .layers = 32};
    step_options o = plain_options();
    dse_arena a = {0};
    step_model m = make_model("llama.yaml", &d, &a);
    step_rank_memory r, before;
    sched_plan plan;
    sched_action forward = {.kind = SCHED_F};
    uint32_t rank = 0, first[] = {0, 1};
    double activations = 0;
    const char *const kept[] = {"embedding_output",
                                "layer_outputs(32)",
                                "16 uncheckpointed layers: 2 RMSNorm outputs + fp32 rstd",
                                "16x rotated q",
                                "16x k,v expanded to all heads",
                                "16x attention output",
                                "16x attention log-sum-exp",
                                "16x residual after attention",
                                "16x w1 out, w3 out, silu, product",
                                "final norm output + rstd",
                                "2 random seeds per attention (16 layers)",
                                "token ids and labels int64"};

    o.dp = 4, o.zero = 3, o.micro_batch = 4;
    o.recompute = STEP_RECOMPUTE_FULL, o.recompute_every = 2;
    o.expands_kv = o.fused_attention = true;
    o.gradient_bytes = o.optimizer_bytes = 0; /* the first pass */
    o.logits_copies = 2;
    o.workspace_bytes = 8519680;
    check_layer(file, &m, &o, t);
    check_head(file, &m, &o, t);

    run_memory(&m, &o, 0, &a, &plan, &r);
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        activations += component(file, kept[i]);
    activations -= 8 * 4 * 2048; /* labels count with the loss */
    same(t, "snapshot", "parameters", (double)r.held[STEP_HOLDS_PARAMETERS],
         component(file, "sharded_parameters"), 0);
    same(t, "snapshot", "tables", (double)r.held[STEP_HOLDS_TABLES], component(file, "rope_table_complex64"),
         0);
    same(t, "snapshot", "workspace", (double)r.held[STEP_HOLDS_WORKSPACE],
         component(file, "matmul workspace"), 0);
    same(t, "snapshot", "gathered", (double)r.held[STEP_HOLDS_GATHERED_PARAMETERS],
         component(file, "gathered norm+output unit (not resharded)"), 0);
    same(t, "snapshot", "activations", (double)r.held[STEP_HOLDS_ACTIVATIONS], activations, 0);
    same(t, "snapshot", "logits", (double)r.held[STEP_HOLDS_LOGITS],
         component(file, "logits bf16") + component(file, "logits fp32 (first copy)") +
             number_of(file, "oom_request_recorded") + 8 * 4 * 2048,
         0);
    same(t, "snapshot", "the request that failed", (double)r.peak,
         number_of(file, "live_at_oom_recorded") + number_of(file, "oom_request_recorded"), 0);
    o.logits_copies = 1; /* and before it */
    run_memory(&m, &o, 0, &a, &plan, &before);
    same(t, "snapshot", "live memory", (double)before.peak, number_of(file, "live_at_oom_recorded"), 0);

    /* Parameters, where nothing else is large: the copy-out of the head. 27,088 bytes describe the copies. */
    o.micro_batch = 1;
    m.sequence = 1;
    plan = (sched_plan){.n_ranks = 1,
                        .n_directions = 1,
                        .n_stages = 1,
                        .n_micro_batches = 1,
                        .stage_rank = &rank,
                        .action = &forward,
                        .first = first};
    step_memory_of(step_memory_new(&m, &o, 1, &a), &plan, 0, &a, &r);
    same(t, "snapshot", "gathered at most", (double)r.held[STEP_HOLDS_GATHERED_PARAMETERS],
         number_of(file, "peak_gathered_recorded") - 27088, 0);
    dse_arena_free(&a);
}
