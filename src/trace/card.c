/* Workload cards: one table of their keys, and the checks between them. */
#include "trace/card.h"

#include "base/array.h"
#include "base/names.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

typedef enum {
    CARD_TEXT,
    CARD_INT,    /* at least `min` */
    CARD_SWEEP,  /* the same, or a list of what was tried: none, unless it has one item */
    CARD_NUMBER, /* not negative */
    CARD_BOOL,
    CARD_PHASE,
    CARD_TEXTS,  /* a list */
    CARD_PAIR,   /* a list of two numbers */
    CARD_MAP,    /* names and texts */
    CARD_IGNORED /* known, but not used here */
} card_type;

typedef struct {
    const char *path; /* dotted */
    card_type type;
    size_t offset;
    int64_t min;
    const char *const *words; /* allowed values, NULL-terminated; NULL: any */
} card_row;

static const char *const granularities[] = {"model_fwd_bwd_pass", "model_fwd", "layer", "kernel", NULL};
static const char *const xpu_types[] = {"GPU", "TPU", NULL};

#define AT(field) offsetof(trace_card, field)
#define CHECKED   SIZE_MAX /* of a row that nothing reads: only whether its value may stand in a card */

/* Source: the card's fields, spec of the metrics, section 7. */
static const card_row rows[] = {
    {"version", CARD_INT, AT(version), 1, NULL},
    {"description", CARD_TEXT, CHECKED, 0, NULL},
    {"hf_url", CARD_TEXT, CHECKED, 0, NULL},
    {"trace_url", CARD_TEXT, CHECKED, 0, NULL},
    {"contributor", CARD_TEXT, CHECKED, 0, NULL},
    {"contact", CARD_TEXT, CHECKED, 0, NULL},
    {"workload.model.phase", CARD_PHASE, AT(phase), 0, NULL},
    {"workload.model.moe", CARD_BOOL, AT(moe), 0, NULL},
    {"workload.model.granularity", CARD_TEXT, AT(granularity), 0, granularities},
    {"workload.model.model_family", CARD_TEXT, AT(model_family), 0, NULL},
    {"workload.model.precision", CARD_TEXT, AT(precision), 0, NULL},
    {"workload.model.epochs", CARD_INT, CHECKED, 0, NULL},
    {"workload.model.iteration", CARD_INT, AT(iteration), 0, NULL},
    {"workload.model.model_arch.num_params", CARD_NUMBER, AT(num_params), 0, NULL},
    {"workload.model.model_arch.num_params_embedding", CARD_NUMBER, AT(num_params_embedding), 0, NULL},
    {"workload.model.model_arch.num_params_active", CARD_NUMBER, AT(num_params_active), 0, NULL},
    {"workload.model.model_arch.num_layers", CARD_INT, AT(num_layers), 1, NULL},
    {"workload.model.model_arch.num_heads", CARD_INT, AT(num_heads), 1, NULL},
    {"workload.model.model_arch.head_dim", CARD_INT, AT(head_dim), 1, NULL},
    {"workload.data.batch_size", CARD_SWEEP, AT(batch_size), 1, NULL},
    {"workload.data.seq_len", CARD_INT, AT(seq_len), 1, NULL},
    {"workload.data.input_len", CARD_INT, AT(input_len), 0, NULL},
    {"workload.data.output_len", CARD_INT, AT(output_len), 0, NULL},
    {"workload.data.dataset", CARD_TEXT, CHECKED, 0, NULL},
    {"workload.hardware.network_topo.topology", CARD_TEXT, CHECKED, 0, NULL},
    {"workload.hardware.network_topo.bandwidth_gbps", CARD_PAIR, AT(bandwidth_gbps), 0, NULL},
    {"workload.hardware.xpu_spec.type", CARD_TEXT, CHECKED, 0, xpu_types},
    {"workload.hardware.xpu_spec.model", CARD_TEXT, AT(xpu_model), 0, NULL},
    {"workload.hardware.xpu_spec.total_count", CARD_INT, AT(total_count), 1, NULL},
    {"workload.hardware.xpu_spec.count_per_node", CARD_INT, AT(count_per_node), 1, NULL},
    {"workload.hardware.driver_version", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.framework.name", CARD_TEXT, AT(framework), 0, NULL},
    {"Model-executor.framework.version", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.framework.compiler_tool_selection", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.framework.run_script", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.framework.trace_dir", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.model_plan_parallelization.dp_replicate", CARD_INT, AT(dp_replicate), 1, NULL},
    {"Model-executor.model_plan_parallelization.dp_shard", CARD_INT, AT(dp_shard), 1, NULL},
    {"Model-executor.model_plan_parallelization.tp", CARD_INT, AT(tp), 1, NULL},
    {"Model-executor.model_plan_parallelization.pp", CARD_INT, AT(pp), 1, NULL},
    {"Model-executor.model_plan_parallelization.cp", CARD_INT, AT(cp), 1, NULL},
    {"Model-executor.model_plan_parallelization.ep", CARD_INT, AT(ep), 1, NULL},
    {"Model-executor.model_plan_parallelization.pp_mb", CARD_INT, AT(pp_mb), 1, NULL},
    {"Model-executor.model_plan_parallelization.rank_order", CARD_TEXT, AT(rank_order), 0, NULL},
    {"Model-executor.communication_library.name", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.communication_library.version", CARD_TEXT, CHECKED, 0, NULL},
    {"Model-executor.communication_library.env", CARD_MAP, CHECKED, 0, NULL},
    {"Model-executor.protocol_selection", CARD_TEXTS, CHECKED, 0, NULL},
    {"metric_source.traces", CARD_TEXTS, AT(trace), 0, NULL},
    {"metric_source.metrics_specific_trace", CARD_TEXTS, CHECKED, 0, NULL},
    {"runs", CARD_IGNORED, CHECKED, 0, NULL}, /* the search tool's history */
};
#define N_ROWS DSE_COUNT(rows)

/* Some cards put a section under another one, or leave a level out. */
static const struct {
    const char *seen, *meant;
} moved[] = {{"workload.Model-executor.", "Model-executor."},
             {"workload.model.num_", "workload.model.model_arch.num_"},
             {"workload.model.head_dim", "workload.model.model_arch.head_dim"}};

static void clear(trace_card *c)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < N_ROWS; i++) {
        char *at;

        if (rows[i].offset == CHECKED)
            continue;
        at = (char *)c + rows[i].offset;
        if (rows[i].type == CARD_INT || rows[i].type == CARD_SWEEP || rows[i].type == CARD_BOOL)
            *(int64_t *)(void *)at = TRACE_CARD_NONE;
        else if (rows[i].type == CARD_NUMBER)
            *(double *)(void *)at = NAN;
    }
    c->bandwidth_gbps[0] = c->bandwidth_gbps[1] = NAN;
}

