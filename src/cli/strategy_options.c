#include "cli/strategy_options.h"

#include "base/array.h"

/* What a sweep takes of a parameter that is not given. */
static const char *swept_text(const strategy_parameter *p, char out[STRATEGY_VALUE_MAX])
{
    switch (p->swept) {
    case STRATEGY_SWEEP_DIVISORS: return "every divisor of the NPUs";
    case STRATEGY_SWEEP_ALL: return p->kind == STRATEGY_SWITCH ? "both" : "all";
    case STRATEGY_SWEEP_DEFAULT: break;
    }
    return strategy_print(p, p->fallback, out);
}

/* Of the two, a switch that is off by default needs no value. */
static bool is_flag(const strategy_parameter *p, bool list)
{
    return p->kind == STRATEGY_SWITCH && !list && !p->fallback;
}

static const char *value_name(const strategy_parameter *p, bool list)
{
    switch (p->kind) {
    case STRATEGY_DEGREE: return list ? "N[,...]" : "N";
    case STRATEGY_SWITCH: return is_flag(p, list) ? NULL : "WHICH";
    case STRATEGY_CHOICE: return list ? "WHICH[,...]" : "WHICH";
    case STRATEGY_SET: return list ? "SET[,...]" : "SET";
    case STRATEGY_ORDER: break;
    }
    return list ? "ORDER[,...]" : "ORDER";
}

static const char *help_of(const strategy_parameter *p, bool list)
{
    char value[STRATEGY_VALUE_MAX];
    dse_strbuf text;

    dse_strbuf_init(&text); /* kept by the row */
    dse_strbuf_adds(&text, list ? p->help_of_list : p->help);
    if (p->kind == STRATEGY_CHOICE || p->kind == STRATEGY_SET) {
        dse_strbuf_adds(&text, ": ");
        dse_strbuf_add_choices(&text, p->choices);
    }
    if (p->kind == STRATEGY_SWITCH && !is_flag(p, list))
        dse_strbuf_adds(&text, list ? ": yes, no or both" : ": yes or no");
    if (list)
        dse_strbuf_addf(&text, "; %s if not given", swept_text(p, value));
    else if (!is_flag(p, list))
        dse_strbuf_addf(&text, "; default %s", strategy_print(p, p->fallback, value));
    return text.data;
}

static option make_option(uint32_t parameter, bool list)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    const bool flag = is_flag(p, list);
    const bool choice = !list && p->kind == STRATEGY_CHOICE;

    return (option){.name = strategy_option_name(parameter),
                    .type = flag ? OPT_FLAG : OPT_STRING,
                    .value = value_name(p, list),
                    .fallback = flag ? "false" : "",
                    .help = choice ? p->help : help_of(p, list), /* the row lists its choices */
                    .choices = choice ? p->choices : NULL,
                    .topic = "strategy",
                    .complete = p->kind == STRATEGY_SWITCH && !flag ? COMPLETE_SWITCH : COMPLETE_BY_NAME,
                    .offset = parameter * sizeof(strategy_option) +
                              (flag ? offsetof(strategy_option, on) : offsetof(strategy_option, text))};
}

/* The rows, made when they are asked for the first time. */
static const option *options_of(bool list, size_t *n)
{
    static option rows[2][STRATEGY_N];

    for (uint32_t i = 0; i < STRATEGY_N && !rows[list][i].name; i++)
        rows[list][i] = make_option(i, list);
    *n = STRATEGY_N;
    return rows[list];
}

const option *strategy_value_options(size_t *n) { return options_of(false, n); }
const option *strategy_list_options(size_t *n) { return options_of(true, n); }

void strategy_options_explain(size_t width, dse_strbuf *out)
{
    static const struct {
        unsigned profiles;
        const char *title;
    } parts[] = {{0, "Of both profiles"},
                 {STRATEGY_PROFILE_TRAIN, "Of profile train, the step that training programs run"},
                 {STRATEGY_PROFILE_STAGE, "Of profile stage, STAGE's step"}};
    size_t n;
    const option *o = strategy_value_options(&n);

    dse_strbuf_add_wrapped(
        out,
        "A strategy says how a training step is spread over the NPUs of a system. Commands that "
        "simulate one take a value of each parameter: --tp 4 --zero 1. A sweep takes lists: "
        "--tp 4,8 --zero 0,1,3; of a switch yes, no or both. What is not given has its default, or "
        "is what a sweep tries.",
        0, width);
    dse_strbuf_addc(out, '\n');
    for (size_t k = 0; k < DSE_COUNT(parts); k++) {
        dse_strbuf_addf(out, "\n%s:\n", parts[k].title);
        for (size_t i = 0; i < n; i++)
            if ((strategy_parameters[i].profiles & ~(unsigned)STRATEGY_PROFILE_MAIN) == parts[k].profiles)
                option_print(&o[i], width, out);
    }
}

static bool is_given(const strategy_option *o) { return o->text || o->on; }

bool strategy_options_says(const strategy_options *o, uint32_t parameter)
{
    return is_given(&o->of[parameter]);
}

uint64_t strategy_options_mask(const strategy_options *o)
{
    uint64_t mask = 0;

    for (uint32_t i = 0; i < STRATEGY_N; i++)
        mask |= (uint64_t)is_given(&o->of[i]) << i;
    return mask;
}

uint32_t strategy_options_given(const strategy_options *o, uint64_t which)
{
    uint32_t i = 0;

    while (i < STRATEGY_N && !(which >> i & 1 && is_given(&o->of[i])))
        i++;
    return i;
}

/* Sets the values that were given over *s. */
static dse_status set_given(const strategy_options *o, strategy *s, dse_error *err)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        uint32_t value = o->of[i].on;
        dse_status st = DSE_OK;

        if (!is_given(&o->of[i]))
            continue;
        if (o->of[i].text)
            st = strategy_parse(&strategy_parameters[i], strategy_option_name(i), o->of[i].text, &value, err);
        if (st != DSE_OK)
            return st;
        strategy_set(s, i, value);
    }
    return DSE_OK;
}

dse_status strategy_options_point(const strategy_options *o, const char *name, const strategy *base,
                                  strategy *out, dse_error *err)
{
    uint64_t said = 0;
    uint32_t both;
    dse_status st = DSE_OK;

    *out = *base;
    if (name)
        st = strategy_parse_name(name, base, out, &said, err);
    if (st == DSE_OK && (both = strategy_options_given(o, said)) < STRATEGY_N)
        return dse_fail(err, DSE_E_USAGE, "give either --point or %s, not both", strategy_option_name(both));
    return st == DSE_OK ? set_given(o, out, err) : st;
}

dse_status strategy_options_axes(const strategy_options *o, design_axes *out, dse_error *err)
{
    dse_status st = DSE_OK;

    *out = (design_axes){0};
    for (uint32_t i = 0; st == DSE_OK && i < STRATEGY_N; i++)
        if (o->of[i].text)
            st = design_axis_parse(i, strategy_option_name(i), o->of[i].text, &out->of[i], err);
    return st;
}
