/* The model of a job: the card that the options name, the shipped card of its family, or one made of its own
 * numbers. */
#include "base/array.h"
#include "base/names.h"
#include "cards/hf.h"
#include "cards/locate.h"
#include "measured/job_row.h"
#include "measured/plan_parts.h"
#include "step/model.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_ 128

/* ---- families ------------------------------------------------------------------------------ */

/* Other names of a shipped card, in the form of number_form. Llama 3, 3.1 and 3.3 have the same sizes, and so
 * have Qwen 2 and 2.5 of 7B, and DeepSeek-V3 and R1; MaxText's names of models are those of its
 * configs/models; TorchTitan's DeepSeek-V3 16B and 236B are of DeepSeek-V2's sizes
 * (models/deepseek_v3/__init__.py), and so is MaxText's deepseek2-16b. */
static const struct {
    const char *spelling, *card;
} families[] = {
    {"llama38b", "llama-3.1-8b"},
    {"llama370b", "llama-3.1-70b"},
    {"llama3.370b", "llama-3.1-70b"},
    {"megatron175b", "gpt3-175b"},
    {"mtnlg530b", "turing-530b"},
    {"megatronturing530b", "turing-530b"},
    {"megatronturingnlg530b", "turing-530b"},
    {"megatron530b", "turing-530b"},
    {"codellama34b", "llama-2-34b"},
    {"nemotron38b", "nemotron-8b"},
    {"nemotron415b", "nemotron-15b"},
    {"nemotron322b", "nemotron-22b"},
    {"nemotron4340b", "nemotron-340b"},
    {"qwen27b", "qwen2.5-7b"},
    {"gemma29bit", "gemma-2-9b"},
    {"deepseekv216b", "deepseek-v2-lite"},
    {"deepseekv316b", "deepseek-v2-lite"},
    {"deepseekv3236b", "deepseek-v2"},
    {"llama3405b", "llama-3.1-405b"},
    {"deepseekv3671b", "deepseek-v3"},
    {"deepseekr1", "deepseek-v3"},
    {"deepseek3671b", "deepseek-v3"},
    {"deepseek216b", "deepseek-v2-lite"},
    {"deepseek2236b", "deepseek-v2"},
    {"grok", "grok-1"},
    {"grok1314b", "grok-1"},
    {"kimik21t", "kimi-k2"},
    {"llama4scout17b16e", "llama-4-scout"},
    {"llama417b16e", "llama-4-scout"},
    {"llama4maverick17b128e", "llama-4-maverick"},
    {"llama417b128e", "llama-4-maverick"},
    {"qwen3235b", "qwen3-235b-a22b"},
    {"qwen330b", "qwen3-30b-a3b"},
    {"qwen3coder480b", "qwen3-coder-480b-a35b"},
    {"qwen3480ba35b", "qwen3-coder-480b-a35b"},
    {"qwen3480b", "qwen3-coder-480b-a35b"},
    {"bloom176b", "bloom-176b"},
    {"bloom", "bloom-176b"},
    {"bloom7.1b", "bloom-7b1"},
};

/* Cards of STAGE's own examples, which are no models that were trained: by their exact names alone. */
static const char *const of_stage[] = {"gpt175b", "llama70b"};

/* As msr_normal_form, with the points of numbers: a model of 1.3b parameters is not one of 13b. */
static void number_form(const char *text, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; text[i] && n + 1 < size; i++)
        if (isalnum((unsigned char)text[i]) || (text[i] == '.' && i && isdigit((unsigned char)text[i - 1]) &&
                                                isdigit((unsigned char)text[i + 1])))
            out[n++] = (char)tolower((unsigned char)text[i]);
    out[n] = '\0';
}

/* A name in that form without what does not say which model it is: who published it, and what was done to
 * it. */
static void bare_form(const char *family, char out[NAME_MAX_])
{
    static const char *const before[] = {"meta", "nvidia", "google"}, *const behind[] = {
                                                                          "hf",   "base", "instruct", "chat",
                                                                          "v0.1", "v0.2", "v0.3",     "pt"};
    const char *slash = strrchr(family, '/');
    bool again = true;
    size_t n;

    number_form(slash ? slash + 1 : family, out, NAME_MAX_);
    for (size_t i = 0; i < DSE_COUNT(before); i++)
        if (!strncmp(out, before[i], n = strlen(before[i])))
            memmove(out, out + n, strlen(out + n) + 1);
    while (again) { /* there may be several: "-Instruct-v0.3" */
        again = false;
        for (size_t i = 0; i < DSE_COUNT(behind); i++)
            if (strlen(out) > (n = strlen(behind[i])) && !strcmp(out + strlen(out) - n, behind[i])) {
                out[strlen(out) - n] = '\0';
                again = true;
            }
    }
}