/* ---- one value ------------------------------------------------------------------------------- */

typedef struct {
    const cfg_doc *doc;
    dse_arena *arena;
    trace_card *card;
    trace_record *notes;
    bool set[N_ROWS];
} card_reading;

static bool is_null(const cfg_node *v)
{
    return v->kind == CFG_SCALAR && !v->quoted &&
           (!v->text[0] || strcmp(v->text, "~") == 0 || strcasecmp(v->text, "null") == 0);
}

/* Words that cards have in the place of a number. */
static bool is_unknown(const cfg_node *v)
{
    static const char *const words[] = {"", "n/a", "na", "none", "tbd", "unknown"};

    for (size_t i = 0; v->kind == CFG_SCALAR && i < DSE_COUNT(words); i++)
        if (strcasecmp(v->text, words[i]) == 0)
            return true;
    return is_null(v);
}

static dse_status wrong(const card_reading *r, const cfg_node *v, const char *path, const char *must,
                        dse_error *err)
{
    return cfg_fail(err, r->doc, v, "%s must be %s, not %s", path, must, cfg_seen(v).text);
}

static dse_status set_text(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    char known[200];
    size_t n = 0;

    if (v->kind != CFG_SCALAR)
        return wrong(r, v, row->path, "a text", err);
    *(const char **)at = v->text;
    if (!row->words || !v->text[0])
        return DSE_OK;
    for (; row->words[n]; n++)
        if (strcmp(row->words[n], v->text) == 0)
            return DSE_OK;
    dse_join(known, sizeof known, row->words, n);
    trace_warn(r->notes, cfg_at(r->doc, v).text, "%s is '%s'; it is one of %s", row->path, v->text, known);
    return DSE_OK;
}

