/* Bytes that may be gzip: the same text through any window, and an end. */
#include "base/strbuf.h"
#include "fuzz/fuzz.h"
#include "trace/source.h"

#include <string.h>

#define MAX_TEXT (1u << 20) /* of a bomb's no more is looked at */

static void read_it(const uint8_t *data, size_t size, size_t window, dse_strbuf *out)
{
    trace_source s;

    trace_source_open_bytes(&s, (const char *)data, size, window);
    dse_strbuf_init(out);
    while (s.n) {
        ENSURE(s.offset == out->len && s.n <= window && s.window[s.n] == '\0');
        dse_strbuf_add(out, s.window, s.n);
        if (out->len > MAX_TEXT)
            break;
        trace_source_more(&s, s.n);
    }
    ENSURE(memchr(s.broken, '\0', sizeof s.broken));
    trace_source_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_strbuf large, small;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    read_it(data, size, TRACE_WINDOW_BYTES, &large);
    read_it(data, size, 17, &small);
    if (large.len <= MAX_TEXT)
        ENSURE(large.len == small.len && memcmp(large.data, small.data, large.len) == 0);
    dse_strbuf_free(&small);
    dse_strbuf_free(&large);
    return 0;
}
