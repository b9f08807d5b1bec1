#include "strategy/strategy.h"

#include "base/units.h"
#include "strategy/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const strategy_parameter strategy_parameters[STRATEGY_N] = {
#define STRATEGY_PARAMETER(name_, ...)                                                                       \
    [STRATEGY_##name_] = {.name = #name_, .offset = offsetof(strategy, name_), __VA_ARGS__},
#define STRATEGY_AXIS(name_, ...) STRATEGY_PARAMETER(name_, .is_axis = true, __VA_ARGS__)
#include "strategy/parameters.h"
};

const uint32_t strategy_axes[STRATEGY_N_AXES] = {
#define STRATEGY_AXIS(name, ...) STRATEGY_##name,
#define STRATEGY_PARAMETER(name, ...)
#include "strategy/parameters.h"
};

static const char *const axis_names[STRATEGY_N_AXES] = {
#define STRATEGY_AXIS(name, ...) #name,
#define STRATEGY_PARAMETER(name, ...)
#include "strategy/parameters.h"
};

uint32_t strategy_find(const char *name)
{
    uint32_t i = 0;

    while (i < STRATEGY_N && strcmp(strategy_parameters[i].name, name) != 0)
        i++;
    return i;
}

const char *strategy_option_name(uint32_t parameter)
{
    static char names[STRATEGY_N][32];
    char *name = names[parameter];

    if (!*name) {
        snprintf(name, sizeof names[0], "--%s", strategy_parameters[parameter].name);
        for (char *p = name + 2; *p; p++)
            *p = *p == '_' ? '-' : *p;
    }
    return name;
}

uint32_t strategy_in_order(uint32_t order)
{
    uint32_t i = 0;

    while (i + 1 < STRATEGY_N && strategy_parameters[i].order != order)
        i++;
    return i;
}

strategy strategy_default(void)
{
    strategy s;

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        strategy_set(&s, i, strategy_parameters[i].fallback);
    return s;
}

/* ---- the mesh ------------------------------------------------------------------------------ */

mesh strategy_mesh(const strategy *s, dse_arena *a)
{
    mesh_axis *axis = DSE_ARENA_NEW(a, mesh_axis, STRATEGY_N_AXES);
    uint8_t item[STRATEGY_N_AXES];
    uint32_t ranks = 1;

    order_items(s->placement, STRATEGY_N_AXES, item);
    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++) {
        const uint32_t degree = strategy_get(s, strategy_axes[item[i]]);

        axis[item[i]] = (mesh_axis){axis_names[item[i]], degree, ranks};
        ranks *= degree;
    }
    return (mesh){STRATEGY_N_AXES, axis};
}

uint64_t strategy_ranks(const strategy *s)
{
    uint64_t ranks = 1;

    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++)
        if (__builtin_mul_overflow(ranks, strategy_get(s, strategy_axes[i]), &ranks))
            return UINT64_MAX;
    return ranks;
}

/* ---- words --------------------------------------------------------------------------------- */

/* Names of rows, in the row's order, with something between; made once. */
static const char *joined(char *out, size_t size, const char *between,
                          bool (*takes)(const strategy_parameter *))
{
    size_t used = 0;

    if (*out)
        return out;
    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (takes(&strategy_parameters[i]) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? between : "",
                                     strategy_parameters[i].name);
    return out;
}

static bool any(const strategy_parameter *p) { return p->name != NULL; }
static bool axis(const strategy_parameter *p) { return p->is_axis && !p->omit_default; }
static bool in_name(const strategy_parameter *p) { return p->in_name; }

const char *strategy_names(void)
{
    static char text[512];

    return joined(text, sizeof text, ", ", any);
}

const char *strategy_product(unsigned profile)
{
    static char text[128];

    if (profile == STRATEGY_PROFILE_TRAIN) /* in the order in which its programs say them */
        return "dp * tp * cp * pp";
    return joined(text, sizeof text, " * ", axis);
}

