/* design_expr -- a constraint: an expression over named values that is true or not.
 *
 *   or ||, and &&, not !      of truth values; what is behind a decided 'or' or 'and' is not evaluated
 *   == != < <= > >=           of numbers; 1 < tp <= 8 means what it looks like; == and != also of texts
 *   + - * / // %              / is real; // and % round down, as in Python
 *   64  0.5  'Ring'  true  no  tp  network.bandwidth[1]  (...)     also True and False
 *
 * Integers are 64 bits; what does not fit is an error, not another number. This folder does not know what the
 * names stand for: who parses binds them. */
#ifndef DSE_DESIGN_EXPR_H
#define DSE_DESIGN_EXPR_H

#include "base/alloc.h"

typedef enum { DESIGN_INT, DESIGN_REAL, DESIGN_TEXT } design_kind;

typedef struct {
    design_kind kind;
    union {
        int64_t integer; /* truth values are 0 and 1 */
        double real;
        const char *text;
    };
} design_value;

typedef struct design_expr_node design_expr_node;

typedef struct {
    const char *text; /* as written */
    uint32_t n_names;
    const char **name;       /* each once, in the order in which they first stand */
    uint32_t n_nodes, whole; /* `whole` is the node of it all */
    design_expr_node *node;
} design_expr;

/* Everything belongs to the arena. DSE_E_CONFIG with the place in the text. */
dse_status design_expr_parse(const char *text, dse_arena *a, design_expr *out, dse_error *err);

/* `value` has one for each name. DSE_E_CONFIG: a text where a number is wanted, a division by 0, a number too
 * large, or too many steps, which takes chains of comparisons a dozen deep within each other. */
dse_status design_expr_holds(const design_expr *e, const design_value *value, bool *out, dse_error *err);

/* What a name may stand for: the numbers from `low` to `high`, or one value, of whatever kind, that is both;
 * or anything. */
typedef struct {
    bool is_known;
    design_value low, high;
} design_range;

/* False if the expression is true for no values within the ranges, of which there is one for each name. True
 * if it may be, as far as ranges tell: what is computed twice counts as independent, and what
 * design_expr_holds refuses as anything. */
bool design_expr_may_hold(const design_expr *e, const design_range *range);

#endif