static bool is_of_stage(const char *card)
{
    for (size_t i = 0; i < DSE_COUNT(of_stage); i++)
        if (!strcmp(card, of_stage[i]))
            return true;
    return false;
}

/* ---- documents ----------------------------------------------------------------------------- */

/* Room for a card's own entries and for what is put over them. */
#define MORE_KEYS 24

typedef struct {
    cfg_node *map;
    dse_arena *arena;
} making;

/* Sets a key, in the place that it had or at the end. */
static void put(making *m, const char *key, const char *value)
{
    cfg_node *nodes = DSE_ARENA_NEW(m->arena, cfg_node, 2);
    uint32_t i = 0;

    nodes[0] = (cfg_node){.kind = CFG_SCALAR, .line = 1, .column = 1, .text = key};
    nodes[1] = (cfg_node){.kind = CFG_SCALAR, .line = 1, .column = 1, .text = value};
    while (i < m->map->n && strcmp(m->map->key[i]->text, key) != 0)
        i++;
    m->map->key[i] = &nodes[0];
    m->map->item[i] = &nodes[1];
    m->map->n += i == m->map->n;
}

static void put_int(making *m, const char *key, int64_t v)
{
    put(m, key, dse_arena_printf(m->arena, "%" PRId64, v));
}

/* A document with room, of another's entries (NULL: none). */
static void begin(making *m, const char *path, const cfg_doc *from, dse_arena *a, cfg_doc *out)
{
    const uint32_t n = from ? from->root->n : 0;

    *m = (making){.map = DSE_ARENA_NEW(a, cfg_node, 1), .arena = a};
    *m->map = (cfg_node){.kind = CFG_MAP,
                         .line = 1,
                         .column = 1,
                         .n = n,
                         .item = DSE_ARENA_NEW(a, cfg_node *, n + MORE_KEYS),
                         .key = DSE_ARENA_NEW(a, cfg_node *, n + MORE_KEYS)};
    if (n) {
        memcpy(m->map->item, from->root->item, n * sizeof *m->map->item);
        memcpy(m->map->key, from->root->key, n * sizeof *m->map->key);
    }
    *out = (cfg_doc){.path = path, .root = m->map};
}

/* ---- a card -------------------------------------------------------------------------------- */

static dse_status load_card(msr_plan *p, const char *name, dse_arena *a, cfg_doc *out, dse_error *err)
{
    const char *path, *note = NULL;
    dse_status st;

    if ((st = card_locate(CARD_MODELS, name, a, &path, err)) != DSE_OK ||
        (st = cfg_load(path, a, out, err)) != DSE_OK ||
        (st = card_hf_resolve(out, a, &note, err)) != DSE_OK ||
        (st = card_name(path, a, &p->model_name, err)) != DSE_OK)
        return st;
    if (out->root->kind != CFG_MAP)
        return dse_fail_at(err, DSE_E_CONFIG, path, "this is no model card: it is to be a mapping");
    if (note)
        msr_plan_assume(p, a, "%s", note);
    return DSE_OK;
}

/* A size of a job as a card has it. */
typedef struct {
    const char *key;
    int64_t v;
    const char *otherwise; /* the key that says it where a card has not this one */
} model_size;

#define N_SIZES 9

/* A vocabulary is padded as its training likes it. */
static void sizes_of(const msr_job *j, model_size out[N_SIZES])
{
    const model_size sizes[N_SIZES] = {{"layers", j->layers, NULL},
                                       {"d_model", j->d_model, NULL},
                                       {"d_ff", j->d_ff, NULL},
                                       {"heads", j->heads, NULL},
                                       {"kv_heads", j->kv_heads, "heads"},
                                       {"experts", j->experts, NULL},
                                       {"experts_per_token", j->top_k, NULL},
                                       {"d_ff_expert", j->expert_d_ff, "d_ff"},
                                       {"first_dense_layers", j->dense_layers, NULL}};

    memcpy(out, sizes, sizeof sizes);
}

/* A size of a job, of which the card of its family has another. */
typedef struct {
    const char *key; /* NULL: there is none */
    int64_t of_job, of_card;
} difference;