const char *strategy_name_form(void)
{
    static char text[128];

    return joined(text, sizeof text, "_", in_name);
}

void strategy_print_product(const strategy *s, dse_strbuf *out)
{
    const char *between = "";

    for (uint32_t i = 0; i < STRATEGY_N_AXES; i++) {
        const uint32_t degree = strategy_get(s, strategy_axes[i]);

        if (strategy_is_omitted(strategy_axes[i], degree))
            continue;
        dse_strbuf_addf(out, "%s%s %" PRIu32, between, axis_names[i], degree);
        between = " * ";
    }
}

static void add_words(const char *words, const char *blank, dse_strbuf *out)
{
    for (; *words; words++) {
        if (*words == ' ')
            dse_strbuf_adds(out, blank);
        else
            dse_strbuf_addc(out, *words);
    }
}

const char *strategy_words(const strategy_parameter *p, uint32_t value, char out[STRATEGY_WORDS_MAX])
{
    const char *words = value ? p->on : p->off;
    char text[STRATEGY_VALUE_MAX];

    if (p->kind == STRATEGY_SWITCH && words)
        return words;
    snprintf(out, STRATEGY_WORDS_MAX, "%s %s", p->name, strategy_print(p, value, text));
    return out;
}

/* Whether a text for people says it: a value that is not the default, or, of profile stage, that always
 * belongs there. Profile train has too many parameters to say what is not used. */
static bool is_said(uint32_t parameter, uint32_t value, unsigned profile)
{
    const strategy_parameter *p = &strategy_parameters[parameter];

    if (value != p->fallback || p->omit_default || profile == STRATEGY_PROFILE_TRAIN)
        return value != p->fallback;
    return p->is_axis || (p->kind == STRATEGY_SWITCH && (value ? p->on : p->off));
}

void strategy_say(const strategy *s, unsigned profile, const char *blank, dse_strbuf *out)
{
    const char *between = "";

    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const uint32_t value = strategy_get(s, i);
        char words[STRATEGY_WORDS_MAX];

        if (!strategy_has_profile(i, profile) || !is_said(i, value, profile))
            continue;
        dse_strbuf_adds(out, between);
        add_words(strategy_words(&strategy_parameters[i], value, words), blank, out);
        between = ", ";
    }
    if (!*between)
        dse_strbuf_adds(out, "no parallelism");
}

/* ---- values as text ------------------------------------------------------------------------ */

uint32_t strategy_n_values(const strategy_parameter *p)
{
    uint32_t n = 0;

    switch (p->kind) {
    case STRATEGY_DEGREE: return 0;
    case STRATEGY_SWITCH: return 2;
    case STRATEGY_ORDER: return order_count(STRATEGY_N_AXES);
    case STRATEGY_CHOICE:
    case STRATEGY_SET:
        while (p->choices[n])
            n++;
        return p->kind == STRATEGY_SET ? 1u << n : n;
    }
    return 0;
}

/* Axes that an order always names; those that came later stand behind them. */
static uint32_t least_axes(void)
{
    uint32_t n = 0;

    while (n < STRATEGY_N_AXES && !strategy_parameters[strategy_axes[n]].omit_default)
        n++;
    return n;
}

static void print_set(const strategy_parameter *p, uint32_t value, char out[STRATEGY_VALUE_MAX])
{
    size_t n = 0;

    out[0] = '\0';
    for (uint32_t i = 0; p->choices[i]; i++)
        if (value >> i & 1 && n < STRATEGY_VALUE_MAX)
            n += (size_t)snprintf(out + n, STRATEGY_VALUE_MAX - n, "%s%s", n ? "+" : "", p->choices[i]);
}

