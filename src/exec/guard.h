/* exec_guard -- kills process groups if this process dies without doing so: by SIGKILL, or by a fault.
 *
 * A small process, forked before the first group is there, reads from a pipe which groups there are, and sees
 * the end of the pipe when this process is gone. (The alternative, PR_SET_PDEATHSIG, reaches the leader of a
 * group only.) A group that is started in the very instant of the death, before it is told to the guard, is
 * not known to it. */
#ifndef DSE_EXEC_GUARD_H
#define DSE_EXEC_GUARD_H

#include "base/status.h"

#include <stdint.h>
#include <sys/types.h>

typedef struct {
    pid_t process;
    int pipe; /* to the guard */
} exec_guard;

/* For groups in slots 0 .. n_slots - 1. To be started while this process has one thread and SIGPIPE is
 * ignored. DSE_E_CHILD. */
dse_status exec_guard_start(uint32_t n_slots, exec_guard *out, dse_error *err);

/* The group of a slot from now on; 0: none. A guard that is gone is not missed: it is for the worst case. */
void exec_guard_set(const exec_guard *g, uint32_t slot, pid_t group);

/* Ends the guard, and the groups that are still in its slots. */
void exec_guard_stop(exec_guard *g);

#endif
