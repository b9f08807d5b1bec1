/* dse_python_random -- the random numbers of Python 3: a study that was sampled there is sampled alike here.
 *
 * MT19937 (Matsumoto and Nishimura, 1998) with the seeding and the sampling rule of CPython's `random`:
 * random.seed(int) and random.sample(range(n), k), unchanged from 3.2 to 3.13. */
#ifndef DSE_BASE_PYTHON_RANDOM_H
#define DSE_BASE_PYTHON_RANDOM_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t word[624];
    uint32_t next; /* word that comes next; 624: make new ones */
} dse_python_random;

/* random.seed(seed); as there, a number and its negative give the same. */
void dse_python_random_seed(dse_python_random *r, int64_t seed);

/* random.getrandbits(32) */
uint32_t dse_python_random_u32(dse_python_random *r);

/* random.sample(range(n), k): k different indexes in the order drawn. k <= n < 2^32. */
void dse_python_random_sample(dse_python_random *r, uint32_t n, uint32_t k, uint32_t *out);

#endif
