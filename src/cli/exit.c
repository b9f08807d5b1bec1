#include "cli/exit.h"

#include "base/array.h"

static const exit_text texts[] = {
    {EXIT_DONE, "done"},
    {EXIT_NO, "done, and the answer is no (some points failed, nothing fits)"},
    {EXIT_USAGE, "usage"},
    {EXIT_INPUT, "bad input"},
    {EXIT_CHILD, "no worker to be had, or an external tool failed"},
    {EXIT_INTERNAL, "out of memory or internal"},
    {EXIT_INTERRUPT, "interrupted, results kept"},
};

const exit_text *exit_texts(size_t *n)
{
    *n = DSE_COUNT(texts);
    return texts;
}