/* Those sizes, at most N_SIZES of them. */
static dse_status find_differences(const msr_job *j, const cfg_doc *card, difference out[N_SIZES], size_t *n,
                                   dse_error *err)
{
    model_size sizes[N_SIZES];

    sizes_of(j, sizes);
    *n = 0;
    for (size_t i = 0; i < N_SIZES; i++) {
        const cfg_node *node = cfg_get(card->root, sizes[i].key);
        int64_t v = 0;
        dse_status st;

        if (!node && sizes[i].otherwise)
            node = cfg_get(card->root, sizes[i].otherwise);
        if (!node || !MSR_GIVEN(sizes[i].v))
            continue;
        if ((st = cfg_int(card, node, sizes[i].key, 0, INT64_MAX, &v, err)) != DSE_OK)
            return st;
        if (v != sizes[i].v)
            out[(*n)++] = (difference){sizes[i].key, sizes[i].v, v};
    }
    return DSE_OK;
}

/* Whether a source says of experts what a model of its own needs. */
static bool says_experts(const msr_job *j) { return j->experts > 1 && MSR_GIVEN(j->top_k); }

/* Whether a job's sizes make a model of its own, such as that of a card with fewer layers. */
static bool is_complete(const msr_job *j)
{
    return MSR_GIVEN(j->vocabulary) && MSR_GIVEN(j->layers) && MSR_GIVEN(j->d_model) && MSR_GIVEN(j->d_ff) &&
           MSR_GIVEN(j->heads);
}

/* Whether a job's sizes may stand in the card of its family, whose experts and attention stay: the source says
 * how many experts there are, or nothing differs but the number of layers. */
static bool may_resize(const msr_job *j, const cfg_doc *card, const difference *d, size_t n)
{
    return n && cfg_get(card->root, "experts") && (says_experts(j) || (n == 1 && !strcmp(d->key, "layers")));
}

static dse_status of_numbers(msr_plan *p, dse_arena *a, making *m, dse_error *err);

