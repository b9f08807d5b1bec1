/* Hugging Face configs of published models against what transformers counts of them: parameters by group, those active for a
 * token, operations of a forward pass, and what inference keeps of a token, to the digit. A model with layers of linear attention
 * must be refused, and no other. And the operations of training that programs count (driver/mfu.h), as their own functions
 * returned them.
 *
 *   run_models FOLDER     with models.jsonl and train_flops.jsonl, a model a line; 77 if they are not there */
#include "base/alloc.h"
#include "base/fs.h"
#include "cards/hf.h"
#include "driver/count.h"
#include "driver/mfu.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const cfg_node *map, const char *key)
{
    const cfg_node *value = cfg_get(map, key);

    return value && value->kind == CFG_SCALAR ? value->text : "";
}

static uint64_t number_of(const cfg_node *map, const char *key)
{
    return strtoull(text_of(map, key), NULL, 10);
}

static bool differs(const char *model, const char *what, uint64_t seen, uint64_t expected)
{
    if (seen == expected)
        return false;
    printf("%s: %s %" PRIu64 ", not %" PRIu64 "\n", model, what, seen, expected);
    return true;
}

static bool check_parameters(const char *id, const step_count *c, const cfg_node *params)
{
    static const char *const name[STEP_N_COUNTS] = {
        [STEP_COUNT_EMBEDDING] = "embedding", [STEP_COUNT_POSITIONS] = "position_embedding",
        [STEP_COUNT_ATTENTION] = "attention", [STEP_COUNT_FEED_FORWARD] = "dense_mlp",
        [STEP_COUNT_NORMS] = "norms",         [STEP_COUNT_HEAD] = "head",
        [STEP_COUNT_OTHER] = "other",         [STEP_COUNT_EXPERTS] = "experts",
        [STEP_COUNT_ROUTER] = "router",       [STEP_COUNT_SHARED_EXPERTS] = "shared_experts"};
    const cfg_node *groups = cfg_get(params, "by_group");
    bool wrong = differs(id, "parameters", c->total, number_of(params, "total"));

    wrong |= differs(id, "active parameters", c->active, number_of(params, "active_per_token"));

    for (int i = 0; i < STEP_N_COUNTS; i++)
        wrong |= differs(id, name[i], c->parameters[i], number_of(groups, name[i]));
    return wrong;
}

static bool check_operations(const char *id, const step_count *c, const char *sequence, const cfg_node *flops)
{
    const cfg_node *terms = cfg_get(flops, "linear_terms_per_token");
    const cfg_node *at = cfg_get(cfg_get(cfg_get(flops, "by_sequence"), sequence), "causal");
    const uint64_t attention = c->operations[STEP_COUNT_ATTENTION];
    uint64_t linear = 0;
    bool wrong = differs(id, "lm_head", c->operations[STEP_COUNT_HEAD], number_of(terms, "lm_head"));

    wrong |= differs(id, "q_proj", c->queries, number_of(terms, "q_proj"));
    wrong |= differs(id, "kv_proj", c->keys, number_of(terms, "kv_proj"));
    wrong |= differs(id, "out_proj", attention - c->queries - c->keys, number_of(terms, "out_proj"));
    wrong |= differs(id, "dense_mlp", c->operations[STEP_COUNT_FEED_FORWARD], number_of(terms, "dense_mlp"));
    wrong |= differs(id, "other", c->operations[STEP_COUNT_OTHER], number_of(terms, "other"));
    wrong |= differs(id, "experts", c->operations[STEP_COUNT_EXPERTS], number_of(terms, "experts"));
    wrong |= differs(id, "shared_experts", c->operations[STEP_COUNT_SHARED_EXPERTS], number_of(terms, "shared_experts"));
    wrong |= differs(id, "router", c->operations[STEP_COUNT_ROUTER], number_of(terms, "router"));
    for (int i = 0; i < STEP_N_COUNTS; i++)
        linear += c->operations[i];
    wrong |= differs(id, "scores", c->scores, number_of(at, "scores_per_sequence"));
    wrong |= differs(id, "values", c->values, number_of(at, "values_per_sequence"));
    return wrong |
           differs(id, "operations of a sequence", linear * strtoull(sequence, NULL, 10) + c->scores + c->values,
                   number_of(at, "total_per_sequence"));
}

