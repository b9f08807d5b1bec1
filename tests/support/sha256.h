/* SHA-256, for comparing generated files with the hashes of the reference. Tests only. Source: FIPS 180-4. */
#ifndef TESTS_SUPPORT_SHA256_H
#define TESTS_SUPPORT_SHA256_H

#include <stddef.h>

/* 64 hexadecimal digits and a NUL into out. */
void sha256_hex(const void *bytes, size_t n, char out[65]);

#endif
