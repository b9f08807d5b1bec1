/* Descriptions of nodes: a matrix of nvidia-smi, and hwloc's XML. What is read of them makes a card, or is refused. */
#include "cards/node.h"
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

typedef dse_status reader(const char *path, const char *text, card_node *out, dse_error *err);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static reader *const readers[] = {card_node_read_topo, card_node_read_lstopo};
    const card_node_given given = {.device = "fuzzed",
                                   .link = "100GB/s",
                                   .nic = "100Gb/s",
                                   .memory = 80e9,
                                   .memory_bandwidth = "1TB/s",
                                   .peak_tflops = 100,
                                   .nodes = 2,
                                   .nics = 1};
    char *text = malloc(size + 1);

    if (!text || size > FUZZ_MAX_BYTES) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    for (int i = 0; i < 2; i++) {
        dse_error err = DSE_ERROR_INIT;
        card_node node;
        dse_arena arena;
        dse_strbuf out;

        dse_arena_init(&arena);
        dse_strbuf_init(&out);
        if (fuzz_ok(readers[i]("node", text, &node, &err), &err)) {
            ENSURE(node.npus > 0 && node.nics <= node.all_nics);
            fuzz_ok(card_node_write(&node, &given, &arena, &out, &err), &err);
        }
        dse_strbuf_free(&out);
        dse_arena_free(&arena);
    }
    free(text);
    return 0;
}
