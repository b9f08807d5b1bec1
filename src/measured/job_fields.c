/* Reading a row by the table of spellings (job_spellings.c): every value is checked for its type and its
 * unit, and against other spellings of the same field. */
#include "base/units.h"
#include "measured/job_spellings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const msr_row_place *at;
    msr_row *row;
    dse_arena *arena;
    const char *set_by[N_FIELDS]; /* the key that gave it, "config.tp"; NULL: not given */
    bool from_row[N_FIELDS];      /* the row speaks of it, if only to say that it is not known */
    bool in_common;
} row_reading;

/* A value found under a spelling. */
typedef struct {
    const cfg_node *section, *value;
    const char *path, *key, *unit; /* "measured.step_time_ms", "step_time_ms", "ms" */
    bool unit_in_key;
    field_id field;
    double scale;
} found;

static dse_status wrong(const row_reading *r, const found *f, const char *must, dse_error *err)
{
    return dse_fail_at(err, DSE_E_CONFIG, r->at->where, "%s must be %s, not %s", f->path, must,
                       cfg_seen(f->value).text);
}

static bool is_absent(const cfg_node *v)
{
    return v->kind == CFG_SCALAR && (msr_word_is_absent(v->text) && (v->quoted || !strcmp(v->text, "null")));
}

/* A value that its source does not state is a guess of the table's author: "batch_size_note": "... is not
 * stated". */
static bool is_disowned(const cfg_node *section, const char *key)
{
    const cfg_node *note;
    char name[96];

    snprintf(name, sizeof name, "%.80s_note", key);
    note = cfg_get(section, name);
    return note && note->kind == CFG_SCALAR && strstr(note->text, "not stated");
}

static bool is_plain(const cfg_node *v) { return v->kind == CFG_SCALAR && !v->quoted; }

static dse_status same(const row_reading *r, const found *f, bool equal, const char *before, const char *now,
                       dse_error *err)
{
    if (equal)
        return DSE_OK;
    return dse_fail_at(err, DSE_E_CONFIG, r->at->where,
                       "%s is %.80s and %s is %.80s; they say the same thing, leave one out",
                       r->set_by[f->field], before, f->path, now);
}

static dse_status put_text(row_reading *r, const found *f, const char *text, dse_error *err)
{
    const char **out = (const char **)(void *)((char *)r->row + msr_fields[f->field].offset);
    char one[128], two[128];

    if (*out) {
        msr_normal_form(*out, one, sizeof one);
        msr_normal_form(text, two, sizeof two);
        return same(r, f, !strcmp(one, two), *out, text, err);
    }
    *out = text;
    return DSE_OK;
}

static dse_status put_int(row_reading *r, const found *f, field_id field, int64_t v, dse_error *err)
{
    int64_t *out = (int64_t *)(void *)((char *)r->row + msr_fields[field].offset);
    char before[32], now[32];

    snprintf(before, sizeof before, "%" PRId64, *out);
    snprintf(now, sizeof now, "%" PRId64, v);
    if (*out != MSR_JOB_NONE)
        return same(r, f, *out == v, before, now, err);
    *out = v;
    return DSE_OK;
}

/* The same number may stand in several places in different units. */
#define SAME_NUMBER 1e-9

static dse_status put_number(row_reading *r, const found *f, double v, dse_error *err)
{
    double *out = (double *)(void *)((char *)r->row + msr_fields[f->field].offset);
    char before[32], now[32];

    snprintf(before, sizeof before, "%.9g", *out);
    snprintf(now, sizeof now, "%.9g", v);
    if (!isnan(*out))
        return same(r, f, fabs(*out - v) <= SAME_NUMBER * fabs(v), before, now, err);
    *out = v;
    return DSE_OK;
}

static dse_status read_text(row_reading *r, const found *f, dse_error *err)
{
    if (f->value->kind != CFG_SCALAR)
        return wrong(r, f, "a text", err);
    return put_text(r, f, f->value->text, err);
}

/* A list of batches is of what was tried: it says which one the row has only if there is one. */
static bool is_untold(found *f)
{
    if (f->field != F_BATCH || f->value->kind != CFG_LIST)
        return false;
    if (f->value->n != 1)
        return true;
    f->value = f->value->item[0];
    return false;
}

static dse_status read_int(row_reading *r, const found *given, dse_error *err)
{
    found own = *given, *f = &own;
    char must[64];
    int64_t v;

    if (is_untold(f))
        return DSE_OK;
    snprintf(must, sizeof must, "a whole number of at least %" PRId64, msr_fields[f->field].min);
    if (!is_plain(f->value) || dse_parse_int(f->value->text, &v, NULL) != DSE_OK ||
        v < msr_fields[f->field].min)
        return wrong(r, f, must, err);
    return put_int(r, f, f->field, v, err);
}

