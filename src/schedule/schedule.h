/* schedule -- pipeline schedules: which rank runs which piece of the training step, in which order.
 *
 * The layers of a model are cut into stages 0 .. S-1. A rank holds one or more of them; a stage of a rank is
 * a chunk, in Megatron a "virtual stage". A micro-batch passes all stages forward and then all stages
 * backward. An action is one such pass of one micro-batch through one stage. A plan has, for each rank, its
 * actions in the order in which the rank executes them, strictly. A plan knows no times: compose.h adds them.
 *
 * Sources of the rules: PyTorch 2.14 (torch/distributed/pipelining/schedules.py), Megatron-LM (core/
 * pipeline_parallel/schedules.py), DualPipe (deepseek-ai); the file of each rule names its paper.
 * README.md says how they were checked. */
#ifndef DSE_SCHEDULE_SCHEDULE_H
#define DSE_SCHEDULE_SCHEDULE_H

#include "base/alloc.h"
#include "base/strbuf.h"

/* Passes of a micro-batch through a stage. B is I and W in one piece: a stage's micro-batch has either B,
 * or I and W. */
typedef enum {
    SCHED_F, /* forward */
    SCHED_B, /* whole backward */
    SCHED_I, /* gradient of the input */
    SCHED_W, /* gradient of the weights */
    SCHED_KINDS
} sched_kind;

extern const char sched_letters[SCHED_KINDS + 1];       /* "FBIW" */
extern const char *const sched_kind_names[SCHED_KINDS]; /* "forward", "backward", "input gradient", .. */

/* Whether a pass of this kind makes the gradients of weights. */
static inline bool sched_makes_gradients(sched_kind kind) { return kind == SCHED_B || kind == SCHED_W; }

typedef struct {
    uint32_t micro_batch; /* of its direction */
    uint16_t stage;       /* of the plan: see sched_plan */
    uint8_t kind;         /* sched_kind */
    bool with_next;       /* an F that overlaps with the action behind it, which is a B or I: one pair, which
                             starts when both can */
} sched_action;
_Static_assert(sizeof(sched_action) == 8, "there are millions of them");

/* sched_plan -- the actions of all ranks. All arrays belong to the arena that the plan was made with.
 *
 * With two directions (DualPipe) the ranks hold the model twice: the stages of direction a are 0 .. S-1,
 * those of direction b S .. 2S-1. A micro-batch belongs to one direction and is counted within it. */
typedef struct {
    uint32_t n_ranks, n_directions;
    uint32_t n_stages;        /* S, of one direction */
    uint32_t n_micro_batches; /* of one direction */
    uint32_t *stage_rank;     /* [n_directions * n_stages] */
    sched_action *action;     /* rank by rank */
    uint32_t *first;    /* [n_ranks + 1] where a rank's actions begin in it; the last one is their number */
    uint32_t n_skipped; /* actions of a file that are no computation: transfers, parameter gathering */
} sched_plan;

/* Whose conditions refuse a plan. */
typedef enum {
    SCHED_LIKE_ANY, /* what can be executed at all */
    SCHED_LIKE_PYTORCH,
    SCHED_LIKE_MEGATRON,
    SCHED_LIKE_DEEPSPEED, /* 1F1B alone (deepspeed/runtime/pipe/schedule.py) */
    SCHED_LIKES
} sched_like;

typedef struct {
    uint32_t pp;            /* ranks */
    uint32_t micro_batches; /* of a step, on one data-parallel rank; in both directions together */
    uint32_t vp;            /* chunks of a rank; 0: as the schedule has it, or one */
    /* micro-batches that pass a chunk before the next chunk's turn; 0: the default of `like`
     * (interleaved.c) */
    uint32_t group_size;
    bool overlap_moe; /* one more forward before the first backward: Megatron's
                               overlap_moe_expert_parallel_comm */
    /* with overlap_moe: a forward pass and the backward pass behind it are a pair (with_next). 1F1B of a
     * pipeline of one rank has this, too */
    bool overlap_pairs;
    sched_like like;
} sched_options;

#define SCHED_MAX_STAGES  65536u
#define SCHED_MAX_ACTIONS (1u << 24)

