/* 64-bit hashing: FNV-1a for strings and configurations, a multiplicative mix for integer keys and names in
 * tables. Neither is cryptographic; where a collision would matter the full key is compared as well. */
#ifndef DSE_BASE_HASH_H
#define DSE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The hash of bytes and n more behind them, from that of the former. */
static inline uint64_t dse_hash_more(uint64_t h, const void *p, size_t n)
{
    const unsigned char *s = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 1099511628211u;
    return h;
}

static inline uint64_t dse_hash_bytes(const void *p, size_t n)
{
    return dse_hash_more(14695981039346656037u, p, n);
}

/* splitmix64's finaliser: every input bit reaches the low bits, which index the tables. */
static inline uint64_t dse_hash_u64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The halves of a product of 128 bits, folded: each bit of either factor reaches all of them (wyhash's
 * step). */
static inline uint64_t dse_hash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t dse_hash_load(const unsigned char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

/* Of bytes too, sixteen at a time: for tables in memory, since it depends on the machine's byte order. The
 * last sixteen may overlap those before them. */
static inline uint64_t dse_hash_words(const void *p, size_t n)
{
    const uint64_t k0 = 0xa0761d6478bd642fu, k1 = 0xe7037ed1a0b428dbu;
    const unsigned char *s = p;
    uint64_t h = n * k0, first = 0, last = 0;

    if (n >= 16) {
        for (size_t i = 0; i + 16 < n; i += 16)
            h = dse_hash_fold(dse_hash_load(s + i) ^ k1, dse_hash_load(s + i + 8) ^ h);
        first = dse_hash_load(s + n - 16);
        last = dse_hash_load(s + n - 8);
    } else if (n >= 8) {
        first = dse_hash_load(s);
        last = dse_hash_load(s + n - 8);
    } else {
        for (size_t i = 0; i < n; i++)
            first = first << 8 | s[i];
    }
    return dse_hash_u64(dse_hash_fold(first ^ k1, last ^ h));
}

#endif