static dse_status read_positive(const row_reading *r, const found *f, double scale, double *out,
                                dse_error *err)
{
    if (!is_plain(f->value) || dse_parse_double(f->value->text, out, NULL) != DSE_OK ||
        !isfinite(*out * scale) || *out * scale <= 0)
        return wrong(r, f, "a number greater than 0", err);
    *out *= scale;
    return DSE_OK;
}

static dse_status read_number(row_reading *r, const found *f, dse_error *err)
{
    double v;
    dse_status st = read_positive(r, f, f->scale > 0 ? f->scale : 1, &v, err);

    return st == DSE_OK ? put_number(r, f, v, err) : st;
}

static bool flag_of(const cfg_node *v, int64_t *out)
{
    *out = is_plain(v) && !strcmp(v->text, "true");
    return *out || (is_plain(v) && !strcmp(v->text, "false"));
}

static dse_status read_flag(row_reading *r, const found *f, dse_error *err)
{
    int64_t v;

    return flag_of(f->value, &v) ? put_int(r, f, f->field, v, err) : wrong(r, f, "true or false", err);
}

static dse_status read_words(row_reading *r, const found *f, dse_error *err)
{
    int64_t v;

    if (flag_of(f->value, &v))
        return put_int(r, f, f->field + 1, v, err);
    return f->value->kind == CFG_SCALAR && f->value->quoted ? read_text(r, f, err)
                                                            : wrong(r, f, "a text, or true or false", err);
}

/* "4 x hidden (GPT)" */
static dse_status read_width(row_reading *r, const found *f, dse_error *err)
{
    char *end;
    long ratio;

    if (f->value->kind != CFG_SCALAR || !f->value->quoted)
        return read_int(r, f, err);
    ratio = strtol(f->value->text, &end, 10);
    if (ratio < 1 || ratio > 1000 || (strncmp(end, " x hidden", 9) && strncmp(end, " x d_model", 10)))
        return wrong(r, f, "a whole number, or as '4 x hidden'", err);
    return put_int(r, f, f->field + 1, ratio, err);
}

/* A remark is of any kind; what is made of one is a word in a text. */
static dse_status read_remark(row_reading *r, const found *f, dse_error *err)
{
    return f->value->kind == CFG_SCALAR ? read_text(r, f, err) : DSE_OK;
}

static dse_status read_phase(row_reading *r, const found *f, dse_error *err)
{
    trace_phase *out = &r->row->job.phase, now;

    if (f->value->kind != CFG_SCALAR || !trace_phase_of(f->value->text, &now))
        return wrong(r, f, TRACE_PHASE_WORDS, err);
    if (*out != TRACE_PHASE_UNKNOWN)
        return same(r, f, *out == now, *out == TRACE_PHASE_TRAINING ? "training" : "inference",
                    f->value->text, err);
    *out = now;
    return DSE_OK;
}

/* The unit that the table gives to a name, wherever the name stands; NULL. */
static const char *table_unit(const row_reading *r, const found *f)
{
    const char *keys[] = {f->path, f->key};
    const cfg_node *v = NULL;

    for (int i = 0; !v && i < 2; i++) {
        v = cfg_get(r->at->units, keys[i]);
        if (!v)
            v = cfg_get(cfg_get(r->at->defined, keys[i]), "unit");
    }
    return v && v->kind == CFG_SCALAR ? v->text : NULL;
}

/* A text with its unit, "1.5 s". */
static dse_status read_with_unit(row_reading *r, const found *f, row_type type, dse_error *err)
{
    const dse_unit unit = type == ROW_SECONDS ? DSE_UNIT_NS : DSE_UNIT_BYTES;
    bool had_unit;
    double v;

    if (dse_parse_quantity(f->value->text, unit, &v, &had_unit, NULL) != DSE_OK || !had_unit ||
        !isfinite(v) || v <= 0)
        return wrong(r, f,
                     type == ROW_SECONDS ? "a time greater than 0 with its unit, as '1.5 s'"
                                         : "a size greater than 0 with its unit, as '40 GiB'",
                     err);
    return put_number(r, f, type == ROW_SECONDS ? v / 1e9 : v, err);
}

