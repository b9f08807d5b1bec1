/* Layers by stage, as a user writes them down. Three spellings, of which the first character tells which:
 *
 *   7,8x6,5                 numbers of layers; 8x6 are six stages of eight
 *   layers.7,layers.15      the layers with which stages begin, but for the first (torchtitan's split points)
 *   Et*7|(t*8|)*6,t*5L      Megatron-LM's --pipeline-model-parallel-layout (transformer/
 *                           pipeline_parallel_layer_layout.py): E the embedding, t a layer, m one that
 *                           predicts a further token, L the head, | between stages, *n times, () a group
 *
 * The embedding is in the first stage, the head and all m in the last: elsewhere they are refused. How many
 * layers of each stage are made again has the first spelling. */
#include "base/strbuf.h"
#include "step/model.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define MOST_STAGES  65536u
#define MOST_LETTERS (1u << 20)

typedef struct {
    const step_model *model;
    const char *key, *text;
    dse_arena *arena;
    dse_error *err;
    uint32_t n, *layers; /* by stage */
    size_t cap;
    uint64_t n_mtp; /* letters m */
} layout;

static dse_status refuse(const layout *l, const char *why)
{
    return dse_fail(l->err, DSE_E_CONFIG, "%s '%s': %s", l->key, l->text, why);
}

static dse_status add_stages(layout *l, uint64_t n_layers, uint64_t times)
{
    if (n_layers > l->model->n_layers || times > MOST_STAGES || l->n + times > MOST_STAGES)
        return refuse(l, "more layers or stages than there can be");
    for (; times; times--) {
        DSE_ARENA_GROW(l->arena, l->layers, l->cap, l->n + 1);
        l->layers[l->n++] = (uint32_t)n_layers;
    }
    return DSE_OK;
}

/* A number at *at, behind which *at then stands; 0: there is none, or it is too large. */
static uint64_t take_number(const char **at)
{
    uint64_t n = 0;

    while (isdigit((unsigned char)**at) && n < MOST_LETTERS)
        n = 10 * n + (uint64_t)(*(*at)++ - '0');
    return isdigit((unsigned char)**at) ? 0 : n;
}

static dse_status read_numbers(layout *l)
{
    for (const char *at = l->text;; at++) {
        const bool is_number = isdigit((unsigned char)*at);
        const uint64_t n = take_number(&at);
        uint64_t times = 1;
        dse_status st;

        if (*at == 'x') {
            at++;
            times = take_number(&at);
        }
        if (!is_number || !times || (*at && *at != ','))
            return refuse(l, "numbers of layers by stage are expected, as 7,8x6,5");
        if ((st = add_stages(l, n, times)) != DSE_OK || !*at)
            return st;
    }
}

#define POINT "layers."

static dse_status read_points(layout *l)
{
    uint64_t before = 0;
    dse_status st;

    for (const char *at = l->text;; at++) {
        uint64_t n = 0;

        if (!strncmp(at, POINT, strlen(POINT))) {
            at += strlen(POINT);
            n = take_number(&at);
        }
        if (n <= before || n >= l->model->n_layers || (*at && *at != ','))
            return refuse(l, "the first layers of the stages behind the first are expected, rising, as "
                             "layers.7,layers.15");
        if ((st = add_stages(l, n - before, 1)) != DSE_OK)
            return st;
        before = n;
        if (!*at)
            return add_stages(l, l->model->n_layers - before, 1);
    }
}

/* Letters without groups and times, up to the end or a bracket that closes. False: that is no layout. */
static bool expand(const char **at, int depth, dse_strbuf *out)
{
    for (; **at && **at != ')';) {
        const size_t from = out->len;
        size_t n;
        uint64_t times = 1;

        if (**at == ',') {
            (*at)++;
            continue;
        }
        if (**at == '(') {
            (*at)++;
            if (depth > 8 || !expand(at, depth + 1, out) || **at != ')')
                return false;
        } else if (strchr("EtmL|", **at)) {
            dse_strbuf_addc(out, **at);
        } else {
            return false;
        }
        (*at)++;
        if (**at == '*') {
            (*at)++;
            if (!(times = take_number(at)))
                return false;
        }
        n = out->len - from;
        if (n * times > MOST_LETTERS || out->len > MOST_LETTERS)
            return false;
        for (; times > 1; times--)
            for (size_t i = 0; i < n; i++)
                dse_strbuf_addc(out, out->data[from + i]);
    }
    return true;
}

static dse_status read_letters(layout *l)
{
    dse_strbuf letters = dse_strbuf_in(l->arena);
    const char *at = l->text, *last;
    uint64_t n = 0;
    dse_status st = DSE_OK;

    dse_strbuf_adds(&letters, "");
    if (!expand(&at, 0, &letters) || *at)
        return refuse(l, "E, t, m, L and | are expected, with *n and groups in brackets, as Et*3|(tt|)*6,tL");
    if (*letters.data != 'E' || letters.data[letters.len - 1] != 'L' || strchr(letters.data + 1, 'E') ||
        strchr(letters.data, 'L') != letters.data + letters.len - 1)
        return refuse(l, "E begins the first stage, and L ends the last; both are there once");
    last = strrchr(letters.data, '|');
    for (const char *c = letters.data; *c && st == DSE_OK; c++) {
        l->n_mtp += *c == 'm';
        if (*c == 'm' && (c < last || c[1] == 't'))
            return refuse(l, "layers that predict further tokens (m) are simulated in the last stage alone, "
                             "behind its others");
        n += *c == 't';
        if (*c == '|' || *c == 'L') {
            st = add_stages(l, n, 1);
            n = 0;
        }
    }
    return st;
}

static dse_status check(const layout *l)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        sum += l->layers[i];
        if (!l->layers[i] && i && i + 1 < l->n)
            return refuse(l, "a stage between the first and the last has no layer");
    }
    if (sum != l->model->n_layers)
        return dse_fail(l->err, DSE_E_CONFIG,
                        "pipeline_layout '%s': %" PRIu64 " layers in %" PRIu32
                        " stages, but the model has %" PRIu32 "; the stages' layers must add up to these",
                        l->text, sum, l->n, l->model->n_layers);
    if (l->n_mtp && l->n_mtp != l->model->n_mtp)
        return dse_fail(l->err, DSE_E_CONFIG,
                        "pipeline_layout '%s': %" PRIu64 " m, but %" PRIu32
                        " layers predict further tokens; say so with --mtp",
                        l->text, l->n_mtp, l->model->n_mtp);
    return DSE_OK;
}

dse_status step_model_lay_out(step_model *m, const char *text, dse_arena *a, dse_error *err)
{
    layout l = {.key = "pipeline_layout", .model = m, .text = text, .arena = a, .err = err};
    dse_status st;

    if (isdigit((unsigned char)*text))
        st = read_numbers(&l);
    else
        st = strncmp(text, POINT, strlen(POINT)) ? read_letters(&l) : read_points(&l);
    if (st != DSE_OK || (st = check(&l)) != DSE_OK)
        return st;
    m->n_laid_out = l.n;
    m->laid_out = l.layers;
    return DSE_OK;
}

dse_status step_model_recompute(step_model *m, const char *text, dse_arena *a, dse_error *err)
{
    layout l = {.key = "recompute_layout", .model = m, .text = text, .arena = a, .err = err};
    const dse_status st = read_numbers(&l);

    if (st == DSE_OK) {
        m->n_recomputed = l.n;
        m->recomputed = l.layers;
    }
    return st;
}
