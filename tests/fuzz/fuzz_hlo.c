/* Texts of HLO instructions, as XLA's profiler writes them: what is read of them lies in the text, and groups have a size. */
#include "fuzz/fuzz.h"
#include "metrics/hlo.h"

#include <stdlib.h>
#include <string.h>

static void check_word(const char *text, hlo_word w)
{
    int phase = 0;
    hlo_word bare;

    if (!w.n)
        return;
    ENSURE(w.at >= text && w.at + w.n <= text + strlen(text));
    bare = hlo_strip(hlo_base(w), &phase);
    ENSURE(bare.at >= w.at && bare.at + bare.n <= w.at + w.n && phase >= 0 && phase <= HLO_DONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hlo_instruction i;
    char *text;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    text = fuzz_string(data, size);
    i = hlo_parse(text);
    check_word(text, i.name);
    check_word(text, i.opcode);
    check_word(text, i.operand);
    check_word(text, hlo_word_of(text));
    hlo_shape_bytes(text);
    hlo_first_shape_bytes(text);
    hlo_group_size(text);
    free(text);
    return 0;
}