static dse_status read_quantity(row_reading *r, const found *f, dse_error *err)
{
    const row_type type = msr_fields[f->field].type;
    const char *unit = table_unit(r, f);
    char known[MSR_UNITS_TEXT];
    double in_base, v;
    dse_status st;

    if (f->value->kind == CFG_SCALAR && f->value->quoted)
        return read_with_unit(r, f, type, err);
    if (unit && f->unit_in_key && strcasecmp(unit, f->unit) != 0)
        return dse_fail_at(err, DSE_E_CONFIG, r->at->where,
                           "%s ends in '%s', and the table says '%.40s'; change one", f->path, f->unit, unit);
    if (!unit)
        unit = f->unit;
    if (!unit)
        return dse_fail_at(err, DSE_E_CONFIG, r->at->where,
                           "%s has no unit; write '%s_%s', or name it in 'units'; known: %s", f->path,
                           f->path, type == ROW_SECONDS ? "s" : "gib", msr_known_units(type, known));
    in_base = msr_unit_value(type, unit);
    if (isnan(in_base))
        return dse_fail_at(err, DSE_E_CONFIG, r->at->where, "%s is in '%.40s', an unknown unit; known: %s",
                           f->path, unit, msr_known_units(type, known));
    st = read_positive(r, f, in_base, &v, err);
    return st == DSE_OK ? put_number(r, f, v, err) : st;
}

typedef dse_status reader(row_reading *r, const found *f, dse_error *err);
static reader *const readers[] = {
    [ROW_TEXT] = read_text,     [ROW_INT] = read_int,       [ROW_NUMBER] = read_number,
    [ROW_FLAG] = read_flag,     [ROW_WORDS] = read_words,   [ROW_WIDTH] = read_width,
    [ROW_PHASE] = read_phase,   [ROW_REMARK] = read_remark, [ROW_SECONDS] = read_quantity,
    [ROW_BYTES] = read_quantity};

/* ---- finding ------------------------------------------------------------------------------- */

/* Whether a key holds more of what is looked for: a section, or the way to one of the spellings. */
static bool is_opened(const char *key)
{
    const size_t n = strlen(key);

    for (size_t i = 0; i < msr_n_sections; i++)
        if (!strcmp(msr_sections[i].name, key))
            return true;
    for (size_t i = 0; i < msr_n_spellings; i++)
        for (int k = 0; k < MSR_KEYS_MAX && msr_spellings[i].key[k]; k++)
            if (!strncmp(msr_spellings[i].key[k], key, n) && msr_spellings[i].key[k][n] == '.')
                return true;
    return false;
}

/* A field that the row mentions is not taken from the table's `common`. */
static dse_status consider(row_reading *r, const found *f, dse_error *err)
{
    dse_status st;

    if ((r->in_common && r->from_row[f->field]) || (f->value->kind != CFG_SCALAR && is_opened(f->key)))
        return DSE_OK;
    r->from_row[f->field] = r->from_row[f->field] || !r->in_common;
    if (is_absent(f->value) || is_disowned(f->section, f->key))
        return DSE_OK;
    st = readers[msr_fields[f->field].type](r, f, err);
    if (st == DSE_OK && !r->set_by[f->field])
        r->set_by[f->field] = f->path;
    return st;
}

static dse_status consider_key(row_reading *r, found *f, const char *section, const char *key,
                               const cfg_node *value, dse_error *err)
{
    f->key = key;
    f->value = value;
    f->path = *section ? dse_arena_printf(r->arena, "%s.%s", section, key) : key;
    return consider(r, f, err);
}

/* "step_time", "step_time_ms", ... : the key, an underscore, a unit. A number behind any other word is one of
 * a unit that is not known, and not a remark. */
static dse_status find_quantity(row_reading *r, found *f, const char *name, const char *section,
                                dse_error *err)
{
    const row_type type = msr_fields[f->field].type;
    const size_t n = strlen(name);
    dse_status st = DSE_OK;

    for (uint32_t i = 0; st == DSE_OK && i < f->section->n; i++) {
        const char *key = f->section->key[i]->text, *rest = key + n + 1;
        const cfg_node *value = f->section->item[i];
        char known[MSR_UNITS_TEXT];
        double ignored;

        if (strncmp(key, name, n) || (key[n] && key[n] != '_'))
            continue;
        f->unit_in_key = key[n] != '\0';
        f->unit = f->unit_in_key ? rest : NULL;
        if (!key[n] || !isnan(msr_unit_value(type, rest)))
            st = consider_key(r, f, section, key, value, err);
        else if (!strchr(rest, '_') && is_plain(value) &&
                 dse_parse_double(value->text, &ignored, NULL) == DSE_OK)
            st = dse_fail_at(err, DSE_E_CONFIG, r->at->where, "%.80s: unknown unit '%.40s'; known: %s", key,
                             rest, msr_known_units(type, known));
    }
    return st;
}