static dse_status of_card(msr_plan *p, const msr_plan_options *o, const char *family, dse_arena *a, making *m,
                          dse_error *err)
{
    const char *name = o->model ? o->model : family;
    difference d[N_SIZES];
    bool resizes;
    size_t n = 0;
    cfg_doc card;
    dse_status st = load_card(p, name, a, &card, err);

    if (st == DSE_OK && !o->model)
        st = find_differences(p->job, &card, d, &n, err);
    if (st != DSE_OK)
        return st;
    resizes = p->job->moe != 0 && may_resize(p->job, &card, d, n);
    if (n && is_complete(p->job) && !resizes) {
        msr_plan_assume(p, a, "the source's own sizes, which are not those of %s", p->model_name);
        return of_numbers(p, a, m, err);
    }
    if (n && !resizes)
        return dse_fail_at(err, DSE_E_CONFIG, p->job->where,
                           "%s is %" PRId64 ", but that of %s is %" PRId64
                           "; correct it, or give the model's card with --model",
                           d->key, d->of_job, p->model_name, d->of_card);
    begin(m, card.path, &card, a, &p->model);
    for (size_t i = 0; i < n; i++) {
        msr_plan_assume(p, a, "%s %" PRId64 ", where %s has %" PRId64, d[i].key, d[i].of_job, p->model_name,
                        d[i].of_card);
        put_int(m, d[i].key, d[i].of_job);
    }
    if (!o->model && MSR_GIVEN(p->job->vocabulary))
        put_int(m, "vocabulary", p->job->vocabulary);
    return DSE_OK;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* How far a width may be from four times the model's and still be it: norms and biases are counted, too. */
#define NEAR_FOUR_TIMES 0.01

/* From the parameters: embeddings + layers * (4 d^2 + 2 d d_ff). Not known unless that gives about 4 d, or a
 * whole number. */
static int64_t width_of_params(const msr_job *j)
{
    const double d = (double)j->d_model, layers = (double)j->layers;
    const double width = ((j->num_params - j->num_params_embedding) / layers - 4 * d * d) / (2 * d);

    if (!(width >= 1 && width < 1e15))
        return MSR_JOB_NONE;
    if (fabs(width / (4 * d) - 1) <= NEAR_FOUR_TIMES)
        return 4 * j->d_model;
    return width == floor(width) ? (int64_t)width : MSR_JOB_NONE;
}

static int64_t vocabulary_of_params(const msr_job *j)
{
    const double entries = j->num_params_embedding / (double)j->d_model;

    return entries >= 1 && entries < 1e15 && entries == floor(entries) ? (int64_t)entries : MSR_JOB_NONE;
}

/* Fills in what follows from the other numbers, and says so. */
static void derive_sizes(msr_plan *p, msr_job *j, dse_arena *a)
{
    if (!MSR_GIVEN(j->d_model) && MSR_GIVEN(j->heads) && MSR_GIVEN(j->head_dim)) {
        if (__builtin_mul_overflow(j->heads, j->head_dim, &j->d_model))
            j->d_model = MSR_JOB_NONE;
        else
            msr_plan_assume(p, a, "d_model %" PRId64 ": num_heads * head_dim", j->d_model);
    }
    if (!MSR_GIVEN(j->d_model))
        return;
    if (!MSR_GIVEN(j->vocabulary) && MSR_GIVEN(j->vocabulary = vocabulary_of_params(j)))
        msr_plan_assume(p, a, "vocabulary %" PRId64 ": num_params_embedding / d_model", j->vocabulary);
    if (!MSR_GIVEN(j->d_ff) && MSR_GIVEN(j->layers) && MSR_GIVEN(j->d_ff = width_of_params(j)))
        msr_plan_assume(p, a, "d_ff %" PRId64 ": what num_params leaves for it", j->d_ff);
}

/* Sizes do not say which operators they are of: a gate is Llama's, heads that share keys and values without
 * one Nemotron's. Where the source says neither, the model's name does, then the program's own models; else a
 * GPT, but a Llama where heads share keys and values. */
static void put_operators(msr_plan *p, const msr_job *j, making *m)
{
    static const char *const operators[] = {"gpt", "gpt", "llama", "nemotron"}, *const titles[] = {
                                                                                    "GPT", "GPT", "Llama",
                                                                                    "Nemotron"};
    const bool grouped = MSR_GIVEN(j->kv_heads) && j->kv_heads != j->heads;
    const msr_framework *program = msr_framework_find(j->framework);
    msr_built is = msr_built_of(j->family);
    const char *why = ", by the model's name";

    if (j->gated == 1 || (j->gated == 0 && is == MSR_BUILT_LLAMA) ||
        (j->gated == 0 && is == MSR_BUILT_UNKNOWN)) {
        is = j->gated ? MSR_BUILT_LLAMA : grouped ? MSR_BUILT_NEMOTRON : MSR_BUILT_GPT;
        why = j->gated ? ", which has a gated activation, too" : ", whose activation has no gate either";
    } else if (is == MSR_BUILT_UNKNOWN && program && program->is_llama) {
        is = MSR_BUILT_LLAMA;
        why = ", as the program builds its models";
    } else if (is == MSR_BUILT_UNKNOWN) {
        is = grouped ? MSR_BUILT_LLAMA : MSR_BUILT_GPT;
        why = ": the source gives sizes alone";
    }
    if (is == MSR_BUILT_GPT && grouped) /* a GPT's operators have as many keys as queries */
        is = MSR_BUILT_NEMOTRON;
    put(m, "operators", operators[is]);
    if (grouped)
        put_int(m, "kv_heads", j->kv_heads);
    if (MSR_GIVEN(j->head_dim) && j->head_dim * j->heads != j->d_model)
        put_int(m, "head_dim", j->head_dim);
    msr_plan_assume(p, m->arena, "the operators of a %s%s", titles[is], why);
}

/* Of any family with experts the decoder is general enough; what its sizes do not say is as most have it. */
static void put_experts(msr_plan *p, const msr_job *j, making *m)
{
    const model_size sizes[] = {{"experts", j->experts, NULL},
                                {"experts_per_token", j->top_k, NULL},
                                {"d_ff_expert", j->expert_d_ff, NULL},
                                {"d_ff_shared", j->shared_d_ff, NULL},
                                {"first_dense_layers", j->dense_layers, NULL},
                                {"kv_heads", j->kv_heads, NULL},
                                {"head_dim", j->head_dim, NULL}};

    put(m, "operators", "decoder");
    put(m, "gate", j->gated == 0 ? "false" : "true");
    for (size_t i = 0; i < DSE_COUNT(sizes); i++)
        if (MSR_GIVEN(sizes[i].v) && sizes[i].v)
            put_int(m, sizes[i].key, sizes[i].v);
    if (MSR_GIVEN(j->shared_d_ff) && j->shared_d_ff)
        put_int(m, "shared_experts", 1);
    msr_plan_assume(p, m->arena,
                    "a decoder with rotated positions, RMSNorm and experts %s a gate: the source gives sizes "
                    "alone",
                    j->gated == 0 ? "without" : "with");
}

static dse_status of_numbers(msr_plan *p, dse_arena *a, making *m, dse_error *err)
{
    msr_job job = *p->job;
    const struct {
        const char *key;
        const int64_t *v;
    } sizes[] = {{"vocabulary", &job.vocabulary},
                 {"d_model", &job.d_model},
                 {"d_ff", &job.d_ff},
                 {"heads", &job.heads},
                 {"layers", &job.layers}};

    derive_sizes(p, &job, a);
    for (size_t i = 0; i < DSE_COUNT(sizes); i++)
        if (!MSR_GIVEN(*sizes[i].v))
            return dse_fail_at(err, DSE_E_CONFIG, job.where,
                               "%s%.60s%s, and its %s is not known; give the model's card with --model",
                               job.family ? "the model '" : "the model is not named",
                               job.family ? job.family : "", job.family ? "' is none of ours" : "",
                               sizes[i].key);
    begin(m, job.where, NULL, a, &p->model);
    for (size_t i = 0; i < DSE_COUNT(sizes); i++)
        put_int(m, sizes[i].key, *sizes[i].v);
    if (job.moe != 0 && says_experts(&job))
        put_experts(p, &job, m);
    else
        put_operators(p, &job, m);
    /* Results are kept under the name. */
    p->model_name = job.family && *job.family && dse_is_printable(job.family)
                        ? job.family
                        : dse_arena_printf(a, "%" PRId64 "x%" PRId64, job.layers, job.d_model);
    return DSE_OK;
}

/* ---- what every model gets ----------------------------------------------------------------- */

/* Whether a program that was asked for 16 bits trains in 32, as no weights are sharded. */
static bool mixes_nothing(const msr_job *j)
{
    const msr_framework *program = msr_framework_find(j->framework);
    const bool is_sharded = MSR_GIVEN(j->zero_stage) ? j->zero_stage == 3 && j->dp > 1
                            : MSR_GIVEN(j->dp_shard) ? j->dp_shard > 1
                                                     : j->dp > 1;

    return program && program->mixes_sharded && (j->tp > 1 || j->pp > 1) && !is_sharded && j->cp <= 1;
}

static void put_precision(msr_plan *p, const msr_plan_options *o, making *m)
{
    const char *word = o->precision;

    if (!word && p->job->precision)
        word = msr_precision_word(p->job->precision);
    if (!word) {
        word = "mixed";
        if (!p->job->precision)
            msr_plan_assume(p, m->arena, "mixed precision, 16 and 32 bits: the source does not say");
    }
    if (!o->precision && !strcmp(word, "mixed") && mixes_nothing(p->job)) {
        word = "fp32";
        msr_plan_assume(p, m->arena, "32 bits, as %s mixes no precisions where no weights are sharded",
                        msr_framework_find(p->job->framework)->title);
    }
    put(m, "precision", word);
}

/* The first of the cards whose form is this, with points or without; NULL. */
static const char *card_of_form(const char *form, void (*form_of)(const char *text, char *out, size_t size),
                                const char *const *name, size_t n)
{
    char own[NAME_MAX_];

    for (size_t i = 0; i < n; i++) {
        form_of(name[i], own, sizeof own);
        if (!is_of_stage(name[i]) && !strcmp(own, form))
            return name[i];
    }
    return NULL;
}

/* The card of the family's name, however that is written; NULL if there is none. */
static dse_status find_family(const msr_job *j, dse_arena *a, const char **out, dse_error *err)
{
    const char **name, *folder;
    char form[NAME_MAX_];
    dse_status st;
    size_t n;

    *out = NULL;
    if (!j->family)
        return DSE_OK;
    if ((st = card_list(CARD_MODELS, a, &name, &n, &folder, err)) != DSE_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name[i], j->family))
            *out = name[i];
    bare_form(j->family, form);
    for (size_t i = 0; !*out && i < DSE_COUNT(families); i++)
        if (!strcmp(form, families[i].spelling))
            *out = families[i].card;
    if (!*out)
        *out = card_of_form(form, number_form, name, n);
    if (!*out) /* a name that writes no points: "llama_3_1_8b", "qwen25-7b" */
        *out = card_of_form(form, msr_normal_form, name, n);
    return DSE_OK;
}