/* Elements of 2 bytes. */
static bool check_cache(const char *id, const step_count *c, const cfg_node *cache)
{
    bool wrong = differs(id, "cache", 2 * (c->cached + c->cached_in_window),
                         number_of(cache, "per_token_all_softmax_layers"));

    wrong |= differs(id, "cache of full layers", 2 * c->cached, number_of(cache, "per_token_full_layers"));
    return wrong;
}

typedef enum { EQUAL, REFUSED, DIFFERENT } outcome;

/* One line. The config is read as it was translated; as it was found, too, where that is one of transformers. */
static outcome check_model(const cfg_node *row, const char *key, dse_arena *a)
{
    static const char *const sequence[] = {"1", "2048", "8192"};
    const cfg_node *config = cfg_get(row, key), *params = cfg_get(row, "params");
    const cfg_doc doc = {text_of(row, "id"), (cfg_node *)config};
    const char *id = doc.path;
    const cfg_node *linear = cfg_get(cfg_get(row, "shape"), "linear_attention");
    const bool is_softmax = !linear || linear->kind != CFG_MAP;
    bool wrong = false;

    for (int i = 0; i < 3; i++) {
        dse_error err = DSE_ERROR_INIT;
        cfg_doc card;
        step_count c;

        if (card_hf_card(&doc, a, &card, NULL, &err) != DSE_OK ||
            drv_model_count(&card, strtoll(sequence[i], NULL, 10), a, &c, &err) != DSE_OK) {
            if (!i)
                printf("refused: %s\n", err.text);
            return is_softmax ? DIFFERENT : REFUSED;
        }
        wrong |= !i && check_parameters(id, &c, params);
        wrong |= !i && check_cache(id, &c, cfg_get(row, "kv_cache_bytes"));
        wrong |= check_operations(id, &c, sequence[i], cfg_get(row, "forward_flops"));
    }
    if (!is_softmax)
        printf("%s: taken for a model without linear attention\n", id);
    return wrong || !is_softmax ? DIFFERENT : EQUAL;
}

/* ---- operations that programs count ----------------------------------------------------------------- */

static const struct {
    const char *recorded, *word;
    uint32_t tp;
} programs[] = {{"megatron_lm", "megatron", 1},
                {"megatron_lm_padded_tp8", "megatron", 8},
                {"megatron_bridge", "bridge", 1},
                {"torchtitan", "torchtitan", 1},
                {"palm_active_params", "palm", 1},
                {"palm_total_params", "palm", 1}, /* of models without experts */
                {"nemo:gpt3", "nemo:gpt3", 1},
                {"nemo:llama2", "nemo:llama2", 1},
                {"nemo:llama3", "nemo:llama3", 1},
                {"nemo:nemotron", "nemo:nemotron", 1},
                {"nemo:mixtral", "nemo:mixtral", 1},
                {"nemo:qwen3", "nemo:qwen3", 1},
                {"nemo:deepseekv3", "nemo:deepseekv3", 1},
                {"nemo:gpt_oss", "nemo:gpt_oss", 1},
                {"nemo:transformer", "nemo:transformer", 1}};

/* Their functions multiply doubles in other orders than ours. */
static bool equal(double a, double b) { return fabs(a - b) <= 4e-16 * fabs(b); }

/* dbrx says no width of a layer without experts, and has none: NeMo takes 4 times the hidden size then. */
static bool is_left_out(const char *id, const char *recorded, const card_model *m)
{
    return (m->experts && !strcmp(recorded, "palm_total_params")) ||
           (!strcmp(id, "dbrx") && !strcmp(recorded, "nemo:transformer"));
}

/* Of NeMo's formulas also which one the name of the model stands for. */
static bool check_program(const char *id, size_t program, card_model *m, const step_model *s,
                          const cfg_node *recorded, uint32_t *n)
{
    const char *name = programs[program].recorded;
    const drv_mfu *f = drv_mfu_find(programs[program].word), *own;
    const double expected = strtod(text_of(recorded, "flops_per_sequence"), NULL);
    const double seen = drv_mfu_operations(f, m, s, programs[program].tp);

    *n += 1;
    snprintf(m->mfu_like, sizeof m->mfu_like, "%s", strncmp(name, "nemo", 4) != 0 ? programs[program].word : "nemo");
    own = drv_mfu_of(m, id);
    if (own != f)
        printf("%s: %s is taken for %s\n", id, name, drv_mfu_say(own));
    if (!equal(seen, expected))
        printf("%s: %s of %" PRIu64 " tokens %.17g, not %.17g\n", id, name, s->sequence, seen, expected);
    return own == f && equal(seen, expected);
}

