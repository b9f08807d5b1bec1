/* Command lines of the external tools: the words are no longer than the text, and a NULL ends them. */
#include "base/words.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    const char **words;
    dse_arena arena;
    size_t n, total = 0;
    char *text;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    text = fuzz_string(data, size);
    if (fuzz_ok(dse_split_words(text, &arena, &words, &n, &err), &err)) {
        for (size_t i = 0; i < n; i++)
            total += strlen(words[i]);
        ENSURE(total <= strlen(text) && words[n] == NULL);
    }
    free(text);
    dse_arena_free(&arena);
    return 0;
}
