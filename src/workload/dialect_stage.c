/* STAGE's dialect: branch recomp, 0b44904. The SHA-256 of all trace files of 187 workloads checks it
 * (tests/data/reference).
 *
 * It keeps these oddities for equal bytes:
 *   - "_X1COMM" lacks the underscore that "_X2_COMM" has;
 *   - operators without cost are removed after ids were given, so that ids have gaps;
 *   - only the first collectives and sends get control dependencies, and only if there are more than two;
 *   - pipeline stages are ranked in the order of their first tensor in the model, not of their coordinate;
 *   - a tensor dimension sharded by two axes counts for the first alone (coll_comm_matcher.py;
 *     collective_match.c). */
#include "workload/dialect.h"

/* A pair's send and receive are numbered together, after all nodes of all ranks. */
static uint64_t message_id(uint64_t next, uint64_t pair, bool receives) { return next + 2 * pair + receives; }

static uint32_t message_tag(uint32_t base, uint64_t pair) { return base + (uint32_t)pair; }

const wl_dialect wl_dialect_stage = {
    .shadow = WL_PIECE("shadow_"),
    .revision = {WL_PIECE("@0"), WL_PIECE("@1")},
    .suffix = {[WL_ROLE_COMPUTE] = WL_PIECE("_COMP"),
               [WL_ROLE_X1_COLL] = WL_PIECE("_X1COMM"),
               [WL_ROLE_X2_COLL] = WL_PIECE("_X2_COMM"),
               [WL_ROLE_SEND] = WL_PIECE("_Y_SEND"),
               [WL_ROLE_RECV] = WL_PIECE("_Y_RECV")},
    .print_shape = wl_shape_print,
    .shows_result =
        {[WL_ROLE_COMPUTE] = true, [WL_ROLE_X1_COLL] = true, [WL_ROLE_X2_COLL] = true, [WL_ROLE_RECV] = true},
    .first_id = 1,
    .ids_are_global = true,
    .removed_takes_id = true,
    .message_id = message_id,
    .message_tag = message_tag,
    .file_order = {WL_ROLE_COMPUTE, WL_ROLE_X1_COLL, WL_ROLE_X2_COLL, WL_ROLE_SEND, WL_ROLE_RECV},
    .stages_by_first_tensor = true,
    .least_chained = 3,
    .group = WL_PIECE(""),
    .last_axis_fastest = true,
    .match = wl_match_collectives,
};
