#include "base/array.h"
#include "cli/topics.h"

#include <string.h>

#define COLUMN 18 /* where the meaning begins */

static const struct {
    const char *word, *meaning;
} terms[] = {
    {"NPU", "one accelerator, such as a GPU or TPU"},
    {"node", "what all but the last dimension of a network join: a server of eight GPUs, say"},
    {"rank", "one process of a training run, on one NPU; in a ranking, the place of a strategy"},
    {"step",
     "one update of the weights, from a batch of sequences: forward, backward, optimizer. Step time is "
     "the time of the slowest rank. (Profile stage simulates one micro-batch of it.)"},
    {"batch", "sequences of a step over all ranks; each data parallel rank takes its share in micro-batches"},
    {"dp, tp, cp, pp",
     "degrees of parallelism, whose product is the number of NPUs: copies of the model that divide the "
     "batch (data), parts of each matrix (tensor), parts of each sequence (context), groups of "
     "layers (pipeline). sp is what profile stage has in the place of cp"},
    {"vp", "groups of layers, virtual stages, that a pipeline rank holds: more of them, a smaller bubble"},
    {"zero",
     "what data parallel ranks divide among themselves: 1 the optimizer's state, 2 also gradients, 3 also "
     "weights"},
    {"recompute", "activations are not kept but made again in the backward pass: less memory, more compute"},
    {"exposed",
     "communication during which the rank computes nothing; what is hidden behind compute costs no time"},
    {"bubble",
     "time in which a pipeline rank waits for others: at the start and end of a step, and between passes"},
    {"MFU, HFU", "operations that the model needs for the tokens of a step, over what the NPUs could do at "
                 "their peak; HFU "
                 "counts recomputation, too"},
    {"peak memory",
     "the most that any rank holds at one moment of the step; what fits is at most the NPU's memory"},
    {"slowdown", "step time over that of the fastest that is ranked"},
    {"point", "one strategy for one model on one system; a study is the points of a model on a system"},
    {"multi-hop",
     "what a message between NPUs that differ in several dimensions of the network, such as a node and a "
     "place within it, pays for: without congestion ASTRA-sim charges the lowest of them alone, and so do "
     "we until network.multi_hop=full"},
    {"flat ring",
     "one ring over all members of a group. A group smaller than the system takes it, as in ASTRA-sim; what "
     "a card says of each dimension (collectives.*) is for groups of all NPUs"},
    {"elements", "what memory of profile stage counts, as ASTRA-sim does, unless the model card has a "
                 "precision: numbers, "
                 "not bytes, which no capacity in bytes is to be held against"},
    {"profile", "whose step is simulated: train, that of Megatron-LM, TorchTitan and DeepSpeed; stage, that "
                "of STAGE and "
                "ASTRA-sim, to the last digit"},
};

void terms_print(size_t width, dse_strbuf *out)
{
    for (size_t i = 0; i < DSE_COUNT(terms); i++) {
        dse_strbuf_addf(out, "%-*s", COLUMN, terms[i].word);
        dse_strbuf_add_wrapped(out, terms[i].meaning, COLUMN, width);
        dse_strbuf_addc(out, '\n');
    }
}
