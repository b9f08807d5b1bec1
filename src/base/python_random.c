#include "base/python_random.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

#define WORDS 624
#define AHEAD 397

/* ---- MT19937 ------------------------------------------------------------------------------- */

static void seed_word(dse_python_random *r, uint32_t seed)
{
    r->word[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++)
        r->word[i] = 1812433253u * (r->word[i - 1] ^ r->word[i - 1] >> 30) + i;
    r->next = WORDS;
}

static void seed_words(dse_python_random *r, const uint32_t *key, uint32_t n)
{
    uint32_t i = 1;

    seed_word(r, 19650218u);
    for (uint32_t k = 0; k < (n > WORDS ? n : WORDS); k++) {
        uint32_t before = r->word[i - 1];

        r->word[i] = (r->word[i] ^ (before ^ before >> 30) * 1664525u) + key[k % n] + k % n;
        if (++i == WORDS) {
            r->word[0] = r->word[WORDS - 1];
            i = 1;
        }
    }
    for (uint32_t k = 1; k < WORDS; k++) {
        uint32_t before = r->word[i - 1];

        r->word[i] = (r->word[i] ^ (before ^ before >> 30) * 1566083941u) - i;
        if (++i == WORDS) {
            r->word[0] = r->word[WORDS - 1];
            i = 1;
        }
    }
    r->word[0] = 0x80000000u;
}

static void make_words(dse_python_random *r)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t y = (r->word[i] & 0x80000000u) | (r->word[(i + 1) % WORDS] & 0x7fffffffu);

        r->word[i] = r->word[(i + AHEAD) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    r->next = 0;
}

uint32_t dse_python_random_u32(dse_python_random *r)
{
    uint32_t y;

    if (r->next == WORDS)
        make_words(r);
    y = r->word[r->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* ---- CPython's random ---------------------------------------------------------------------- */

void dse_python_random_seed(dse_python_random *r, int64_t seed)
{
    uint64_t size = seed < 0 ? 0 - (uint64_t)seed : (uint64_t)seed;
    const uint32_t key[] = {(uint32_t)size, (uint32_t)(size >> 32)};

    seed_words(r, key, key[1] ? 2 : 1);
}

/* _randbelow: as many bits as n has, until they are below n. n >= 1. */
static uint32_t below(dse_python_random *r, uint32_t n)
{
    int bits = 32 - __builtin_clz(n);
    uint32_t v;

    do
        v = dse_python_random_u32(r) >> (32 - bits);
    while (v >= n);
    return v;
}

/* Up to here it shuffles a list of all; from here on it draws again what it has drawn before. The rule
 * estimates which of the two takes less memory in Python. */
static double list_limit(uint32_t k) { return 21 + (k > 5 ? pow(4, ceil(log((double)k * 3) / log(4))) : 0); }

void dse_python_random_sample(dse_python_random *r, uint32_t n, uint32_t k, uint32_t *out)
{
    bool shuffles = n <= list_limit(k);
    uint32_t *pool = dse_calloc(n ? n : 1, sizeof *pool); /* the list; else nonzero for what is drawn */

    for (uint32_t i = 0; shuffles && i < n; i++)
        pool[i] = i;
    for (uint32_t i = 0; i < k; i++) {
        uint32_t j = below(r, shuffles ? n - i : n);

        if (shuffles) {
            out[i] = pool[j];
            pool[j] = pool[n - i - 1];
            continue;
        }
        while (pool[j])
            j = below(r, n);
        pool[j] = 1;
        out[i] = j;
    }
    dse_free(pool);
}