/* ---- layers by stage ----------------------------------------------------------------------- */

/* The layers of a layout that predict further tokens, its letters m; step/layout.c counts what is
 * repeated. */
static int64_t count_mtp(const char *layout)
{
    int64_t n = 0;

    for (; *layout; layout++)
        n += *layout == 'm';
    return n;
}

/* Of what the recipes have; NULL: nothing for these degrees. */
static const char *layout_of_recipe(const msr_recipe_model *recipe, const msr_job *j, int64_t mtp_layers,
                                    dse_arena *a)
{
    const int64_t vp = MSR_GIVEN(j->interleaving) ? j->interleaving : 1;

    for (size_t i = 0; i < DSE_COUNT(recipe->layout) && recipe->layout[i].pp; i++)
        if (recipe->layout[i].pp == j->pp && recipe->layout[i].vp == vp)
            return dse_arena_printf(a, "%s%sL", recipe->layout[i].text, mtp_layers ? "m" : "");
    return NULL;
}

static int64_t choose_mtp(msr_plan *p, const msr_recipe_model *recipe, dse_arena *a)
{
    const msr_job *j = p->job;

    if (MSR_GIVEN(j->mtp_layers))
        return j->mtp_layers;
    if (j->layout)
        return count_mtp(j->layout);
    if (!recipe)
        return 0;
    msr_plan_assume(p, a,
                    "%" PRId64 " layer that predicts a further token, as the recipes of %s have: the source "
                    "does not say",
                    recipe->mtp_layers, msr_framework_find(j->framework)->title);
    return recipe->mtp_layers;
}

