/* The points of STAGE's branch main (stage.version: main of the model card, profile stage): what its options
 * are.
 *
 * | STAGE | here |
 * |---|---|
 * | --model_type | operators: transformer or dense, gpt, llama, moe, debug; decoder with experts is moe |
 * | --dvocal, --dmodel, --dff, --head, --num_stacks, --batch, --seq | vocabulary, d_model, d_ff, heads, ... |
 * | --kvhead, --experts, --kexperts | kv_heads, experts, experts_per_token; --dff of moe: d_ff_expert |
 * | --micro_batch | stage.micro_batch, over all ranks |
 * | --mixed_precision | precision: mixed, else none |
 * | --tp, --sp, --pp, --weight_sharded | the same; sp is its context parallelism |
 * | --dp, --ep | dp / ep and ep: ep is taken from the dp ranks, as in profile train |
 * | --tpsp | sequence_parallel |
 *
 * What main cannot express is refused, as a value without effect would be. */
#ifndef DSE_DRIVER_STAGE_MAIN_H
#define DSE_DRIVER_STAGE_MAIN_H

#include "driver/study.h"
#include "workload/stage_main.h"

/* Stands where the hash of the operators' text does: the branch's templates are part of the program. */
#define DRV_STAGE_MAIN_OPERATORS "STAGE main 9ec6c02"

/* What STAGE would be given for a point. DSE_E_CONFIG, DSE_E_RANGE: it cannot be, or STAGE refuses it. */
dse_status drv_stage_main_options(const drv_study *s, const strategy *p, wl_main_options *out,
                                  dse_error *err);

/* The workload of a point, with the mesh of its ranks, in which groups of ep lie along no axis. */
dse_status drv_stage_main_generate(const drv_study *s, const strategy *p, dse_arena *a, wl_workload *out,
                                   dse_error *err);

/* The same options as words of its command line, two for each; appended to `word`, which has room for
 * DRV_STAGE_MAIN_WORDS. Returns how many. */
enum { DRV_STAGE_MAIN_WORDS = 40 };
size_t drv_stage_main_words(const wl_main_options *o, dse_arena *a, const char **word);

#endif
