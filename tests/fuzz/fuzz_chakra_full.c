/* An execution trace and behind a NUL a Kineto trace, linked and converted as Chakra does: dependencies are
 * on nodes that are there, and what is written can be read. */
#include "fuzz/fuzz.h"
#include "whatif/compat.h"

#include <string.h>

static void ensure_dependencies(const whatif_et *et, bool pruned)
{
    for (uint32_t i = 0; i < et->n; i++) {
        const whatif_node *n = &et->node[i];

        for (uint32_t k = 0; k < n->n_data; k++)
            ENSURE(n->type == WL_NODE_INVALID ||
                   (n->data[k] < et->n && et->node[n->data[k]].type != WL_NODE_INVALID));
        for (uint32_t k = 0; k < n->n_ctrl; k++)
            ENSURE(n->ctrl[k] < i &&
                   (!pruned || n->type == WL_NODE_INVALID || et->node[n->ctrl[k]].type != WL_NODE_INVALID));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, '\0', size) : NULL;
    size_t n_host = nul ? (size_t)(nul - data) : size;
    const char *host, *kineto;

    if (size > FUZZ_MAX_BYTES)
        return 0;
    host = fuzz_file(0, data, n_host);
    kineto = fuzz_file(1, data + n_host + (nul != NULL), size - n_host - (nul != NULL));
    for (int pruned = 0; pruned < 2; pruned++) {
        const whatif_compat_job job = {.mode = pruned ? WHATIF_COMPAT_FULL : WHATIF_COMPAT_FULL_UNPRUNED,
                                       .n_ranks = 1,
                                       .path = &kineto,
                                       .host_path = &host};
        dse_error err = DSE_ERROR_INIT;
        whatif_files files;
        dse_strbuf text;
        dse_arena arena;
        wl_trace trace;

        dse_arena_init(&arena);
        dse_strbuf_init(&text);
        if (fuzz_ok(whatif_compat_convert(&job, &arena, &files, &err), &err)) {
            ensure_dependencies(&files.et[0], pruned);
            whatif_et_write(&files.et[0], "", &text);
            if (pruned) /* messages have no peers, so it may be refused */
                fuzz_ok(wl_chakra_parse_et("w.0.et", (const unsigned char *)text.data, text.len, 0, NULL,
                                           &arena, &trace, &err),
                        &err);
        }
        dse_strbuf_free(&text);
        dse_arena_free(&arena);
    }
    return 0;
}
