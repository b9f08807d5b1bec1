/* Logs of external tools that failed: what is quoted of them is short and printable. */
#include "driver/log_tail.h"
#include "fuzz/fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path;
    dse_strbuf out;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    path = fuzz_file(0, data, size);
    dse_strbuf_init(&out);
    drv_log_tail_add(path, "its log", &out);
    ENSURE(out.len > 10 && out.len < 1000);
    drv_log_meaning_add(path, &out);
    ENSURE(strlen(out.data) == out.len);
    for (size_t i = 0; i < out.len; i++)
        ENSURE(out.data[i] >= ' ' && out.data[i] <= '~');
    dse_strbuf_free(&out);
    return 0;
}