static dse_status set_int(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    int64_t *out = at;

    if (is_unknown(v))
        return DSE_OK;
    return cfg_int(r->doc, v, row->path, row->min, INT64_MAX, out, err);
}

/* Cards of serving have a list: one trace for all of the batches, or one for each. No metric of the original
 * tools has a value then; those that need no batch are as they are. */
static dse_status set_sweep(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    int64_t unused;
    dse_status st = DSE_OK;

    if (v->kind != CFG_LIST)
        return set_int(r, row, v, at, err);
    r->card->batch_is_listed = true;
    for (uint32_t i = 0; st == DSE_OK && i < v->n; i++)
        st = set_int(r, row, v->item[i], v->n == 1 ? at : &unused, err);
    if (st == DSE_OK && v->n > 1)
        trace_warn(r->notes, cfg_at(r->doc, v).text,
                   "%s is a list of %" PRIu32 ": the card does not say which of them a trace has, so what "
                   "needs it is absent",
                   row->path, v->n);
    return st;
}

static dse_status number(card_reading *r, const char *path, const cfg_node *v, double *out, dse_error *err)
{
    double d;

    if (is_unknown(v))
        return DSE_OK;
    if (v->kind != CFG_SCALAR || v->quoted || dse_parse_double(v->text, &d, NULL) != DSE_OK || !isfinite(d))
        return wrong(r, v, path, "a number", err);
    if (d < 0)
        return dse_fail_at(err, DSE_E_RANGE, cfg_at(r->doc, v).text, "%s is %g; it cannot be negative", path,
                           d);
    *out = d;
    return DSE_OK;
}

static dse_status set_number(card_reading *r, const card_row *row, const cfg_node *v, void *at,
                             dse_error *err)
{
    return number(r, row->path, v, at, err);
}

static dse_status set_bool(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    bool b;

    if (is_unknown(v))
        return DSE_OK;
    if (v->kind != CFG_SCALAR || v->quoted || dse_parse_bool(v->text, &b, NULL) != DSE_OK)
        return wrong(r, v, row->path, "true or false", err);
    *(int64_t *)at = b;
    return DSE_OK;
}

bool trace_phase_of(const char *word, trace_phase *out)
{
    static const struct {
        const char *word;
        trace_phase phase;
    } phases[] = {{"training", TRACE_PHASE_TRAINING},
                  {"inference", TRACE_PHASE_INFERENCE},
                  {"serving", TRACE_PHASE_INFERENCE}};

    for (size_t i = 0; i < DSE_COUNT(phases); i++)
        if (strcasecmp(word, phases[i].word) == 0) {
            *out = phases[i].phase;
            return true;
        }
    return false;
}

static dse_status set_phase(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    return v->kind == CFG_SCALAR && trace_phase_of(v->text, at)
               ? DSE_OK
               : wrong(r, v, row->path, TRACE_PHASE_WORDS, err);
}

/* The count stands before the list in the struct. */
static dse_status set_texts(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    size_t *n = (size_t *)(void *)((char *)at - sizeof *n);
    const char **text = DSE_ARENA_NEW(r->arena, const char *, v->n);

    _Static_assert(AT(trace) == AT(n_traces) + sizeof(size_t), "its count is before it");
    if (v->kind == CFG_SCALAR && !v->text[0])
        return DSE_OK;
    if (v->kind != CFG_LIST)
        return wrong(r, v, row->path, "a list", err);
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->item[i]->kind != CFG_SCALAR)
            return wrong(r, v->item[i], row->path, "a list of texts", err);
        if (!is_null(v->item[i]))
            text[(*n)++] = v->item[i]->text;
    }
    *(const char ***)at = text;
    return DSE_OK;
}

