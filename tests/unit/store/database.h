/* A database in a folder of its own, and rows to put there. */
#ifndef UNIT_STORE_DATABASE_H
#define UNIT_STORE_DATABASE_H

#include "base/fs.h"
#include "base/hash.h"
#include "store/store.h"
#include "unit/point.h"
#include "unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static char folder[64], path[96];
static dse_error err;
static dse_arena arena;

static inline void begin(void)
{
    unit_make_folder(folder);
    snprintf(path, sizeof path, "%s/r.db", folder);
    err = (dse_error)DSE_ERROR_INIT;
    dse_arena_init(&arena);
}

static inline void end(void)
{
    dse_arena_free(&arena);
    unit_remove_folder(folder);
}

static inline store *open_for(store_mode mode)
{
    store *s = NULL;

    assert_ok(store_open(path, mode, &s, &err), &err);
    assert_non_null(s);
    return s;
}

static inline store_row row(const char *config, uint64_t hash, const char *model, uint32_t dp,
                            uint64_t wall_time)
{
    store_row r = {.config = config,
                   .hash = hash,
                   .study = 0xfedcba9876543210u,
                   .model = model,
                   .system = "s",
                   .engine = "native-1",
                   .settings = "layers=4 network.bandwidth[1]=50GB/s",
                   .strategy = unit_point("%u_1_2_3_1", dp),
                   .done = true,
                   .memory_rounded = true,
                   .error = "",
                   .seconds = 0.125};

    r.metrics = (store_metrics){.wall_time = wall_time,
                                .gpu_time = 2,
                                .comm_time = 3,
                                .exposed_comm = UINT64_MAX - 4, /* wraps below 0 in the reference */
                                .compute_bound = 92.803,
                                .compute_util = 1.0 / 3,
                                .mem_util = 1e-300,
                                .op_intensity = (double)NAN,
                                .peak_memory = 81920000,
                                .wall_time_rank0 = 6,
                                .peak_memory_rank0 = 7,
                                .nodes = 8,
                                .messages = 9,
                                .step_compute_bound = wall_time,
                                .peak_activations = 81920000,
                                .peak_time = 11,
                                .peak_layer = STORE_ABSENT,
                                .peak_pass = "backward",
                                .undercharged_messages = 12,
                                .flat_ring_collectives = STORE_ABSENT,
                                .busiest_link_util = 81.25,
                                .busiest_link = "3 -> switch 8"};
    return r;
}

static inline void put(store *s, store_row r) { assert_ok(store_put(s, &r, &err), &err); }

/* As a sweep does: in the place of what the one before asked for. */
static inline void sweep_asks(store *s, const uint64_t *hashes, size_t n)
{
    uint64_t twice[2];

    assert_ok(store_asking_begin(s, &err), &err);
    for (size_t i = 0; i < n; i++)
        assert_ok(store_asking_add(s, hashes[i], &err), &err);
    assert_ok(store_asking_end(s, twice, &err), &err);
}

static inline size_t list(store *s, const char *model, const char *system, store_row **rows)
{
    size_t n = 99;

    assert_ok(store_list(s, model, system, &arena, rows, &n, &err), &err);
    return n;
}

#endif