const char *strategy_print(const strategy_parameter *p, uint32_t value, char out[STRATEGY_VALUE_MAX])
{
    switch (p->kind) {
    case STRATEGY_DEGREE: snprintf(out, STRATEGY_VALUE_MAX, "%" PRIu32, value); break;
    case STRATEGY_SWITCH: snprintf(out, STRATEGY_VALUE_MAX, "%s", value ? "yes" : "no"); break;
    case STRATEGY_CHOICE: snprintf(out, STRATEGY_VALUE_MAX, "%s", p->choices[value]); break;
    case STRATEGY_SET: print_set(p, value, out); break;
    case STRATEGY_ORDER:
        order_print(value, axis_names, STRATEGY_N_AXES, least_axes(), out, STRATEGY_VALUE_MAX);
        break;
    }
    return out;
}

static dse_status parse_degree(const strategy_parameter *p, const char *label, const char *text,
                               uint32_t *out, dse_error *err)
{
    const uint32_t max = p->max ? p->max : STRATEGY_MAX_DEGREE;
    int64_t v;

    if (dse_parse_int(text, &v, NULL) != DSE_OK || v < p->min || v > max)
        return dse_fail(err, DSE_E_USAGE, "%s takes positive whole numbers such as 1,2,4, not '%.60s'", label,
                        text);
    *out = (uint32_t)v;
    return DSE_OK;
}

static dse_status parse_switch(const char *label, const char *text, uint32_t *out, dse_error *err)
{
    static const char *const words[] = {"no", "yes", "false", "true"};

    for (uint32_t i = 0; i < 4; i++) {
        if (!strcmp(words[i], text)) {
            *out = i & 1;
            return DSE_OK;
        }
    }
    return dse_fail(err, DSE_E_USAGE, "%s takes yes, no or both, not '%.60s'", label, text);
}

/* "zero_bubble" is "zero-bubble", too: programs and their papers spell such words in both ways. */
static bool is_same_word(const char *a, const char *b)
{
    while (*a && (*a == *b || (*a == '-' && *b == '_')))
        a++, b++;
    return *a == *b;
}

/* The choice that a text is; as many as there are: none. */
static uint32_t find_choice(const strategy_parameter *p, const char *text)
{
    uint32_t i = 0;

    while (p->choices[i] && !is_same_word(p->choices[i], text))
        i++;
    return i;
}

static dse_status refuse_choice(const strategy_parameter *p, const char *label, const char *text,
                                dse_error *err)
{
    dse_strbuf known;

    dse_strbuf_init(&known);
    dse_strbuf_add_choices(&known, p->choices);
    dse_fail(err, DSE_E_USAGE, "%s takes %s%s, not '%.60s'", label, known.data,
             p->kind == STRATEGY_SET ? ", or several joined by +" : "", text);
    dse_strbuf_free(&known);
    return DSE_E_USAGE;
}

static dse_status parse_choice(const strategy_parameter *p, const char *label, const char *text,
                               uint32_t *out, dse_error *err)
{
    const uint32_t i = find_choice(p, text);

    if (!p->choices[i])
        return refuse_choice(p, label, text, err);
    *out = i;
    return DSE_OK;
}

/* "mlp+layernorm"; a word may stand there twice. */
static dse_status parse_set(const strategy_parameter *p, const char *label, const char *text, uint32_t *out,
                            dse_error *err)
{
    uint32_t value = 0;

    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, "+");
        char word[STRATEGY_VALUE_MAX];
        uint32_t i;

        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        i = find_choice(p, word);
        if (!p->choices[i])
            return refuse_choice(p, label, text, err);
        value |= 1u << i;
        at += length;
        if (!*at)
            break;
    }
    *out = value;
    return DSE_OK;
}

static dse_status parse_order(const char *label, const char *text, uint32_t *out, dse_error *err)
{
    char first[STRATEGY_VALUE_MAX];

    if (order_parse(text, axis_names, STRATEGY_N_AXES, least_axes(), out))
        return DSE_OK;
    order_print(0, axis_names, STRATEGY_N_AXES, least_axes(), first, sizeof first);
    return dse_fail(err, DSE_E_USAGE,
                    "%s takes an order such as %s: each axis once, the innermost first; not '%.60s'", label,
                    first, text);
}

