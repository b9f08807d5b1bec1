/* Random numbers of the test's own, so that a case is the same on every machine and for ever: splitmix64
 * (Steele, Lea, Flood 2014). One number an expression: compilers differ in what they evaluate first. */
#ifndef TESTS_SHORTCUTS_RANDOM_H
#define TESTS_SHORTCUTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t state;
} rng;

static inline uint64_t rng_next(rng *r)
{
    uint64_t v = r->state += 0x9e3779b97f4a7c15u;

    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

/* Case `index` of a seed, whatever came before it. */
static inline rng rng_of(uint64_t seed, uint64_t index)
{
    rng r = {seed};

    r.state = rng_next(&r) ^ (index + 1) * 0xd1342543de82ef95u;
    return r;
}

static inline uint32_t rng_below(rng *r, uint32_t n) { return (uint32_t)((rng_next(r) >> 32) * n >> 32); }

/* from <= v <= to. */
static inline uint32_t rng_range(rng *r, uint32_t from, uint32_t to)
{
    return from + rng_below(r, to - from + 1);
}

static inline bool rng_percent(rng *r, uint32_t percent) { return rng_below(r, 100) < percent; }

#define RNG_PICK(r, list) ((list)[rng_below((r), (uint32_t)(sizeof(list) / sizeof *(list)))])

#endif