/* The largest number at the end of a way whose "*" is any entry; NULL: there is none. Not deeper than the way
 * is long. */
static const cfg_node *largest(const cfg_node *node, const char *way)
{
    const size_t n = strcspn(way, ".");
    const cfg_node *best = NULL;
    double most = 0, v;

    if (!*way)
        return node;
    for (uint32_t i = 0; node->kind != CFG_SCALAR && i < node->n; i++) {
        const cfg_node *deeper = node->item[i];

        if (*way != '*' &&
            (node->kind != CFG_MAP || strlen(node->key[i]->text) != n || strncmp(node->key[i]->text, way, n)))
            continue;
        deeper = largest(deeper, way + n + (way[n] == '.'));
        if (!deeper ||
            (best && (!is_plain(deeper) || dse_parse_double(deeper->text, &v, NULL) != DSE_OK || v <= most)))
            continue;
        best = deeper;
        most = is_plain(best) && dse_parse_double(best->text, &v, NULL) == DSE_OK ? v : INFINITY;
    }
    return best;
}

static dse_status find_spelling(row_reading *r, const msr_section *section, const cfg_node *node,
                                const msr_spelling *s, const char *key, dse_error *err)
{
    const row_type type = msr_fields[s->field].type;
    found f = {.section = node, .unit = s->unit, .field = s->field, .scale = s->scale};
    const cfg_node *value;

    if (!s->unit && (type == ROW_SECONDS || type == ROW_BYTES))
        return find_quantity(r, &f, key, section->name, err);
    value = strchr(key, '.') ? largest(node, key) : cfg_get(node, key);
    return value ? consider_key(r, &f, section->name, key, value, err) : DSE_OK;
}

static dse_status read_sections(row_reading *r, const cfg_node *row, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; i < msr_n_sections; i++) {
        const msr_section *section = &msr_sections[i];
        const cfg_node *node = *section->name ? cfg_get(row, section->name) : row;

        if (!node || node->kind != CFG_MAP)
            continue;
        for (const msr_spelling *s = msr_spellings; s < msr_spellings + msr_n_spellings; s++)
            for (int k = 0; st == DSE_OK && s->in & section->in && k < MSR_KEYS_MAX && s->key[k]; k++)
                st = find_spelling(r, section, node, s, s->key[k], err);
    }
    return st;
}

static void clear(msr_row *row)
{
    memset(row, 0, sizeof *row);
    row->job.gated = MSR_JOB_NONE;
    for (int i = 0; i < N_FIELDS; i++) {
        void *at = (char *)row + msr_fields[i].offset;

        switch (msr_fields[i].type) {
        case ROW_INT:
        case ROW_FLAG:
        case ROW_WIDTH: *(int64_t *)at = MSR_JOB_NONE; break;
        case ROW_NUMBER:
        case ROW_SECONDS:
        case ROW_BYTES: *(double *)at = NAN; break;
        case ROW_TEXT:
        case ROW_WORDS:
        case ROW_PHASE:
        case ROW_REMARK: break;
        }
    }
}

void msr_job_clear(msr_job *j)
{
    msr_row row;

    clear(&row);
    *j = row.job;
}

/* What the table says of the row's model, under the name that the row has for it; NULL. */
static const cfg_node *model_of(const msr_row_place *at, const msr_row *row)
{
    const cfg_node *model = at->models && row->job.family ? cfg_get(at->models, row->job.family) : NULL;

    return model && model->kind == CFG_MAP ? model : NULL;
}

dse_status msr_row_read(const msr_row_place *at, const cfg_node *row, const cfg_node *common, dse_arena *a,
                        msr_row *out, dse_error *err)
{
    row_reading r = {.at = at, .row = out, .arena = a};
    const cfg_node *model;
    dse_status st;

    clear(out);
    st = read_sections(&r, row, err);
    out->lists_kept = msr_kept_of(row, &out->kept) || (common && msr_kept_of(common, &out->kept));
    r.in_common = true;
    if (st == DSE_OK && (model = model_of(at, out)))
        st = read_sections(&r, model, err);
    for (int i = 0; i < N_FIELDS; i++)
        r.from_row[i] |= r.set_by[i] != NULL;
    return st == DSE_OK && common ? read_sections(&r, common, err) : st;
}