dse_status strategy_parse(const strategy_parameter *p, const char *label, const char *text, uint32_t *out,
                          dse_error *err)
{
    switch (p->kind) {
    case STRATEGY_DEGREE: return parse_degree(p, label, text, out, err);
    case STRATEGY_SWITCH: return parse_switch(label, text, out, err);
    case STRATEGY_CHOICE: return parse_choice(p, label, text, out, err);
    case STRATEGY_SET: return parse_set(p, label, text, out, err);
    case STRATEGY_ORDER: break;
    }
    return parse_order(label, text, out, err);
}

/* ---- rules --------------------------------------------------------------------------------- */

dse_status strategy_check(const strategy *s, unsigned profile, dse_error *err)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        const uint32_t value = strategy_get(s, i);
        char text[STRATEGY_VALUE_MAX];
        dse_status st;

        if (value != p->fallback && !strategy_has_profile(i, profile))
            return dse_fail(
                err, DSE_E_RANGE,
                "%s %s: profile %s has no such parameter; 'ccldse models' shows the profile of each card",
                p->name, strategy_print(p, value, text),
                profile == STRATEGY_PROFILE_TRAIN ? "train" : "stage");
        if (p->check && (st = p->check(s, err)) != DSE_OK)
            return st;
    }
    return DSE_OK;
}

int strategy_compare(const strategy *a, const strategy *b)
{
    uint32_t slowest = STRATEGY_N; /* of the parameters that differ */

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_get(a, i) != strategy_get(b, i) &&
            (slowest == STRATEGY_N || strategy_parameters[i].order < strategy_parameters[slowest].order))
            slowest = i;
    if (slowest == STRATEGY_N)
        return 0;
    return strategy_get(a, slowest) < strategy_get(b, slowest) ? -1 : 1;
}

/* ---- names --------------------------------------------------------------------------------- */

void strategy_name(const strategy *s, const strategy *base, char out[STRATEGY_NAME_MAX])
{
    size_t used = 0;

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        if (strategy_parameters[i].in_name)
            used += (size_t)snprintf(out + used, STRATEGY_NAME_MAX - used, "%s%" PRIu32, used ? "_" : "",
                                     strategy_get(s, i));
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        const uint32_t value = strategy_get(s, i);
        char text[STRATEGY_VALUE_MAX];

        if (p->in_name || used >= STRATEGY_NAME_MAX)
            continue;
        if (p->suffix && value)
            used += (size_t)snprintf(out + used, STRATEGY_NAME_MAX - used, "_%s", p->suffix);
        else if (!p->suffix && value != (base ? strategy_get(base, i) : p->fallback))
            used += (size_t)snprintf(out + used, STRATEGY_NAME_MAX - used, "_%s=%s", p->name,
                                     strategy_print(p, value, text));
    }
}

/* The value of a parameter in a name, n bytes. */
static bool parse_part(uint32_t parameter, const char *text, size_t n, strategy *out)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    char word[STRATEGY_VALUE_MAX];
    uint32_t value;

    if (n >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)n, text);
    if (strategy_parse(p, p->name, word, &value, NULL) != DSE_OK)
        return false;
    strategy_set(out, parameter, value);
    return true;
}

/* The parameters in_name, from *at on: numbers as strategy_name writes them. */
static bool parse_places(const char **at, strategy *out)
{
    bool first = true;

    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        size_t n;

        if (!p->in_name)
            continue;
        if (!first && *(*at)++ != '_')
            return false;
        first = false;
        n = strspn(*at, "0123456789");
        if (p->kind == STRATEGY_SWITCH && n == 1 && **at <= '1')
            strategy_set(out, i, (uint32_t)(**at - '0'));
        else if (p->kind == STRATEGY_SWITCH || **at == '0' || !n || !parse_part(i, *at, n, out))
            return false;
        *at += n;
    }
    return true;
}

