/* What of a card can be fitted, and between which bounds. */
#include "base/names.h"
#include "measured/calibrate_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *key; /* of card_system_table */
    bool is_cost;
    double max, step; /* of a cost, in the row's unit, ns. step: what shows in spite of whole ns */
} row;

/* A rate lies between 1/MSR_CALIBRATE_LEAST of the card's and max_rate times it. A latency of a ms, a kernel
 * launch of 10 ms and 10 s of a step that no kernel explains are more than any machine has; a card that has
 * more may keep ten times that. */
static const row rows[] = {
    {.key = "compute.peak_perf"},
    {.key = "memory.bandwidth"},
    {.key = "network.bandwidth"},
    {.key = "network.latency", .is_cost = true, .max = 1e6, .step = 10},
    {.key = "overheads.per_kernel", .is_cost = true, .max = 1e7, .step = 10},
    {.key = "overheads.per_step", .is_cost = true, .max = 1e10, .step = 1000},
};
#define N_ROWS (sizeof rows / sizeof rows[0])

/* ---- values --------------------------------------------------------------------------------------- */

static void *field(card_system *s, const cfg_param *p) { return (char *)s + p->offset; }

double *calibrate_value(card_system *s, const calibrate_parameter *p)
{
    return p->is_list ? &((cfg_double_list *)field(s, p->param))->v[p->dim] : field(s, p->param);
}

void calibrate_give(card_system *s, const calibrate_parameter *p)
{
    s->given.rows |= (uint64_t)1 << (p->param - card_system_table.rows);
}

/* ---- which there are ------------------------------------------------------------------------------ */

/* The i-th of a row on this card; its value is NaN if the card gives none. */
static void list_one(card_system *s, const row *r, uint32_t i, dse_arena *a, calibrate_parameter *out)
{
    const cfg_param *p = cfg_param_find(&card_system_table, r->key);
    bool list;

    assert(p && (p->type == CFG_T_DOUBLE || p->type == CFG_T_DOUBLE_LIST));
    list = p->type == CFG_T_DOUBLE_LIST;
    *out = (calibrate_parameter){.param = p, .is_list = list, .dim = i};
    out->fit = (cmp_parameter){.unit = p->unit_name, .is_cost = r->is_cost, .max = r->max, .step = r->step};
    out->fit.name = list ? dse_arena_printf(a, "%s[%" PRIu32 "]", r->key, i) : r->key;
    out->card = *calibrate_value(s, out);
}

static uint32_t entries(card_system *s, const row *r)
{
    const cfg_param *p = cfg_param_find(&card_system_table, r->key);

    return p->type == CFG_T_DOUBLE_LIST ? ((const cfg_double_list *)field(s, p))->n : 1;
}

static calibrate_parameter *list_all(const card_system *machine, dse_arena *a, size_t *n)
{
    calibrate_parameter *all = DSE_ARENA_NEW(a, calibrate_parameter, CALIBRATE_MAX);
    card_system s = *machine;

    *n = 0;
    for (size_t k = 0; k < N_ROWS; k++)
        for (uint32_t i = 0; i < entries(&s, &rows[k]); i++) {
            assert(*n < CALIBRATE_MAX);
            list_one(&s, &rows[k], i, a, &all[(*n)++]);
        }
    return all;
}

/* The words for --fit and --fix, in the order of the table: "compute.peak_perf, memory.bandwidth, ...". */
static void add_names(const card_system *machine, dse_strbuf *out)
{
    card_system s = *machine;
    bool any = false;

    for (size_t k = 0; k < N_ROWS; k++)
        for (uint32_t i = 0, n = entries(&s, &rows[k]); i < n; i++) {
            bool list = cfg_param_find(&card_system_table, rows[k].key)->type == CFG_T_DOUBLE_LIST;

            dse_strbuf_addf(out, "%s%s", any ? ", " : "", rows[k].key);
            if (list)
                dse_strbuf_addf(out, "[%" PRIu32 "]", i);
            any = true;
        }
}

/* ---- which are fitted ----------------------------------------------------------------------------- */

static bool names(const char *const *word, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (cfg_path_covers(word[i], name))
            return true;
    return false;
}

static dse_status check_words(const char *option, const char *const *word, size_t n_words,
                              const card_system *machine, const calibrate_parameter *all, size_t n,
                              dse_error *err)
{
    dse_strbuf known;
    dse_status st = DSE_OK;

    dse_strbuf_init(&known);
    for (size_t i = 0; st == DSE_OK && i < n_words; i++) {
        bool found = false;

        for (size_t j = 0; j < n; j++)
            found |= cfg_path_covers(word[i], all[j].fit.name);
        if (found)
            continue;
        add_names(machine, &known);
        st = dse_fail(err, DSE_E_USAGE, "%s: '%.80s' is nothing that can be fitted; known: %s", option,
                      word[i], known.data);
    }
    dse_strbuf_free(&known);
    return st;
}

static double known_start(const msr_calibrate_options *o, const calibrate_parameter *p)
{
    for (size_t i = 0; i < o->n_starts_known; i++)
        if (!strcmp(o->start_known[i].name, p->fit.name))
            return o->start_known[i].value;
    return p->card;
}

static void set_bounds(const msr_calibrate_options *o, calibrate_parameter *p)
{
    cmp_parameter *q = &p->fit;

    if (q->is_cost) {
        q->max = fmax(q->max, 10 * p->card);
    } else {
        q->min = p->card / MSR_CALIBRATE_LEAST;
        q->max = p->card * o->max_rate;
    }
    q->start = fmin(fmax(known_start(o, p), q->min), q->max);
}

dse_status calibrate_parameters(const card_system *machine, const msr_calibrate_options *o, dse_arena *a,
                                calibrate_parameter **out, size_t *n, dse_error *err)
{
    size_t n_all, kept = 0;
    calibrate_parameter *all = list_all(machine, a, &n_all);
    dse_status st;

    if ((st = check_words("--fit", o->fit, o->n_fit, machine, all, n_all, err)) != DSE_OK ||
        (st = check_words("--fix", o->fix, o->n_fix, machine, all, n_all, err)) != DSE_OK)
        return st;
    for (size_t j = 0; j < n_all; j++) {
        bool asked = names(o->fit, o->n_fit, all[j].fit.name);

        if ((o->n_fit && !asked) || names(o->fix, o->n_fix, all[j].fit.name))
            continue;
        if (isnan(all[j].card) && asked)
            return dse_fail(err, DSE_E_CONFIG,
                            "--fit: the system has no %s to begin with; set it, or leave it out",
                            all[j].fit.name);
        if (isnan(all[j].card))
            continue;
        set_bounds(o, &all[j]);
        all[kept++] = all[j];
    }
    *out = all;
    *n = kept;
    return kept ? DSE_OK : dse_fail(err, DSE_E_USAGE, "--fix leaves nothing to fit");
}
