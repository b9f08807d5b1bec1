/* A chunk of a sweep by Slurm, and behind a line "%%" the answers of an attempt; a line that begins with '=' gets the checksum
 * that is right. Answers come to the same, read at once or as the file grows. */
#include "base/hash.h"
#include "base/strbuf.h"
#include "exec/chunk.h"
#include "fuzz/fuzz.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    uint64_t n, sum; /* of the answers, in their order */
} seen;

static dse_status take(void *user, uint64_t hash, bool failed, const char *text, dse_error *err)
{
    seen *s = user;

    (void)err;
    s->n++;
    s->sum = dse_hash_u64(s->sum ^ hash ^ failed) ^ dse_hash_bytes(text, strlen(text));
    return DSE_OK;
}

static bool take_hash(void *user, uint64_t hash)
{
    (void)hash;
    return ++*(uint64_t *)user < 1000;
}

static void add_checked(const char *line, size_t n, dse_strbuf *out)
{
    if (n && *line == '=') {
        dse_strbuf_addf(out, "%016" PRIx64 " ", dse_hash_bytes(line + 1, n - 1));
        line++, n--;
    }
    dse_strbuf_add(out, line, n);
}

/* The answers, with checksums. */
static void make_right(const char *text, size_t n, dse_strbuf *out)
{
    while (n) {
        const char *end = memchr(text, '\n', n);
        size_t k = end ? (size_t)(end - text) : n;

        add_checked(text, k, out);
        if (end)
            dse_strbuf_addc(out, '\n');
        text += k + (end != NULL);
        n -= k + (end != NULL);
    }
}

static void check_answers(const char *text, size_t n)
{
    exec_answers whole = {0}, grown = {0};
    seen at_once = {0}, bit_by_bit = {0};
    dse_error err = DSE_ERROR_INIT;

    ENSURE(fuzz_ok(exec_answers_read(fuzz_file(1, (const uint8_t *)text, n), &whole, take, &at_once, &err),
                   &err));
    for (size_t i = 1; i <= 4; i++)
        ENSURE(fuzz_ok(exec_answers_read(fuzz_file(1, (const uint8_t *)text, i == 4 ? n : n / 4 * i), &grown,
                                         take, &bit_by_bit, &err),
                       &err));
    ENSURE(at_once.n == bit_by_bit.n && at_once.sum == bit_by_bit.sum);
    ENSURE(whole.at == grown.at && whole.damaged == grown.damaged && whole.at <= n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    dse_strbuf answers;
    uint64_t lines = 0;
    size_t n = 0;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    while (n < size && !(size - n >= 4 && !memcmp(data + n, "\n%%\n", 4)))
        n++;
    fuzz_ok(exec_chunk_hashes(fuzz_file(0, data, n), take_hash, &lines, &err), &err);
    dse_strbuf_init(&answers);
    if (n < size)
        make_right((const char *)data + n + 4, size - n - 4, &answers);
    check_answers(answers.data ? answers.data : "", answers.len);
    dse_strbuf_free(&answers);
    return 0;
}
