/* Plans from files: PyTorch's CSV form (_PipelineScheduleRuntime._load_csv, _dump_csv), one line a rank.
 *
 * The cells are read first, as they stand; then stages are given to ranks, and every (stage, micro-batch)
 * must have its passes exactly once. */
#include "base/array.h"
#include "schedule/schedule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_MICRO_BATCHES (1u << 20)

typedef struct {
    const char *name; /* the file's */
    uint32_t line;    /* from 1 */
    const char *line_start;
} place;

typedef struct {
    place at;
    sched_plan *plan;
    sched_action *action; /* grows; stage without its direction */
    uint8_t *direction;   /* of each action: 'a', 'b', or 0 */
    uint32_t *line, *column;
    size_t n_actions, cap_actions, cap_directions, cap_lines, cap_columns;
    uint32_t *first;
    size_t n_ranks, cap_first;
} reader;

static dse_status fail_here(const place *at, dse_status st, const char *where, const char *problem,
                            const char *cell, size_t n, dse_error *err)
{
    char position[256];

    snprintf(position, sizeof position, "%.200s:%" PRIu32 ":%td", at->name, at->line,
             where - at->line_start + 1);
    return dse_fail_at(err, st, position, "'%.*s' %s", n > 60 ? 60 : (int)n, cell, problem);
}

/* ---- cells --------------------------------------------------------------------------------- */

/* Digits; fails if there are none, or the number is beyond `most`. */
static bool take_number(const char **s, const char *end, uint32_t most, uint32_t *out)
{
    uint64_t v = 0;
    const char *c = *s;

    for (; c < end && *c >= '0' && *c <= '9' && v <= most; c++)
        v = v * 10 + (uint64_t)(*c - '0');
    if (c == *s || v > most)
        return false;
    *s = c;
    *out = (uint32_t)v;
    return true;
}

static bool take_word(const char **s, const char *end, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(end - *s) < n || memcmp(*s, word, n) != 0)
        return false;
    *s += n;
    return true;
}

/* "3F0" or "a3F0", of which nothing may be left. */
static bool parse_action(const char *s, const char *end, sched_action *out, uint8_t *direction)
{
    uint32_t stage, micro_batch;
    const char *kind;

    *direction = 0;
    if (s < end && (*s == 'a' || *s == 'b'))
        *direction = (uint8_t)*s++;
    if (!take_number(&s, end, SCHED_MAX_STAGES - 1, &stage) || s == end ||
        !(kind = strchr(sched_letters, *s)) || !*kind)
        return false;
    s++;
    if (!take_number(&s, end, MAX_MICRO_BATCHES - 1, &micro_batch) || s != end)
        return false;
    *out = (sched_action){
        .micro_batch = micro_batch, .stage = (uint16_t)stage, .kind = (uint8_t)(kind - sched_letters)};
    return true;
}

/* Transfers, with a micro-batch, and parameter gathering, with or without one: "2RECV_B1", "0UNSHARD". */
static bool is_no_computation(const char *s, const char *end)
{
    static const char *const words[] = {"SEND_F",  "RECV_F",  "SEND_B",     "RECV_B",
                                        "UNSHARD", "RESHARD", "REDUCE_GRAD"};
    uint32_t ignored;

    if (!take_number(&s, end, SCHED_MAX_STAGES - 1, &ignored))
        return false;
    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (take_word(&s, end, words[i]))
            return s == end || (take_number(&s, end, MAX_MICRO_BATCHES - 1, &ignored) && s == end);
    return false;
}

static void add_action(reader *r, sched_action x, uint8_t direction, const char *where)
{
    size_t n = r->n_actions++;

    DSE_GROW(r->action, r->cap_actions, n + 1);
    DSE_GROW(r->direction, r->cap_directions, n + 1);
    DSE_GROW(r->line, r->cap_lines, n + 1);
    DSE_GROW(r->column, r->cap_columns, n + 1);
    r->action[n] = x;
    r->direction[n] = direction;
    r->line[n] = r->at.line;
    r->column[n] = (uint32_t)(where - r->at.line_start + 1);
}

