/* Workload cards. Of one that is accepted, numbers are in the ranges that its header states. */
#include "fuzz/fuzz.h"
#include "trace/card.h"

#include <math.h>
#include <string.h>

static void check_counts(const trace_card *c)
{
    const int64_t positive[] = {
        c->num_layers, c->num_heads,    c->head_dim, c->batch_size,  c->seq_len,
        c->tp,         c->dp_replicate, c->dp_shard, c->pp,          c->cp,
        c->ep,         c->pp_mb,        c->version,  c->total_count, c->count_per_node};
    const int64_t count[] = {c->iteration, c->input_len, c->output_len, c->moe};
    const double number[] = {c->num_params, c->num_params_embedding, c->num_params_active,
                             c->bandwidth_gbps[0], c->bandwidth_gbps[1]};

    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; i++)
        ENSURE(positive[i] == TRACE_CARD_NONE || positive[i] >= 1);
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++)
        ENSURE(count[i] == TRACE_CARD_NONE || count[i] >= 0);
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        ENSURE(isnan(number[i]) || (number[i] >= 0 && isfinite(number[i])));
}

static void check_texts(const trace_card *c)
{
    for (size_t i = 0; i < c->n_traces; i++)
        ENSURE(c->trace[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dse_error err = DSE_ERROR_INIT;
    trace_record notes = {0};
    cfg_doc doc = {0};
    trace_card card;
    dse_arena arena;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    dse_arena_init(&arena);
    if (fuzz_ok(cfg_parse_yaml("card", (const char *)data, size, &arena, &doc, &err), &err) &&
        fuzz_ok(trace_card_read(&doc, &arena, &card, &notes, &err), &err)) {
        check_counts(&card);
        check_texts(&card);
        for (size_t i = 0; i < notes.n_warnings; i++)
            ENSURE(notes.warning[i].text[0]);
    }
    trace_record_free(&notes);
    dse_arena_free(&arena);
    return 0;
}