/* One "_ws" or "_name=value", which is then passed; each once. */
static bool parse_suffix(const char **at, strategy *out, uint64_t *seen)
{
    const char *word = *at + 1;

    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        const char *key = p->suffix ? p->suffix : p->name;
        const size_t n = strlen(key);

        if (p->in_name || strncmp(word, key, n) || (p->suffix ? word[n] && word[n] != '_' : word[n] != '='))
            continue;
        if (*seen >> i & 1)
            return false;
        *seen |= (uint64_t)1 << i;
        word += n;
        if (p->suffix) {
            strategy_set(out, i, 1);
        } else {
            const size_t length = strcspn(++word, "_");

            if (!parse_part(i, word, length, out))
                return false;
            word += length;
        }
        *at = word;
        return true;
    }
    return false;
}

dse_status strategy_parse_name(const char *text, const strategy *base, strategy *out, uint64_t *said,
                               dse_error *err)
{
    const char *at = text;
    uint64_t always = 0, seen = 0;
    bool understood;

    *out = base ? *base : strategy_default();
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        if (strategy_parameters[i].suffix)
            strategy_set(out, i, 0);
        if (strategy_parameters[i].suffix || strategy_parameters[i].in_name)
            always |= (uint64_t)1 << i;
    }
    understood = parse_places(&at, out);
    while (understood && *at == '_')
        understood = parse_suffix(&at, out, &seen);
    if (said)
        *said = always | seen;
    if (understood && !*at)
        return DSE_OK;
    return dse_fail(err, DSE_E_USAGE, "'%.60s' is not a point; write %s, for example 8_1_8_1_1", text,
                    strategy_name_form());
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* One value, after its key: a number, true or false, or text. */
static void write_value(const strategy_parameter *p, uint32_t value, dse_json *j)
{
    char text[STRATEGY_VALUE_MAX];

    switch (p->kind) {
    case STRATEGY_DEGREE: dse_json_uint(j, value); break;
    case STRATEGY_SWITCH: dse_json_bool(j, value != 0); break;
    case STRATEGY_CHOICE:
    case STRATEGY_SET:
    case STRATEGY_ORDER: dse_json_string(j, strategy_print(p, value, text)); break;
    }
}

void strategy_write_fields(const strategy *s, dse_json *j)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];

        if (strategy_is_omitted(i, strategy_get(s, i)))
            continue;
        dse_json_key(j, p->name);
        write_value(p, strategy_get(s, i), j);
    }
}

/* As messages have always said it. */
static dse_status fail_value(const cfg_doc *doc, const strategy_parameter *p, dse_error *err)
{
    return dse_fail_at(err, DSE_E_CONFIG, doc->path,
                       p->kind == STRATEGY_SWITCH ? "'%s' is missing, or neither true nor false"
                                                  : "'%s' is missing, or no value of it",
                       p->name);
}

static dse_status read_degree(const cfg_doc *doc, const cfg_node *node, const strategy_parameter *p,
                              uint32_t *out, dse_error *err)
{
    int64_t v = 0;
    dse_status st = cfg_int(doc, node, p->name, p->min, p->max ? p->max : STRATEGY_MAX_DEGREE, &v, err);

    *out = (uint32_t)v;
    return st;
}

dse_status strategy_read(const cfg_doc *doc, const cfg_node *map, const strategy *base, strategy *out,
                         dse_error *err)
{
    *out = base ? *base : strategy_default();
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];
        const cfg_node *node = cfg_get(map, p->name);
        uint32_t value = p->fallback;
        dse_status st;

        if (!node && p->omit_default)
            continue;
        if (!node && p->kind == STRATEGY_DEGREE)
            return dse_fail_at(err, DSE_E_CONFIG, doc->path, "'%s' is missing", p->name);
        if (p->kind == STRATEGY_DEGREE) {
            if ((st = read_degree(doc, node, p, &value, err)) != DSE_OK)
                return st;
        } else if (!node || node->kind != CFG_SCALAR ||
                   strategy_parse(p, p->name, node->text, &value, NULL) != DSE_OK) {
            return fail_value(doc, p, err);
        }
        strategy_set(out, i, value);
    }
    return DSE_OK;
}