static dse_status set_pair(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    static const char *const which[] = {"scale-out", "scale-up"};
    double *out = at;
    dse_status st = DSE_OK;

    if (is_unknown(v))
        return DSE_OK;
    if (v->kind != CFG_LIST || v->n > 2)
        return wrong(r, v, row->path, "a list of two numbers, scale-out and scale-up in Gbit/s", err);
    if (v->n < 2)
        trace_warn(r->notes, cfg_at(r->doc, v).text,
                   "%s has %" PRIu32 " of two values; the first is scale-out, the second scale-up", row->path,
                   v->n);
    for (uint32_t i = 0; st == DSE_OK && i < v->n; i++) {
        st = number(r, row->path, v->item[i], &out[i], err);
        if (st != DSE_OK || out[i] > 0 || isnan(out[i]))
            continue;
        trace_warn(r->notes, cfg_at(r->doc, v->item[i]).text,
                   "%s gives a %s bandwidth of 0, which is left out", row->path, which[i]);
        out[i] = NAN;
    }
    return st;
}

static dse_status set_map(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err)
{
    (void)at;
    if (v->kind != CFG_MAP)
        return wrong(r, v, row->path, "a mapping", err);
    for (uint32_t i = 0; i < v->n; i++)
        if (v->item[i]->kind != CFG_SCALAR)
            return wrong(r, v->item[i], row->path, "names with texts", err);
    return DSE_OK;
}

static dse_status set_nothing(card_reading *r, const card_row *row, const cfg_node *v, void *at,
                              dse_error *err)
{
    (void)r, (void)row, (void)v, (void)at, (void)err;
    return DSE_OK;
}

typedef dse_status setter(card_reading *r, const card_row *row, const cfg_node *v, void *at, dse_error *err);
static setter *const setters[] = {
    [CARD_TEXT] = set_text,   [CARD_INT] = set_int,        [CARD_NUMBER] = set_number, [CARD_BOOL] = set_bool,
    [CARD_PHASE] = set_phase, [CARD_TEXTS] = set_texts,    [CARD_PAIR] = set_pair,     [CARD_MAP] = set_map,
    [CARD_SWEEP] = set_sweep, [CARD_IGNORED] = set_nothing};

/* ---- the tree -------------------------------------------------------------------------------- */

#define PATH_MAX_BYTES 512

/* "workload.model.num_params" where "workload.model.model_arch.num_params" is meant. */
static void correct_path(char path[PATH_MAX_BYTES])
{
    for (size_t i = 0; i < DSE_COUNT(moved); i++) {
        size_t n = strlen(moved[i].seen);
        char rest[PATH_MAX_BYTES];

        if (strncmp(path, moved[i].seen, n) != 0)
            continue;
        snprintf(rest, sizeof rest, "%s", path + n);
        snprintf(path, PATH_MAX_BYTES, "%s%.*s", moved[i].meant, (int)(PATH_MAX_BYTES - 64), rest);
        return;
    }
}

static bool is_section(const char *path)
{
    size_t n = strlen(path);

    for (size_t i = 0; i < N_ROWS; i++)
        if (strncmp(rows[i].path, path, n) == 0 && rows[i].path[n] == '.')
            return true;
    return strcmp(path, "workload.Model-executor") == 0;
}

/* Suggests the nearest key of the section: the next part of each row's path. */
static void warn_unknown(card_reading *r, const char *section, const cfg_node *key)
{
    const char *known[N_ROWS], *near;
    size_t prefix = strlen(section), n = 0;

    for (size_t i = 0; i < N_ROWS; i++) {
        const char *rest = rows[i].path + prefix + (prefix > 0);

        if (strncmp(rows[i].path, section, prefix) == 0 && (!prefix || rows[i].path[prefix] == '.'))
            known[n++] = dse_arena_strndup(r->arena, rest, strcspn(rest, "."));
    }
    near = dse_nearest(key->text, known, n);
    trace_warn(r->notes, cfg_at(r->doc, key).text,
               near ? "unknown key '%.80s%s%.80s' is ignored; did you mean '%s'?"
                    : "unknown key '%.80s%s%.80s' is ignored",
               section, prefix ? "." : "", key->text, near);
}

