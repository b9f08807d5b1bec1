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

/* Of bytes too, eight at a time: for tables in memory, since it depends on the machine's byte order. */
static inline uint64_t dse_hash_words(const void *p, size_t n)
{
    const unsigned char *s = p;
    uint64_t h = n, word;

    for (; n >= sizeof word; n -= sizeof word, s += sizeof word) {
        memcpy(&word, s, sizeof word);
        h = dse_hash_u64(h ^ word);
    }
    word = 0;
    if (n)
        memcpy(&word, s, n);
    return dse_hash_u64(h ^ word);
}

#endif