/* The row of `flops` for a model that is read. Counts the values that are compared. */
static bool check_programs(const cfg_node *row, const cfg_node *flops, dse_arena *a, uint32_t *n)
{
    static const char *const sequence[] = {"2048", "4096", "8192"};
    const char *id = text_of(row, "id");
    const cfg_doc doc = {id, (cfg_node *)cfg_get(row, "config_used")};
    bool right = true;

    for (int i = 0; i < 3; i++) {
        dse_error err = DSE_ERROR_INIT;
        cfg_doc card;
        card_model m;
        step_model s;

        if (card_hf_card(&doc, a, &card, NULL, &err) != DSE_OK ||
            drv_model_of(&card, strtoll(sequence[i], NULL, 10), a, &m, &s, &err) != DSE_OK) {
            printf("%s: %s\n", id, err.text);
            return false;
        }
        for (size_t p = 0; p < sizeof programs / sizeof programs[0]; p++) {
            const cfg_node *at = cfg_get(cfg_get(flops, "programs"), programs[p].recorded);

            if (at && !is_left_out(id, programs[p].recorded, &m))
                right &= check_program(id, p, &m, &s, cfg_get(at, sequence[i]), n);
        }
    }
    return right;
}

/* The row of a model in a text of rows; NULL. */
static const cfg_node *find_row(char *text, const char *id, dse_arena *a)
{
    char key[160];

    snprintf(key, sizeof key, "\"id\": \"%s\",", id);
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *at = strstr(line, key);
        dse_error err = DSE_ERROR_INIT;
        cfg_doc row;

        if (at && at < end)
            return cfg_parse_json("train_flops.jsonl", line, (size_t)(end - line), a, &row, &err) == DSE_OK
                       ? row.root
                       : NULL;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint32_t n[3] = {0}, n_found[3] = {0}, n_values = 0;
    bool programs_differ = false;
    dse_strbuf text, flops;
    dse_arena a = {0};
    dse_error err = DSE_ERROR_INIT;
    char path[4096];

    if (argc != 2)
        return 2;
    dse_strbuf_init(&text);
    dse_strbuf_init(&flops);
    snprintf(path, sizeof path, "%s/models.jsonl", argv[1]);
    if (dse_read_file(path, 64u << 20, &text, &err) != DSE_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    snprintf(path, sizeof path, "%s/train_flops.jsonl", argv[1]);
    if (dse_read_file(path, 64u << 20, &flops, &err) != DSE_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        cfg_doc row;
        const cfg_node *counted;
        const char *format;

        if (cfg_parse_json("models.jsonl", line, (size_t)(end - line), &a, &row, &err) != DSE_OK) {
            printf("%s\n", err.text);
            return 1;
        }
        format = text_of(cfg_get(row.root, "source"), "format");
        n[check_model(row.root, "config_used", &a)]++;
        if (!strncmp(format, "hf config", 9) && cfg_get(cfg_get(row.root, "config_as_found"), "model_type"))
            n_found[check_model(row.root, "config_as_found", &a)]++;
        if ((counted = find_row(flops.data, text_of(row.root, "id"), &a)))
            programs_differ |= !check_programs(row.root, counted, &a, &n_values);
        dse_arena_reset(&a);
    }
    printf("%" PRIu32 " models: %" PRIu32 " equal, %" PRIu32 " refused, %" PRIu32 " different\n",
           n[0] + n[1] + n[2], n[EQUAL], n[REFUSED], n[DIFFERENT]);
    printf("configs as found: %" PRIu32 " equal, %" PRIu32 " refused, %" PRIu32 " different\n",
           n_found[EQUAL], n_found[REFUSED], n_found[DIFFERENT]);
    printf("operations of training as programs count them: %" PRIu32 " values, %s\n", n_values,
           programs_differ ? "some differ" : "equal");
    dse_strbuf_free(&text);
    dse_strbuf_free(&flops);
    dse_arena_free(&a);
    return n[DIFFERENT] || n_found[DIFFERENT] || programs_differ ? 1 : 0;
}