/* "(3F1;2B0)OVERLAP_F_B" */
static bool parse_pair(const char *s, const char *end, sched_action pair[2], uint8_t direction[2])
{
    const char *open = s + 1, *middle, *close;

    if (*s != '(' || !(middle = memchr(open, ';', (size_t)(end - open))) ||
        !(close = memchr(middle, ')', (size_t)(end - middle))))
        return false;
    s = close + 1;
    if (!take_word(&s, end, "OVERLAP_F_B") || s != end ||
        !parse_action(open, middle, &pair[0], &direction[0]) ||
        !parse_action(middle + 1, close, &pair[1], &direction[1]))
        return false;
    pair[0].with_next = true;
    return pair[0].kind == SCHED_F && (pair[1].kind == SCHED_B || pair[1].kind == SCHED_I);
}

static dse_status read_cell(reader *r, const char *s, const char *end, dse_error *err)
{
    sched_action pair[2];
    uint8_t direction[2];

    while (s < end && (*s == ' ' || *s == '"'))
        s++;
    while (end > s && (end[-1] == ' ' || end[-1] == '"'))
        end--;
    if (s == end)
        return DSE_OK;
    if (r->n_actions + 2 > SCHED_MAX_ACTIONS)
        return fail_here(&r->at, DSE_E_RANGE, s, "is one action more than a plan can have", s,
                         (size_t)(end - s), err);
    if (parse_action(s, end, &pair[0], &direction[0])) {
        add_action(r, pair[0], direction[0], s);
    } else if (parse_pair(s, end, pair, direction)) {
        add_action(r, pair[0], direction[0], s);
        add_action(r, pair[1], direction[1], s);
    } else if (is_no_computation(s, end)) {
        r->plan->n_skipped++;
    } else {
        return fail_here(
            &r->at, DSE_E_SYNTAX, s,
            "is no action; one is a stage, F, B, I or W, and a micro-batch, like 3F0, or a pair, like "
            "(3F1;2B0)OVERLAP_F_B",
            s, (size_t)(end - s), err);
    }
    return DSE_OK;
}

static dse_status read_line(reader *r, const char *s, const char *end, dse_error *err)
{
    dse_status st = DSE_OK;

    while (st == DSE_OK && s < end) {
        const char *comma = memchr(s, ',', (size_t)(end - s)), *cell_end = comma ? comma : end;

        st = read_cell(r, s, cell_end, err);
        s = comma ? comma + 1 : end;
    }
    return st;
}

