/* The parameters of a strategy, one row each: the only list of them.
 *
 * A row drives the options of every command, space files, points files, names of points, the configuration
 * with its hash, the columns of SQL, CSV and JSON, constraints, the axes of explanations, measured runs,
 * completion and help. To add a parameter, add its row, and its meaning in the generator (workload/).
 * strategy.h says what a field means. A parameter that comes later than stored results has .omit_default, and
 * a .help, .order and .profiles of its own; nothing else knows how many there are. An axis is a figure of a
 * result as well, step_comm_<name> (store/columns.c), which needs a new version of the database.
 *
 * Not guarded: it is included with STRATEGY_PARAMETER(name, fields...) defined, and STRATEGY_AXIS(name,
 * fields...) where a degree that divides the NPUs, an axis of the mesh, is something else. Both are undefined
 * at its end. */
#ifndef STRATEGY_AXIS
#define STRATEGY_AXIS STRATEGY_PARAMETER
#endif

STRATEGY_AXIS(dp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 1, .in_name = true,
              .shards_tensors = true, .swept = STRATEGY_SWEEP_DIVISORS, .help = "data parallel degree",
              .help_of_list = "data parallel degrees")
STRATEGY_AXIS(tp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 2, .in_name = true,
              .shards_tensors = true, .swept = STRATEGY_SWEEP_DIVISORS, .help = "tensor parallel degree",
              .help_of_list = "tensor parallel degrees")
STRATEGY_AXIS(sp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 3, .in_name = true,
              .shards_tensors = true, .swept = STRATEGY_SWEEP_DIVISORS, .help = "sequence parallel degree",
              .help_of_list = "sequence parallel degrees")
STRATEGY_AXIS(pp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .order = 0, .in_name = true,
              .help = "pipeline parallel degree", .help_of_list = "pipeline parallel degrees")
STRATEGY_PARAMETER(recompute, .kind = STRATEGY_SWITCH, .order = 5, .in_name = true,
                   .swept = STRATEGY_SWEEP_ALL, .heading = "recomp", .on = "recomputing",
                   .off = "no recomputation", .noun = "recomputation",
                   .help = "recompute activations in the backward pass",
                   .help_of_list = "activation recomputation")
STRATEGY_PARAMETER(weight_sharded, .kind = STRATEGY_SWITCH, .order = 4, .suffix = "ws", .heading = "shard",
                   .on = "sharded weights", .noun = "sharded weights",
                   .help = "shard weights over dp and sp", .help_of_list = "weights sharded over dp and sp")
STRATEGY_PARAMETER(placement, .kind = STRATEGY_ORDER, .order = 6, .omit_default = true,
                   .help = "order of the axes, innermost first: tp-sp-dp-pp as Megatron has it",
                   .help_of_list = "orders of the axes, innermost first: tp-sp-dp-pp")
STRATEGY_PARAMETER(stages, .kind = STRATEGY_CHOICE, .order = 7, .omit_default = true,
                   .choices = (const char *const[]){"turns", "neighbours", NULL},
                   .help = "layers of a stage, dealt out in turn as by STAGE, or neighbours as in Megatron",
                   .help_of_list = "layers of a pipeline stage")

#undef STRATEGY_AXIS
#undef STRATEGY_PARAMETER
