/* What selective recomputation can make again of a layer: the parts that Megatron-LM's --recompute-modules
 * names, found in a block by what its modules are.
 *
 *   core_attn       attention between queries, keys, values and their result (checkpoint_core_attention)
 *   layernorm       the norms whose result several modules read: before latents, and before a router
 *   moe_act         the activation of experts
 *   mla_up_proj     queries, keys and values of latents, with the norms of these and the rotation
 *   mlp             the feed-forward network of a layer without experts, with the norm before it
 *   moe             router, dispatch, experts, combine, and the experts that all tokens take
 *   shared_experts  the latter alone
 *
 * The results of layernorm, moe_act and mla_up_proj are not kept either (tensor_parallel/random.py,
 * CheckpointWithoutOutput): they are made again before the module that reads them goes backward. The others
 * keep their input, and their result is the input of what follows (tensor_parallel.checkpoint). A norm before
 * a matrix that splits its columns is one module with it in Transformer Engine, so that layernorm has nothing
 * there (transformer_layer.py: recompute_input_layernorm only where it is no IdentityOp), while mlp has it
 * inside. Source: Megatron-LM, core/transformer/transformer_layer.py, multi_latent_attention.py,
 * moe/moe_layer.py, moe/experts.py, transformer_config.py. */
#include "step/module.h"

/* A half of a layer, up to the addition that ends it. */
typedef struct {
    step_block *block;
    uint32_t begin, end;
    uint64_t hidden;
    bool is_latent, has_experts, has_attention;
    uint32_t attention; /* number of the module */
} half;

static half half_from(step_block *b, uint32_t begin, uint64_t hidden)
{
    half h = {.block = b, .begin = begin, .end = begin, .hidden = hidden};

    for (; h.end < b->n && b->module[h.end].kind != &step_module_add; h.end++) {
        const step_module *m = &b->module[h.end];

        h.has_experts |= m->n_experts > 0;
        if (m->kind != &step_module_attention)
            continue;
        h.has_attention = true;
        /* a cache keeps less than keys and values */
        h.is_latent = m->cached != 2 * m->kv_heads * m->head_size;
        h.attention = h.end;
    }
    return h;
}

/* The module is of a part; `begins`: its input comes from elsewhere. */
static void put(step_module *m, unsigned part, bool begins)
{
    m->parts |= part;
    m->begins |= begins ? part : 0;
}

static bool is_product(const step_module *m) { return m->kind == &step_module_linear; }

/* The rotation takes the key that all heads share, and queries where no latent makes them. */
static void put_rotation(const half *h, step_module *m)
{
    put(m, STEP_AGAIN_UP, true);
    m->rotates = m->kv_heads * m->head_size;
    for (uint32_t i = h->begin; i < h->attention; i++) {
        const step_module *from = &h->block->module[i];

        if (is_product(from) && from->in == h->hidden && from->split == STEP_SPLIT_COLUMN)
            m->rotates_split = from->out[0];
    }
}

/* Norm, latents, their norms, queries, keys and values, rotation, attention. */
static void mark_latents(half *h)
{
    bool had_norm = false;

    for (uint32_t i = h->begin; i < h->attention; i++) {
        step_module *m = &h->block->module[i];
        const bool is_wide = m->in == h->hidden;

        m->made_until = h->attention;
        if (m->kind == &step_module_norm)
            put(m, is_wide ? STEP_AGAIN_NORMS : STEP_AGAIN_UP, true);
        else if (m->kind == &step_module_rotary)
            put_rotation(h, m);
        else if (is_product(m) && !is_wide)
            put(m, STEP_AGAIN_UP, !had_norm);
        else if (is_product(m))
            m->reads |= STEP_AGAIN_NORMS;
        had_norm = m->kind == &step_module_norm;
        if (is_wide)
            m->made_until = h->end - 1;
    }
    h->block->module[h->attention].reads |= STEP_AGAIN_UP;
}

/* Which part a module of a feed-forward network is of. */
static void mark_network(half *h)
{
    bool begins = true;

    for (uint32_t i = h->begin; i < h->end; i++) {
        step_module *m = &h->block->module[i];
        const bool is_norm = m->kind == &step_module_norm, is_activation = m->kind == &step_module_activation;

        m->made_until = h->end - 1;
        if (m->kind == &step_module_dropout || (is_norm && (i > h->begin || m->in != h->hidden)))
            continue;
        if (!h->has_experts) {
            put(m, STEP_AGAIN_MLP, begins);
            begins = false;
            continue;
        }
        if (is_norm) {
            put(m, STEP_AGAIN_NORMS, true);
            continue;
        }
        if (m->in == h->hidden && (is_product(m) || m->kind == &step_module_router))
            m->reads |= STEP_AGAIN_NORMS;
        put(m, STEP_AGAIN_EXPERTS, m->kind == &step_module_router && !m->is_shared);
        if (is_product(m) || (is_activation && !m->n_experts) ||
            (m->kind == &step_module_router && !m->top_k))
            put(m, STEP_AGAIN_SHARED, is_product(m) && m->in == h->hidden && !m->is_shared);
        if (is_activation && m->n_experts)
            put(m, STEP_AGAIN_EXPERT_ACTIVATION, true);
        if (m->kind == &step_module_grouped && m->split == STEP_SPLIT_ROW)
            m->reads |= STEP_AGAIN_EXPERT_ACTIVATION;
    }
}

void step_block_mark_parts(step_block *b, uint64_t hidden)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->module[i].is_again)
            put(&b->module[i], STEP_AGAIN_CORE, true);
        b->module[i].made_until = i;
    }
    for (uint32_t i = 0; i < b->n;) {
        half h = half_from(b, i, hidden);

        if (h.is_latent)
            mark_latents(&h);
        else if (!h.has_attention)
            mark_network(&h);
        i = h.end + 1;
    }
}

unsigned step_again_parts(const step_options *o)
{
    if (o->recompute != STEP_RECOMPUTE_SELECTIVE)
        return 0;
    return o->recompute_modules ? o->recompute_modules : STEP_AGAIN_CORE;
}

bool step_is_made_again(const step_options *o, const step_module *m)
{
    return (m->parts & step_again_parts(o)) != 0;
}

uint32_t step_made_until(const step_options *o, const step_block *b, uint32_t module)
{
    const step_module *m = &b->module[module];
    const unsigned active = (m->parts | m->reads) & step_again_parts(o);

    return active & ~(unsigned)(STEP_AGAIN_CORE | STEP_AGAIN_EXPERT_ACTIVATION) ? m->made_until : module;
}

bool step_model_has_part(const step_model *m, unsigned part)
{
    for (uint32_t i = STEP_LAYER; i < m->n_blocks; i++)
        for (uint32_t k = 0; k < m->block[i].n; k++)
            if (m->block[i].module[k].parts & part)
                return true;
    return false;
}