static dse_status set_row(card_reading *r, size_t row, const cfg_node *key, const cfg_node *v, dse_error *err)
{
    struct {
        size_t n; /* of a list */
        const void *value;
    } unkept = {0};
    void *to = rows[row].offset == CHECKED ? (void *)&unkept.value : (char *)r->card + rows[row].offset;

    if (is_null(v))
        return DSE_OK;
    if (r->set[row])
        return cfg_fail(err, r->doc, key, "%s is given twice", rows[row].path);
    r->set[row] = true;
    return setters[rows[row].type](r, &rows[row], v, to, err);
}

/* The depth of a document is bounded: CFG_MAX_DEPTH. */
static dse_status read_section(card_reading *r, const char *section, const cfg_node *map, dse_error *err)
{
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < map->n; i++) {
        char path[PATH_MAX_BYTES];
        size_t row = 0;

        snprintf(path, sizeof path, "%s%s%.200s", section, section[0] ? "." : "", map->key[i]->text);
        correct_path(path);
        while (row < N_ROWS && strcmp(rows[row].path, path) != 0)
            row++;
        if (row < N_ROWS)
            st = set_row(r, row, map->key[i], map->item[i], err);
        else if (!is_section(path))
            warn_unknown(r, section, map->key[i]);
        else if (map->item[i]->kind == CFG_MAP)
            st = read_section(r, path, map->item[i], err);
        else if (!is_null(map->item[i]))
            st = wrong(r, map->item[i], path, "a mapping", err);
    }
    return st;
}

/* ---- checks between keys --------------------------------------------------------------------- */

#define GIVEN(v) ((v) != TRACE_CARD_NONE)

/* Source: the checks that section 7 of the spec ends with. */
static void check(const trace_card *c, trace_record *notes)
{
    const int64_t degree[] = {c->dp_replicate, c->dp_shard, c->tp, c->pp, c->cp};
    bool all = GIVEN(c->total_count), fits = true;
    int64_t product = 1;

    for (size_t i = 0; i < DSE_COUNT(degree); i++) {
        all = all && GIVEN(degree[i]);
        fits = all && fits && !__builtin_mul_overflow(product, degree[i], &product);
    }
    if (all && !fits)
        trace_warn(notes, c->path, "the product of the degrees is out of range");
    else if (all && product != c->total_count)
        trace_warn(notes, c->path,
                   "dp_replicate * dp_shard * tp * pp * cp is %" PRId64 ", but total_count is %" PRId64,
                   product, c->total_count);
    if (GIVEN(c->version) && c->version != 1)
        trace_warn(notes, c->path, "version %" PRId64 " is read as version 1, the only one known",
                   c->version);
    if (GIVEN(c->count_per_node) && c->total_count > c->count_per_node && /* less than one node is fine */
        c->total_count % c->count_per_node)
        trace_warn(notes, c->path, "count_per_node, %" PRId64 ", does not divide total_count, %" PRId64,
                   c->count_per_node, c->total_count);
    if (c->num_params_active > c->num_params)
        trace_warn(notes, c->path, "num_params_active, %.0f, is more than num_params, %.0f",
                   c->num_params_active, c->num_params);
}

bool trace_card_is(const cfg_doc *doc)
{
    return cfg_get(doc->root, "workload") || cfg_get(doc->root, "Model-executor") ||
           cfg_get(doc->root, "metric_source");
}

dse_status trace_card_read(const cfg_doc *doc, dse_arena *a, trace_card *out, trace_record *notes,
                           dse_error *err)
{
    card_reading r = {.doc = doc, .arena = a, .card = out, .notes = notes};
    dse_status st;

    clear(out);
    out->path = doc->path;
    if (!trace_card_is(doc))
        return cfg_fail(err, doc, doc->root,
                        "this is no workload card: it has none of workload, Model-executor, metric_source");
    st = read_section(&r, "", doc->root, err);
    if (st == DSE_OK)
        check(out, notes);
    return st;
}

dse_status trace_card_load(const char *path, dse_arena *a, trace_card *out, trace_record *notes,
                           dse_error *err)
{
    cfg_doc doc = {0};
    dse_status st = cfg_load(path, a, &doc, err);

    return st == DSE_OK ? trace_card_read(&doc, a, out, notes, err) : st;
}
