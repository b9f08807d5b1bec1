/* strategy -- how one training step is spread over NPUs, as one value of each parameter of a table
 * (parameters.h).
 *
 * A strategy is a struct with a field for each row. Code that gives a parameter its meaning reads the field
 * by its name; everything else (options, files, columns, names, messages) goes over the rows and knows no
 * parameter by name. */
#ifndef DSE_STRATEGY_STRATEGY_H
#define DSE_STRATEGY_STRATEGY_H

#include "base/alloc.h"
#include "base/json_writer.h"
#include "config/doc.h"
#include "strategy/mesh.h"

/* Degrees are at least 1; a switch is 0 or 1; a choice is an index of the row's `choices`; a set has a bit
 * for each of these, one at least; an order is the number of a permutation of the mesh's axes (order.h). */
typedef struct {
#define STRATEGY_PARAMETER(name, ...) uint32_t name;
#include "strategy/parameters.h"
} strategy;

/* STRATEGY_dp, STRATEGY_tp, ...: the rows' numbers. */
enum {
#define STRATEGY_PARAMETER(name, ...) STRATEGY_##name,
#include "strategy/parameters.h"
    STRATEGY_N
};

/* STRATEGY_AXIS_dp, ...: the numbers of the mesh's axes. */
enum {
#define STRATEGY_AXIS(name, ...) STRATEGY_AXIS_##name,
#define STRATEGY_PARAMETER(name, ...)
#include "strategy/parameters.h"
    STRATEGY_N_AXES
};

typedef enum {
    STRATEGY_DEGREE,
    STRATEGY_SWITCH,
    STRATEGY_CHOICE,
    STRATEGY_SET,
    STRATEGY_ORDER
} strategy_kind;

/* What a sweep takes of a parameter that is not given. */
typedef enum {
    STRATEGY_SWEEP_DEFAULT,
    STRATEGY_SWEEP_DIVISORS, /* every divisor of the number of NPUs */
    STRATEGY_SWEEP_ALL       /* every value */
} strategy_sweep;

/* Which profiles have a parameter, as bits: STAGE's exact step, the step that training programs run. Profile
 * stage with STAGE's branch main is STAGE and MAIN, as it has some parameters more. */
enum { STRATEGY_PROFILE_STAGE = 1, STRATEGY_PROFILE_TRAIN = 2, STRATEGY_PROFILE_MAIN = 4 };

typedef struct {
    const char *name; /* in JSON, SQL, CSV, space files and constraints; the option is --name with dashes */
    strategy_kind kind;
    uint32_t min, max;          /* of a degree; max 0: STRATEGY_MAX_DEGREE */
    uint32_t fallback;          /* the default, as the field has it */
    const char *const *choices; /* of a choice or a set, ended by NULL; none with a '_' or a '+' */
    strategy_sweep swept;
    unsigned profiles;   /* 0: all */
    bool is_axis;        /* a degree that divides the NPUs: an axis of the mesh */
    bool shards_tensors; /* an axis that operator files may put under a tensor's dimension */
    bool of_experts;     /* it says something of models with experts alone */
    /* It has a place of its own in the name of a point; else the name says it where it is not the default. */
    bool in_name;
    /* No configuration, text or ranking says it while it is the default, so that what was stored before there
     * was one is found. */
    bool omit_default;
    uint32_t order;           /* enumerations and listings vary the parameter of the highest order fastest */
    const char *heading;      /* of a column for people; NULL: the name */
    const char *noun;         /* in a sentence, "with sharded weights"; NULL: the name */
    const char *suffix;       /* of a switch: what a name has where it is on */
    const char *on, *off;     /* of a switch: what a sentence says; NULL: nothing */
    const char *help;         /* what a value means, */
    const char *help_of_list; /* and what a list of values lists */
    /* Whether the rest of the strategy goes with this value; NULL: it always does. DSE_E_RANGE. */
    dse_status (*check)(const strategy *s, dse_error *err);
    size_t offset; /* of the field */
} strategy_parameter;

extern const strategy_parameter strategy_parameters[STRATEGY_N];
extern const uint32_t strategy_axes[STRATEGY_N_AXES]; /* the rows that are axes */

#define STRATEGY_ALL        (((uint64_t)1 << STRATEGY_N) - 1) /* a bit for each parameter */
#define STRATEGY_MAX_DEGREE (1u << 24)
#define STRATEGY_VALUE_MAX  64  /* bytes of a value as text */
#define STRATEGY_WORDS_MAX  128 /* and with the parameter's name */
#define STRATEGY_NAME_MAX   512

static inline uint32_t strategy_get(const strategy *s, uint32_t parameter)
{
    return *(const uint32_t *)(const void *)((const char *)s + strategy_parameters[parameter].offset);
}

