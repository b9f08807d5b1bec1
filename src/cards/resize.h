/* card_system_resize -- a part of a machine: what a job on so many of its NPUs runs on.
 *
 * The dimensions of a machine card are its parts, the innermost (a node) first: [8, 64] is 64 nodes of 8. A
 * job takes whole inner parts before a further outer one: 4 NPUs of it are one dimension of 4, 16 are [8, 2].
 * A dimension of which a job uses one only is left out, with its entry of every list (bandwidth, latency,
 * implementations). A job of one NPU is refused: there is no network of one. Part of a Ring is taken for a
 * Ring of so many, as it is if npus_count is set; a mesh or torus of several axes is taken whole or not at
 * all. */
#ifndef DSE_CARDS_RESIZE_H
#define DSE_CARDS_RESIZE_H

#include "cards/system.h"

/* *out may be the machine, and changes on success only. DSE_E_CONFIG: more NPUs than the machine has; so many
 * that do not fill whole inner parts; a mesh or torus that would have to be cut; below 2. */
dse_status card_system_resize(const card_system *machine, uint64_t npus, card_system *out, dse_error *err);

/* The setting that gives a machine so many NPUs, in the arena: of its last dimension
 * ("network.npus_count[1]=16"), also where that makes it larger; else of a part of it ("network.part=4").
 * Fails as card_system_resize, and where a real node would become larger: DSE_E_CONFIG. */
dse_status card_system_size(const card_system *machine, uint64_t npus, dse_arena *a, const char **out,
                            dse_error *err);

/* NPUs that the last dimension joins: those of a node in a network of two. 1 of one dimension. */
uint64_t card_system_inner(const card_system *s);

#endif
