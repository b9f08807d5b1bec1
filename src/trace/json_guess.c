#include "trace/json_guess.h"

#include "base/hash.h"

void trace_json_guess_init(trace_json_guess *g, const trace_json_key_row *row, size_t n)
{
    *g = (trace_json_guess){.n = TRACE_JSON_KINDS + 1};
    trace_json_keys_init(&g->keys, row, n);
}

/* The gap of these bytes, a new one if need be; 0: it is too long or the table is full. The gap before a
 * first key has no comma and every other gap has one, so neither is guessed for the other. */
static uint8_t gap_of(trace_json_guess *g, const char *text, size_t n, uint8_t row)
{
    trace_json_gap new = {.length = (uint8_t)n, .row = row};
    uint8_t *slot;

    if (n > TRACE_JSON_GAP_BYTES)
        return 0;
    memcpy(new.text, text, n);
    slot = &g->slot[dse_hash_words(new.text, sizeof new.text) & 255];
    while (*slot && memcmp(g->gap[*slot].text, new.text, sizeof new.text) != 0)
        slot = slot == &g->slot[255] ? g->slot : slot + 1;
    if (!*slot && g->n < TRACE_JSON_GAPS) {
        g->gap[g->n] = new;
        *slot = (uint8_t)g->n++;
    }
    return *slot;
}

/* Reads the key, and remembers the gap before its value if all of it is still in the window. */
uint8_t trace_json_guess_key_slow(trace_json_guess *g, trace_json *s)
{
    const char *from = s->at;
    uint64_t window = s->source->offset;
    uint8_t row = TRACE_JSON_NO_KEY, gap = 0;
    trace_json_gap *before = &g->gap[g->at];

    if (trace_json_key(s)) {
        const trace_json_key_row *found = trace_json_keys_find(&g->keys, s->text, s->length);

        row = found ? (uint8_t)(found - g->keys.row) : TRACE_JSON_OTHER_KEY;
        trace_json_peek(s);
    }
    if (s->fault)
        return TRACE_JSON_NO_KEY;
    if (s->source->offset == window)
        gap = gap_of(g, from, (size_t)(s->at - from), row);
    if (gap) {
        before->next[before->oldest] = gap;
        before->oldest = (uint8_t)((before->oldest + 1) % TRACE_JSON_GUESSES);
    }
    g->at = gap ? gap : TRACE_JSON_KINDS;
    return row;
}