typedef struct sched_def sched_def; /* a schedule: parts.h */

/* The schedule of a name: ours, or that of PyTorch's class, in any case of letters. NULL: there is none. */
const sched_def *sched_find(const char *name);
const char *sched_name(const sched_def *d);
const char *sched_summary(const sched_def *d);
bool sched_has(const sched_def *d, sched_like like); /* whether that program has the schedule */
uint32_t sched_default_vp(const sched_def *d);       /* chunks of a rank where the options say none: 1 or 2 */
uint32_t sched_directions(const sched_def *d);       /* in which micro-batches pass the ranks: 1 or 2 */

/* Our names, in the order of schedule_list.h; NULL-terminated. */
extern const char *const sched_names[];

/* Fills in a plan. DSE_E_RANGE if a condition of the schedule, or of o->like, does not hold; the text has
 * the rule and the nearest values that work. */
dse_status sched_make(const sched_def *d, const sched_options *o, dse_arena *a, sched_plan *out,
                      dse_error *err);

/* Whether sched_make would refuse, and why; without a plan, but for groups of micro-batches that are not
 * full. */
dse_status sched_check(const sched_def *d, const sched_options *o, dse_error *err);

/* Reads a plan as PyTorch writes it to CSV: a line for each rank, a cell for each action, empty cells
 * ignored; and plans of two directions as sched_add_row writes them. `name` is the file's, for messages,
 * which are at name:line:column. Which rank holds which stage, and how many micro-batches there are, follows
 * from the actions. Cells that are no computation are counted in n_skipped. DSE_E_SYNTAX for a cell that is
 * no action; DSE_E_CONFIG for actions that are missing, twice or on two ranks; DSE_E_RANGE for plans beyond
 * the limits above. It does not find deadlocks: sched_order_make does. */
dse_status sched_read_csv(const char *text, size_t length, const char *name, dse_arena *a, sched_plan *out,
                          dse_error *err);

/* Whether a plan has the sizes that are given in *o, as far as they are not 0: DSE_E_RANGE if not. `name`
 * is the file's. */
dse_status sched_check_sizes(const sched_plan *p, const sched_options *o, const char *name, dse_error *err);

/* Appends "3F0", or "a3F0" if there are two directions. */
void sched_add_action(const sched_plan *p, const sched_action *action, dse_strbuf *out);
/* The same of actions[0], together with the next one if they are a pair: "(3F1;2B0)OVERLAP_F_B". */
void sched_add_cell(const sched_plan *p, const sched_action *action, dse_strbuf *out);
/* All of a rank: cells joined by ",". */
void sched_add_row(const sched_plan *p, uint32_t rank, dse_strbuf *out);

/* For each rank the largest number of (stage, micro-batch) whose F has been done and whose I or B has not,
 * and the same until W or B. They bound the activations that a rank keeps. Both arrays: [n_ranks], the
 * caller's. */
void sched_peak_live(const sched_plan *p, uint32_t *until_input_gradient, uint32_t *until_weight_gradient);

/* Of each action of a rank, from p->first on: whether it is the last of its stage that makes gradients of
 * weights. In the arena. */
bool *sched_last_gradients(const sched_plan *p, uint32_t rank, dse_arena *a);

static inline uint32_t sched_n_actions(const sched_plan *p) { return p->first[p->n_ranks]; }

/* Which of its rank's chunks each stage is, [n_directions * n_stages], and how many each rank has, [n_ranks].
 * Both arrays are the caller's. */
void sched_find_chunks(const sched_plan *p, uint32_t *chunk, uint32_t *n_chunks);

/* Stages of all directions in the order of the model, and within that of directions: both holders of a stage
 * have theirs in the same order. The n-th of n_directions * n_stages. */
static inline uint32_t sched_nth_stage(const sched_plan *p, uint32_t n)
{
    return n / p->n_directions + n % p->n_directions * p->n_stages;
}

/* How many (stage, micro-batch) there are. */
static inline size_t sched_n_slots(const sched_plan *p)
{
    return (size_t)p->n_directions * p->n_stages * p->n_micro_batches;
}

#endif