static dse_status read_lines(reader *r, const char *text, size_t length, dse_error *err)
{
    const char *s = text, *end = text + length;
    dse_status st;

    while (s < end) {
        const char *newline = memchr(s, '\n', (size_t)(end - s)), *line_end = newline ? newline : end;
        size_t before = r->n_actions;

        r->at.line++;
        r->at.line_start = s;
        if (line_end > s && line_end[-1] == '\r')
            line_end--;
        DSE_GROW(r->first, r->cap_first, r->n_ranks + 2);
        r->first[r->n_ranks] = (uint32_t)before;
        if ((st = read_line(r, s, line_end, err)) != DSE_OK)
            return st;
        if (line_end == s && (!newline || newline + 1 == end))
            break; /* a last line of nothing */
        if (r->n_actions == before)
            return fail_here(&r->at, DSE_E_CONFIG, s,
                             "has no action; each line is a rank, and each rank computes", "the line", 8,
                             err);
        if (++r->n_ranks > SCHED_MAX_STAGES)
            return fail_here(&r->at, DSE_E_RANGE, s, "is one rank more than a plan can have", "the line", 8,
                             err);
        s = newline ? newline + 1 : end;
    }
    if (!r->n_ranks)
        return dse_fail_at(err, DSE_E_SYNTAX, r->at.name,
                           "there are no actions; each line is a rank's, like "
                           "0F0,0F1,0B0,0B1");
    r->first[r->n_ranks] = (uint32_t)r->n_actions;
    return DSE_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Fails at the place of an action. */
static dse_status fail_action(const reader *r, size_t i, dse_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static dse_status fail_action(const reader *r, size_t i, dse_error *err, const char *fmt, ...)
{
    char position[256], text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(position, sizeof position, "%.200s:%" PRIu32 ":%" PRIu32, r->at.name, r->line[i], r->column[i]);
    return dse_fail_at(err, DSE_E_CONFIG, position, "%s", text);
}

/* Extents, and stages that count both directions. */
static dse_status measure(reader *r, dse_error *err)
{
    sched_plan *p = r->plan;

    p->n_directions = r->direction[0] ? 2 : 1;
    for (size_t i = 0; i < r->n_actions; i++) {
        if (!r->direction[i] != !r->direction[0])
            return fail_action(r, i, err, "either all actions have a direction, a or b, or none has");
        if (r->action[i].stage >= p->n_stages)
            p->n_stages = r->action[i].stage + 1u;
        if (r->action[i].micro_batch >= p->n_micro_batches)
            p->n_micro_batches = r->action[i].micro_batch + 1;
    }
    if ((uint64_t)p->n_directions * p->n_stages > SCHED_MAX_STAGES || sched_n_slots(p) > SCHED_MAX_ACTIONS)
        return dse_fail_at(err, DSE_E_RANGE, r->at.name,
                           "%" PRIu32 " stages with %" PRIu32 " micro-batches are more than a plan can have",
                           p->n_stages, p->n_micro_batches);
    for (size_t i = 0; i < r->n_actions; i++)
        r->action[i].stage = (uint16_t)(r->action[i].stage + (r->direction[i] == 'b' ? p->n_stages : 0));
    return DSE_OK;
}

static dse_status place_stages(reader *r, dse_arena *a, dse_error *err)
{
    sched_plan *p = r->plan;
    size_t n = (size_t)p->n_directions * p->n_stages;

    p->stage_rank = DSE_ARENA_RAW(a, uint32_t, n);
    for (size_t s = 0; s < n; s++)
        p->stage_rank[s] = DSE_NONE;
    for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
        for (uint32_t i = p->first[rank]; i < p->first[rank + 1]; i++) {
            uint32_t *holder = &p->stage_rank[p->action[i].stage];

            if (*holder != DSE_NONE && *holder != rank)
                return fail_action(r, i, err,
                                   "stage %" PRIu32 " is on rank %" PRIu32 " already; a stage is on one rank",
                                   p->action[i].stage % p->n_stages, *holder);
            *holder = rank;
        }
    }
    return DSE_OK;
}

/* Each kind once: F, and either B or both of I and W. */
static dse_status check_once(reader *r, uint8_t *seen, dse_error *err)
{
    sched_plan *p = r->plan;

    for (size_t i = 0; i < r->n_actions; i++) {
        const sched_action *x = &p->action[i];
        uint8_t *had = &seen[(size_t)x->stage * p->n_micro_batches + x->micro_batch];
        unsigned bit = 1u << x->kind;
        unsigned excludes = x->kind == SCHED_B   ? 1u << SCHED_I | 1u << SCHED_W
                            : x->kind == SCHED_F ? 0
                                                 : 1u << SCHED_B;

        if (*had & bit)
            return fail_action(r, i, err, "micro-batch %" PRIu32 " has its %s in stage %" PRIu32 " twice",
                               x->micro_batch, sched_kind_names[x->kind], x->stage % p->n_stages);
        if (*had & excludes)
            return fail_action(r, i, err,
                               "micro-batch %" PRIu32 " has both B, and I or W, in stage %" PRIu32
                               "; B is I and W in one",
                               x->micro_batch, x->stage % p->n_stages);
        *had |= (uint8_t)bit;
    }
    return DSE_OK;
}

static dse_status check_complete(reader *r, const uint8_t *seen, dse_error *err)
{
    const sched_plan *p = r->plan;

    for (size_t slot = 0; slot < sched_n_slots(p); slot++) {
        uint32_t stage = (uint32_t)(slot / p->n_micro_batches);
        sched_kind lacks = !(seen[slot] & 1u << SCHED_F)                                 ? SCHED_F
                           : seen[slot] & 1u << SCHED_I && !(seen[slot] & 1u << SCHED_W) ? SCHED_W
                           : seen[slot] & 1u << SCHED_W && !(seen[slot] & 1u << SCHED_I) ? SCHED_I
                           : !(seen[slot] & (1u << SCHED_B | 1u << SCHED_I))             ? SCHED_B
                                                                                         : SCHED_KINDS;

        if (lacks == SCHED_KINDS)
            continue;
        return dse_fail_at(err, DSE_E_CONFIG, r->at.name,
                           "the %s of micro-batch %zu in stage %" PRIu32 "%s is missing; there are %" PRIu32
                           " stages and %" PRIu32 " micro-batches, by the largest numbers in the file",
                           sched_kind_names[lacks], slot % p->n_micro_batches, stage % p->n_stages,
                           p->n_directions == 1  ? ""
                           : stage < p->n_stages ? " of direction a"
                                                 : " of direction b",
                           p->n_stages, p->n_micro_batches);
    }
    return DSE_OK;
}

static dse_status finish(reader *r, dse_arena *a, dse_error *err)
{
    sched_plan *p = r->plan;
    uint8_t *seen;
    dse_status st;

    if ((st = measure(r, err)) != DSE_OK)
        return st;
    p->n_ranks = (uint32_t)r->n_ranks;
    p->action = dse_arena_copy(a, r->action, r->n_actions, sizeof *r->action);
    p->first = dse_arena_copy(a, r->first, r->n_ranks + 1, sizeof *r->first);
    if ((st = place_stages(r, a, err)) != DSE_OK)
        return st;
    seen = dse_calloc(sched_n_slots(p), 1);
    if ((st = check_once(r, seen, err)) == DSE_OK)
        st = check_complete(r, seen, err);
    dse_free(seen);
    return st;
}

dse_status sched_read_csv(const char *text, size_t length, const char *name, dse_arena *a, sched_plan *out,
                          dse_error *err)
{
    sched_plan plan = {0};
    reader r = {.at = {.name = name}, .plan = &plan};
    dse_status st = read_lines(&r, text, length, err);

    if (st == DSE_OK)
        st = finish(&r, a, err);
    if (st == DSE_OK)
        *out = plan;
    dse_free(r.action);
    dse_free(r.direction);
    dse_free(r.line);
    dse_free(r.column);
    dse_free(r.first);
    return st;
}

dse_status sched_check_sizes(const sched_plan *p, const sched_options *o, const char *name, dse_error *err)
{
    uint32_t micro_batches = p->n_directions * p->n_micro_batches, stages = p->n_directions * p->n_stages;

    if (o->pp && o->pp != p->n_ranks)
        return dse_fail_at(err, DSE_E_RANGE, name, "there are %" PRIu32 " ranks, not --pp %" PRIu32,
                           p->n_ranks, o->pp);
    if (o->micro_batches && o->micro_batches != micro_batches)
        return dse_fail_at(err, DSE_E_RANGE, name,
                           "there are %" PRIu32 " micro-batches, not --micro-batches %" PRIu32, micro_batches,
                           o->micro_batches);
    if (o->vp && (uint64_t)o->vp * p->n_ranks != stages)
        return dse_fail_at(err, DSE_E_RANGE, name,
                           "there are %" PRIu32 " stages on %" PRIu32 " ranks, not --vp %" PRIu32 " on each",
                           stages, p->n_ranks, o->vp);
    return DSE_OK;
}
