#include "design/expr.h"

#include "base/array.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES 1000
#define MAX_DEPTH 50
/* Chains within chains evaluate what they share again; all else takes as many steps as it has nodes. */
#define MAX_STEPS 10000

typedef enum {
    OP_CONSTANT,
    OP_NAME, /* left: its number */
    OP_NOT,
    OP_NEGATE,
    OP_AND,
    OP_OR,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_FLOOR_DIVIDE,
    OP_DIVIDE,
    OP_MODULO
} op;

struct design_expr_node {
    op op;
    uint32_t left, right; /* nodes */
    design_value constant;
};

/* ---- parsing ------------------------------------------------------------------------------- */

typedef struct {
    design_expr *e;
    const char *at;
    dse_arena *arena;
    size_t cap_nodes, cap_names;
    uint32_t depth;
    dse_error *err;
    dse_status status;
} parser;

/* Binary operators by how tightly they bind; the longer spelling first. */
#define N_LEVELS 5
static const struct {
    const char *spelling;
    int level;
    op op;
} operators[] = {
    {"or", 0, OP_OR},      {"||", 0, OP_OR},           {"and", 1, OP_AND},
    {"&&", 1, OP_AND},     {"==", 2, OP_EQ},           {"!=", 2, OP_NE},
    {"<=", 2, OP_LE},      {">=", 2, OP_GE},           {"<", 2, OP_LT},
    {">", 2, OP_GT},       {"+", 3, OP_ADD},           {"-", 3, OP_SUBTRACT},
    {"*", 4, OP_MULTIPLY}, {"//", 4, OP_FLOOR_DIVIDE}, {"/", 4, OP_DIVIDE},
    {"%", 4, OP_MODULO},
};

static const struct {
    const char *word;
    int64_t value;
} words[] = {{"true", 1}, {"True", 1}, {"yes", 1}, {"false", 0}, {"False", 0}, {"no", 0}};

static uint32_t fail(parser *p, const char *what)
{
    if (p->status == DSE_OK) {
        if (*p->at)
            p->status = dse_fail(p->err, DSE_E_CONFIG, "in '%.100s': %s at '%.40s'", p->e->text, what, p->at);
        else
            p->status = dse_fail(p->err, DSE_E_CONFIG, "in '%.100s': %s at its end", p->e->text, what);
    }
    return 0;
}