static inline void strategy_set(strategy *s, uint32_t parameter, uint32_t value)
{
    *(uint32_t *)(void *)((char *)s + strategy_parameters[parameter].offset) = value;
}

static inline bool strategy_has_profile(uint32_t parameter, unsigned profile)
{
    const unsigned profiles = strategy_parameters[parameter].profiles;

    return !profiles || profiles & profile;
}

static inline const char *strategy_heading(uint32_t parameter)
{
    const strategy_parameter *p = &strategy_parameters[parameter];

    return p->heading ? p->heading : p->name;
}

/* The row of a name; STRATEGY_N: none. */
uint32_t strategy_find(const char *name);

/* "--weight-sharded". Made at the first call, which is no thread's. */
const char *strategy_option_name(uint32_t parameter);

/* Rows by `order`: the slowest is strategy_in_order(0). */
uint32_t strategy_in_order(uint32_t i);

/* "dp, tp, sp, pp, recompute, weight_sharded": the names of all rows, for messages. Like the two below it is
 * spelt at the first call, which is no thread's. */
const char *strategy_names(void);

/* Every parameter at its default. */
strategy strategy_default(void);

/* Whether it is left out of a text or a configuration that leaves defaults out. */
static inline bool strategy_is_omitted(uint32_t parameter, uint32_t value)
{
    return strategy_parameters[parameter].omit_default && value == strategy_parameters[parameter].fallback;
}

/* How many values a parameter has; 0: a degree, which has any number. */
uint32_t strategy_n_values(const strategy_parameter *p);

/* Whether a column holds a value as its number (degrees, switches as 0 and 1), or as its text. */
static inline bool strategy_is_number(const strategy_parameter *p)
{
    return p->kind == STRATEGY_DEGREE || p->kind == STRATEGY_SWITCH;
}

/* A value as text: "8", "yes", "turns", "layernorm+mlp", "tp-sp-dp-pp". Returns out. */
const char *strategy_print(const strategy_parameter *p, uint32_t value, char out[STRATEGY_VALUE_MAX]);

/* The reverse; `label` begins the message. DSE_E_USAGE. */
dse_status strategy_parse(const strategy_parameter *p, const char *label, const char *text, uint32_t *out,
                          dse_error *err);

/* Whether the parameters go together, and the profile has those that are not at their default.
 * DSE_E_RANGE. */
dse_status strategy_check(const strategy *s, unsigned profile, dse_error *err);

/* The product of the degrees of all axes; UINT64_MAX if it is larger. */
uint64_t strategy_ranks(const strategy *s);

/* "dp * tp * sp * pp" of profile stage, "dp * tp * cp * pp" of train, for messages. */
const char *strategy_product(unsigned profile);

/* "dp 2 * tp 4 * sp 1 * pp 1"; axes with omit_default only where they are not at their default. */
void strategy_print_product(const strategy *s, dse_strbuf *out);

/* "recomputing", or "stages neighbours": a value for people. Returns out, or words of the row. */
const char *strategy_words(const strategy_parameter *p, uint32_t value, char out[STRATEGY_WORDS_MAX]);

/* "dp 8, tp 1, sp 8, pp 1, no recomputation": for people. The axes, what switches have words for, and
 * every other parameter that is not at its default; of those that the profile has. Of profile train: "dp
 * 8, micro_batch 2", what is not at its default alone. `blank` stands between the words of one part. */
void strategy_say(const strategy *s, unsigned profile, const char *blank, dse_strbuf *out);

/* -1, 0, 1: in the order in which points are enumerated and listed. */
int strategy_compare(const strategy *a, const strategy *b);

/* "8_1_8_1_1": the parameters in_name; behind it "_ws" of a switch with a suffix that is on, and
 * "_name=value" of every other parameter whose value is not that of `base` (NULL: its default). */
void strategy_name(const strategy *s, const strategy *base, char out[STRATEGY_NAME_MAX]);

/* The reverse; what the name does not say is that of `base` (NULL: its default). *said (may be NULL) gets a
 * bit for each parameter that the name says; switches with a suffix are always said. DSE_E_USAGE. */
dse_status strategy_parse_name(const char *text, const strategy *base, strategy *out, uint64_t *said,
                               dse_error *err);

/* "dp_tp_sp_pp_recompute": what the places of a name are. */
const char *strategy_name_form(void);

/* "dp":8,...: into an object that has begun; what is omitted at its default is left out. */
void strategy_write_fields(const strategy *s, dse_json *j);

/* The reverse of strategy_write_fields; what is omitted is that of `base` (NULL: its default). DSE_E_CONFIG;
 * keys of others are passed over. */
dse_status strategy_read(const cfg_doc *doc, const cfg_node *map, const strategy *base, strategy *out,
                         dse_error *err);

/* The mesh of a strategy: an axis for each row with is_axis, in the order of the rows. In the arena. */
mesh strategy_mesh(const strategy *s, dse_arena *a);

#endif