void msr_plan_stages(msr_plan *p, const card_model *m, dse_arena *a)
{
    const msr_job *j = p->job;
    const msr_framework *program = msr_framework_find(j->framework);
    const msr_recipe_model *recipe = msr_recipe_model_find(program, j->family, m->layers);
    const char *layout = j->pp > 1 ? j->layout : NULL;
    making to = {.map = p->model.root, .arena = a};
    step_model stages = {.n_layers = (uint32_t)m->layers};
    dse_error err = DSE_ERROR_INIT;
    int64_t mtp_layers;

    if (*m->pipeline_layout || m->mtp_layers) /* of the card or of a setting, which hold */
        return;
    mtp_layers = choose_mtp(p, recipe, a);
    stages.n_mtp = (uint32_t)mtp_layers;
    if (!layout && recipe && (layout = layout_of_recipe(recipe, j, mtp_layers, a)))
        msr_plan_assume(p, a, "layers by stage %s, as the recipes of %s have: the source does not say",
                        layout, program->title);
    if (layout && step_model_lay_out(&stages, layout, a, &err) != DSE_OK) {
        msr_plan_gap(p, MSR_GAP_REFUSED, a, "%s", err.text);
        return;
    }
    if (mtp_layers)
        put_int(&to, "mtp_layers", mtp_layers);
    if (layout)
        put(&to, "pipeline_layout", layout);
}

bool msr_plan_knows_experts(const msr_job *j, const msr_plan_options *o, dse_arena *a)
{
    const char *card = o->model;
    msr_plan scratch = {.job = j};
    cfg_doc doc;

    if (!card && says_experts(j) && is_complete(j) &&
        !(j->family && msr_name_has_latent_attention(j->family)))
        return true;
    return (card || find_family(j, a, &card, NULL) == DSE_OK) && card &&
           load_card(&scratch, card, a, &doc, NULL) == DSE_OK && cfg_get(doc.root, "experts");
}

dse_status msr_plan_model(msr_plan *p, const msr_plan_options *o, dse_arena *a, dse_error *err)
{
    const char *family;
    dse_status st = find_family(p->job, a, &family, err);
    making m;

    if (st != DSE_OK)
        return st;
    if (!o->model && !family && p->job->family && msr_name_is_hybrid(p->job->family))
        return dse_fail_at(
            err, DSE_E_CONFIG, p->job->where,
            "the model '%.60s' has layers that are no attention, and is none of ours; give the model's "
            "card with --model",
            p->job->family);
    st = o->model || family ? of_card(p, o, family, a, &m, err) : of_numbers(p, a, &m, err);
    if (st != DSE_OK)
        return st;
    if (MSR_GIVEN(p->job->tied) && !o->model)
        put(&m, "tied_embeddings", p->job->tied ? "true" : "false");
    put_int(&m, "batch", p->job->batch);
    put_int(&m, "sequence", p->job->sequence);
    put_precision(p, o, &m);
    return DSE_OK;
}