static void skip_spaces(parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool is_name_byte(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

/* Takes `word` if it stands here, whole. */
static bool take(parser *p, const char *word)
{
    size_t n = strlen(word);

    skip_spaces(p);
    if (strncmp(p->at, word, n) || (isalpha((unsigned char)*word) && is_name_byte(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static uint32_t add_node(parser *p, op o, uint32_t left, uint32_t right)
{
    if (p->status != DSE_OK)
        return 0;
    DSE_ARENA_GROW(p->arena, p->e->node, p->cap_nodes, p->e->n_nodes + 1);
    p->e->node[p->e->n_nodes] = (design_expr_node){.op = o, .left = left, .right = right};
    return p->e->n_nodes++;
}

static uint32_t add_constant(parser *p, design_value v)
{
    uint32_t i = add_node(p, OP_CONSTANT, 0, 0);

    if (p->status == DSE_OK)
        p->e->node[i].constant = v;
    return i;
}

static uint32_t parse_number(parser *p)
{
    char text[40];
    size_t n = 0;
    design_value v = {0};

    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '.' ||
           ((p->at[n] == '-' || p->at[n] == '+') && n && strchr("eE", p->at[n - 1])))
        n++;
    snprintf(text, sizeof text, "%.*s", n < sizeof text ? (int)n : 0, p->at);
    if (dse_parse_int(text, &v.integer, NULL) == DSE_OK)
        v.kind = DESIGN_INT;
    else if (n && strspn(p->at, "0123456789") == n)
        return fail(p, "a number that does not fit 64 bits");
    else if (dse_parse_double(text, &v.real, NULL) == DSE_OK && isfinite(v.real))
        v.kind = DESIGN_REAL;
    else
        return fail(p, "expected a number");
    p->at += n;
    return add_constant(p, v);
}

static uint32_t parse_text(parser *p)
{
    char quote = *p->at++;
    const char *end = strchr(p->at, quote);
    design_value v = {.kind = DESIGN_TEXT};

    if (!end)
        return fail(p, "a quote without its other half");
    v.text = dse_arena_strndup(p->arena, p->at, (size_t)(end - p->at));
    p->at = end + 1;
    return add_constant(p, v);
}

static uint32_t name_number(parser *p, const char *name)
{
    for (uint32_t i = 0; i < p->e->n_names; i++)
        if (!strcmp(p->e->name[i], name))
            return i;
    DSE_ARENA_GROW(p->arena, p->e->name, p->cap_names, p->e->n_names + 1);
    p->e->name[p->e->n_names] = name;
    return p->e->n_names++;
}

static uint32_t parse_name(parser *p)
{
    size_t n = 0;
    char *name;

    while (is_name_byte(p->at[n]))
        n++;
    if (p->at[n] == '[') {
        n += 1 + strspn(p->at + n + 1, "0123456789");
        if (p->at[n] != ']')
            return fail(p, "expected the number of an element");
        n++;
    }
    name = dse_arena_strndup(p->arena, p->at, n);
    p->at += n;
    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (!strcmp(words[i].word, name))
            return add_constant(p, (design_value){DESIGN_INT, {words[i].value}});
    return add_node(p, OP_NAME, name_number(p, name), 0);
}

static uint32_t parse_level(parser *p, int level);

static uint32_t parse_value(parser *p)
{
    uint32_t inner;

    skip_spaces(p);
    if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
        return parse_number(p);
    if (*p->at == '\'' || *p->at == '"')
        return parse_text(p);
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_name(p);
    if (!take(p, "("))
        return fail(p, "expected a value");
    inner = parse_level(p, 0);
    return p->status == DSE_OK && !take(p, ")") ? fail(p, "expected ')'") : inner;
}

/* '-x' binds tighter than every operator; 'not x' takes a whole comparison, as in Python. */
static uint32_t parse_unary(parser *p, int level)
{
    uint32_t i;
    bool negate;

    skip_spaces(p);
    if (p->at[0] == '!' && p->at[1] == '=')
        return fail(p, "expected a value");
    negate = take(p, "-");
    if (!negate && !take(p, "not") && !take(p, "!"))
        return parse_value(p);
    if (p->depth == MAX_DEPTH)
        return fail(p, "too deep");
    p->depth++;
    i = negate ? parse_unary(p, level) : parse_level(p, 2);
    p->depth--;
    return add_node(p, negate ? OP_NEGATE : OP_NOT, i, 0);
}

/* The operator of this level that stands here, taken; OP_CONSTANT: none. */
static op take_operator(parser *p, int level)
{
    for (size_t i = 0; i < DSE_COUNT(operators); i++)
        if (operators[i].level == level && !(operators[i].op == OP_DIVIDE && !strncmp(p->at, "//", 2)) &&
            take(p, operators[i].spelling))
            return operators[i].op;
    return OP_CONSTANT;
}

static uint32_t parse_level(parser *p, int level)
{
    uint32_t left, right, chain = UINT32_MAX;
    op o;

    if (p->depth == MAX_DEPTH)
        return fail(p, "too deep");
    if (p->status != DSE_OK)
        return 0;
    if (level == N_LEVELS)
        return parse_unary(p, level);
    p->depth += level == 0;
    left = parse_level(p, level + 1);
    while (p->status == DSE_OK && (o = take_operator(p, level)) != OP_CONSTANT) {
        right = parse_level(p, level + 1);
        if (level != 2) {
            left = add_node(p, o, left, right);
            continue;
        }
        /* a < b < c is a < b and b < c */
        left = add_node(p, o, left, right);
        chain = chain == UINT32_MAX ? left : add_node(p, OP_AND, chain, left);
        left = right;
    }
    p->depth -= level == 0;
    return chain == UINT32_MAX ? left : chain;
}

dse_status design_expr_parse(const char *text, dse_arena *a, design_expr *out, dse_error *err)
{
    parser p = {.e = out, .at = text, .arena = a, .err = err};

    *out = (design_expr){.text = dse_arena_strdup(a, text)};
    if (strlen(text) > MAX_BYTES)
        return dse_fail(err, DSE_E_CONFIG, "'%.40s...' is longer than %d characters", text, MAX_BYTES);
    out->whole = parse_level(&p, 0);
    skip_spaces(&p);
    if (p.status == DSE_OK && *p.at)
        fail(&p, "expected an operator");
    return p.status;
}

/* ---- evaluation ---------------------------------------------------------------------------- */

typedef struct {
    const design_expr *e;
    const design_value *value;
    uint32_t steps;
    dse_error *err;
    dse_status status;
} evaluation;

static design_value wrong(evaluation *v, const char *what)
{
    if (v->status == DSE_OK)
        v->status = dse_fail(v->err, DSE_E_CONFIG, "'%.100s': %s", v->e->text, what);
    return (design_value){0};
}

static design_value integer(int64_t i) { return (design_value){DESIGN_INT, {i}}; }

static double as_real(design_value x) { return x.kind == DESIGN_INT ? (double)x.integer : x.real; }

static bool is_true(evaluation *v, design_value x)
{
    if (x.kind == DESIGN_TEXT)
        wrong(v, "a text is neither true nor false");
    return x.kind == DESIGN_INT ? x.integer != 0 : x.kind == DESIGN_REAL && x.real != 0;
}

/* Less than 0, 0, more than 0, whatever a double would make of the integer: not every one is a double. */
static int order_mixed(int64_t i, double r)
{
    int64_t whole;

    if (r >= 0x1p63 || r < -0x1p63)
        return r < 0 ? 1 : -1;
    whole = (int64_t)r; /* towards 0 */
    if (i != whole)
        return i < whole ? -1 : 1;
    return (double)whole < r ? -1 : (double)whole > r; /* exact: what has a fraction is below 2^53 */
}

static int order(design_value a, design_value b)
{
    if (a.kind == DESIGN_INT && b.kind == DESIGN_INT)
        return a.integer < b.integer ? -1 : a.integer > b.integer;
    if (a.kind == DESIGN_INT)
        return order_mixed(a.integer, b.real);
    if (b.kind == DESIGN_INT)
        return -order_mixed(b.integer, a.real);
    return a.real < b.real ? -1 : a.real > b.real;
}

static design_value compare(evaluation *v, op o, design_value a, design_value b)
{
    bool texts = a.kind == DESIGN_TEXT && b.kind == DESIGN_TEXT;
    int c;

    if (!texts && (a.kind == DESIGN_TEXT || b.kind == DESIGN_TEXT))
        return wrong(v, "a text is compared with a number");
    if (texts && o != OP_EQ && o != OP_NE)
        return wrong(v, "texts are equal or not, but none is larger");
    c = texts ? strcmp(a.text, b.text) : order(a, b);
    switch (o) {
    case OP_EQ: return integer(c == 0);
    case OP_NE: return integer(c != 0);
    case OP_LE: return integer(c <= 0);
    case OP_GE: return integer(c >= 0);
    case OP_LT: return integer(c < 0);
    default: return integer(c > 0);
    }
}

/* Rounded down. */
static int64_t floor_divide(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

/* What that leaves: of the sign of b. */
static int64_t modulo(int64_t a, int64_t b) { return a % b + ((a % b != 0) && ((a < 0) != (b < 0)) ? b : 0); }

static design_value integers(evaluation *v, op o, int64_t a, int64_t b)
{
    int64_t out = 0;
    bool overflow = false;

    if ((o == OP_FLOOR_DIVIDE || o == OP_MODULO) && b == -1) /* INT64_MIN / -1 */
        return o == OP_MODULO ? integer(0) : integers(v, OP_SUBTRACT, 0, a);
    switch (o) {
    case OP_ADD: overflow = __builtin_add_overflow(a, b, &out); break;
    case OP_SUBTRACT: overflow = __builtin_sub_overflow(a, b, &out); break;
    case OP_MULTIPLY: overflow = __builtin_mul_overflow(a, b, &out); break;
    case OP_FLOOR_DIVIDE: out = floor_divide(a, b); break;
    default: out = modulo(a, b); break;
    }
    return overflow ? wrong(v, "a number does not fit 64 bits") : integer(out);
}

/* As in Python, which takes the floor of the exact quotient: 1 // 0.1 is 9, since the double nearest to 0.1
 * is a little more, and 1 % 0.1 is almost 0.1. The remainder has the sign of b. */
static double divide_real(double a, double b, double *remainder)
{
    double rest = fmod(a, b), quotient = (a - rest) / b, whole;

    if (rest != 0 && (rest < 0) != (b < 0)) {
        rest += b;
        quotient -= 1;
    }
    *remainder = rest;
    whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole; /* it is whole, but for rounding */
}

static design_value reals(evaluation *v, op o, double a, double b)
{
    double out, rest;

    switch (o) {
    case OP_ADD: out = a + b; break;
    case OP_SUBTRACT: out = a - b; break;
    case OP_MULTIPLY: out = a * b; break;
    case OP_DIVIDE: out = a / b; break;
    case OP_FLOOR_DIVIDE: out = divide_real(a, b, &rest); break;
    default: divide_real(a, b, &out); break;
    }
    return isfinite(out) ? (design_value){.kind = DESIGN_REAL, .real = out}
                         : wrong(v, "a number is too large");
}

static design_value calculate(evaluation *v, op o, design_value a, design_value b)
{
    bool divides = o == OP_DIVIDE || o == OP_FLOOR_DIVIDE || o == OP_MODULO;

    if (a.kind == DESIGN_TEXT || b.kind == DESIGN_TEXT)
        return wrong(v, "a text is not a number");
    if (divides && as_real(b) == 0)
        return wrong(v, "a division by 0");
    if (o != OP_DIVIDE && a.kind == DESIGN_INT && b.kind == DESIGN_INT)
        return integers(v, o, a.integer, b.integer);
    return reals(v, o, as_real(a), as_real(b));
}

static design_value evaluate(evaluation *v, uint32_t i)
{
    const design_expr_node *n = &v->e->node[i];
    design_value left, right;

    if (v->status != DSE_OK)
        return (design_value){0};
    if (v->steps++ == MAX_STEPS)
        return wrong(v, "it takes too many steps");
    if (n->op == OP_CONSTANT)
        return n->constant;
    if (n->op == OP_NAME)
        return v->value[n->left];
    left = evaluate(v, n->left);
    if (v->status != DSE_OK)
        return left;
    switch (n->op) {
    case OP_NOT: return integer(!is_true(v, left));
    case OP_NEGATE: return calculate(v, OP_SUBTRACT, integer(0), left);
    case OP_AND: return is_true(v, left) ? integer(is_true(v, evaluate(v, n->right))) : integer(0);
    case OP_OR: return is_true(v, left) ? integer(1) : integer(is_true(v, evaluate(v, n->right)));
    default: break;
    }
    right = evaluate(v, n->right);
    if (v->status != DSE_OK)
        return right;
    return n->op <= OP_GT ? compare(v, n->op, left, right) : calculate(v, n->op, left, right);
}

dse_status design_expr_holds(const design_expr *e, const design_value *value, bool *out, dse_error *err)
{
    evaluation v = {.e = e, .value = value, .err = err};
    design_value whole = evaluate(&v, e->whole);
    bool holds = v.status == DSE_OK && is_true(&v, whole);

    if (v.status == DSE_OK)
        *out = holds;
    return v.status;
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* The values that a node may have: the numbers from `low` to `high`, of which truth values are those from 0
 * to 1; a text; or anything. */
typedef struct {
    bool is_any;
    const char *text; /* NULL: numbers */
    double low, high;
} span;

/* Integers above it are not all doubles: nothing is claimed of them. */
#define MOST_EXACT 0x1p53

static span anything(void) { return (span){.is_any = true}; }

static span numbers(double low, double high)
{
    return low >= -MOST_EXACT && high <= MOST_EXACT ? (span){.low = low, .high = high} : anything();
}

static span span_of(const design_range *r)
{
    if (!r->is_known)
        return anything();
    return r->low.kind == DESIGN_TEXT ? (span){.text = r->low.text}
                                      : numbers(as_real(r->low), as_real(r->high));
}

static bool may_be_true(span x) { return x.is_any || x.text || x.low < 0 || x.high > 0; }
static bool may_be_false(span x) { return x.is_any || x.text || (x.low <= 0 && x.high >= 0); }
static span truth(bool may_be, bool may_not) { return numbers(may_not ? 0 : 1, may_be ? 1 : 0); }
static bool is_one(span x) { return !(x.low < x.high); }

static span compare_spans(op o, span a, span b)
{
    const bool apart = a.high < b.low || b.high < a.low, same = is_one(a) && is_one(b) && !apart;

    if (a.is_any || b.is_any || !a.text != !b.text)
        return truth(true, true);
    if (a.text)
        return truth(!strcmp(a.text, b.text) == (o == OP_EQ), !strcmp(a.text, b.text) != (o == OP_EQ));
    switch (o) {
    case OP_EQ: return truth(!apart, !same);
    case OP_NE: return truth(!same, !apart);
    case OP_LE: return truth(a.low <= b.high, a.high > b.low);
    case OP_GE: return truth(a.high >= b.low, a.low < b.high);
    case OP_LT: return truth(a.low < b.high, a.high >= b.low);
    default: return truth(a.high > b.low, a.low <= b.high);
    }
}

/* Of what is monotone in both: the extremes are among the corners. */
static span corners(double a, double b, double c, double d)
{
    return numbers(fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)));
}

/* What a quotient is rounded down to may be one less than that of its double (divide_real). */
static span divide_spans(op o, span a, span b)
{
    span q;

    if (b.low <= 0 && b.high >= 0)
        return anything();
    if (o == OP_MODULO && !(is_one(a) && is_one(b)))
        return b.low > 0 ? numbers(0, b.high) : numbers(b.low, 0);
    if (o == OP_MODULO) {
        divide_real(a.low, b.low, &q.low);
        return numbers(q.low, q.low);
    }
    q = corners(a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high);
    return o == OP_DIVIDE || q.is_any ? q : numbers(floor(q.low) - 1, floor(q.high));
}

static span calculate_span(op o, span a, span b)
{
    if (a.is_any || b.is_any || a.text || b.text)
        return anything();
    switch (o) {
    case OP_ADD: return numbers(a.low + b.low, a.high + b.high);
    case OP_SUBTRACT: return numbers(a.low - b.high, a.high - b.low);
    case OP_MULTIPLY: return corners(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
    default: return divide_spans(o, a, b);
    }
}

static span evaluate_span(const design_expr *e, uint32_t i, const design_range *range, uint32_t *steps)
{
    const design_expr_node *n = &e->node[i];
    span a, b;

    if ((*steps)++ >= MAX_STEPS)
        return anything();
    if (n->op == OP_CONSTANT)
        return span_of(&(design_range){true, n->constant, n->constant});
    if (n->op == OP_NAME)
        return span_of(&range[n->left]);
    a = evaluate_span(e, n->left, range, steps);
    if (n->op == OP_NOT)
        return truth(may_be_false(a), may_be_true(a));
    if (n->op == OP_NEGATE)
        return calculate_span(OP_SUBTRACT, numbers(0, 0), a);
    b = evaluate_span(e, n->right, range, steps);
    switch (n->op) {
    case OP_AND: return truth(may_be_true(a) && may_be_true(b), may_be_false(a) || may_be_false(b));
    case OP_OR: return truth(may_be_true(a) || may_be_true(b), may_be_false(a) && may_be_false(b));
    default: return n->op <= OP_GT ? compare_spans(n->op, a, b) : calculate_span(n->op, a, b);
    }
}

bool design_expr_may_hold(const design_expr *e, const design_range *range)
{
    uint32_t steps = 0;

    return may_be_true(evaluate_span(e, e->whole, range, &steps));
}
