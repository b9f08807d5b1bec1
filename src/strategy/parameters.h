/* The parameters of a strategy, one row each: the only list of them.
 *
 * A row drives the options of every command, space files, points files, names of points, the configuration with its
 * hash, the columns of SQL, CSV and JSON, constraints, the axes of explanations, measured runs, completion and help. To
 * add a parameter, add its row, and its meaning in the generator (workload/). strategy.h says what a field means.
 *
 * Not guarded: it is included with STRATEGY_PARAMETER(name, fields...) defined, and STRATEGY_AXIS(name, fields...) where
 * a degree that divides the NPUs, an axis of the mesh, is something else. Both are undefined at its end. */
#ifndef STRATEGY_AXIS
#define STRATEGY_AXIS STRATEGY_PARAMETER
#endif

STRATEGY_AXIS(dp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .swept = STRATEGY_SWEEP_DIVISORS,
                   .shards_tensors = true, .in_name = true, .order = 1, .heading = "dp",
                   .help = "data parallel degree", .help_of_list = "data parallel degrees")
STRATEGY_AXIS(tp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .swept = STRATEGY_SWEEP_DIVISORS,
                   .shards_tensors = true, .in_name = true, .order = 2, .heading = "tp",
                   .help = "tensor parallel degree", .help_of_list = "tensor parallel degrees")
STRATEGY_AXIS(sp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .swept = STRATEGY_SWEEP_DIVISORS,
                   .shards_tensors = true, .in_name = true, .order = 3, .heading = "sp",
                   .help = "sequence parallel degree", .help_of_list = "sequence parallel degrees")
STRATEGY_AXIS(pp, .kind = STRATEGY_DEGREE, .min = 1, .fallback = 1, .in_name = true,
                   .order = 0, .heading = "pp", .help = "pipeline parallel degree", .help_of_list = "pipeline parallel degrees")
STRATEGY_PARAMETER(recompute, .kind = STRATEGY_SWITCH, .swept = STRATEGY_SWEEP_ALL, .in_name = true, .order = 5,
                   .heading = "recomp", .on = "recomputing", .off = "no recomputation", .noun = "recomputation",
                   .help = "recompute activations in the backward pass", .help_of_list = "activation recomputation")
STRATEGY_PARAMETER(weight_sharded, .kind = STRATEGY_SWITCH, .order = 4, .heading = "shard", .suffix = "ws",
                   .on = "sharded weights", .noun = "sharded weights", .help = "shard weights over dp and sp", .help_of_list = "weights sharded over dp and sp")
STRATEGY_PARAMETER(placement, .kind = STRATEGY_ORDER, .omit_default = true, .order = 6, .heading = "placement",
                   .help = "order of the axes, innermost first: tp-sp-dp-pp as Megatron has it",
                   .help_of_list = "orders of the axes, innermost first: tp-sp-dp-pp")
STRATEGY_PARAMETER(stages, .kind = STRATEGY_CHOICE, .omit_default = true, .order = 7, .heading = "stages",
                   .choices = (const char *const[]){"turns", "neighbours", NULL},
                   .help = "layers of a pipeline stage, dealt out in turn as by STAGE, or neighbours as in Megatron",
                   .help_of_list = "layers of a pipeline stage")

#undef STRATEGY_AXIS
#undef STRATEGY_PARAMETER
