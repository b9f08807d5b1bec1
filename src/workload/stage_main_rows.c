#include "workload/stage_main_rows.h"

#include "base/array.h"

static const sm_letter letters[] = {
    {'b', "MicroBatch/dp", NULL, NULL, NULL},
    {'s', "Seq/cp", NULL, NULL, "KExperts*Seq/(Experts*cp*ep)"},
    {'t', "Seq/(cp*tp)", "Seq/cp", NULL,
     "KExperts*Seq/(Experts*cp*ep*tp)"}, /* outside of attention and FFN */
    {'S', "Seq", NULL, NULL, NULL},
    {'d', "Dmodel", NULL, NULL, NULL},
    {'f', "Dff", NULL, NULL, NULL},
    {'F', "Dff/tp", NULL, NULL, NULL},
    {'n', "Dmodel/Head", NULL, NULL, NULL},
    {'h', "Head/tp", NULL, NULL, NULL},
    {'k', "KVHead/tp", NULL, "Head/tp", NULL},
    {'K', "2*KVHead/tp", NULL, "2*Head/tp", NULL},
    {'q', "QKVHeads/tp", NULL, "3*Head/tp", NULL}, /* SM_SUM_OF_HEADS */
    {'i', "Din", "Din/tp", NULL, NULL},            /* of an embedding */
    {'o', "Dout", NULL, NULL, NULL},
    {'e', "Dmodel/ep", NULL, NULL, NULL},
    {'x', "KExperts", NULL, NULL, NULL},
    {'R', "KExperts*Seq/(cp*tp)", NULL, NULL, NULL},            /* routed tokens, */
    {'r', "KExperts*Seq/(cp*ep*tp)", NULL, NULL, NULL},         /* on their experts' rank, */
    {'w', "KExperts*Seq/(Experts*cp*ep*tp)", NULL, NULL, NULL}, /* and of one expert */
    {'1', "1", NULL, NULL, NULL},
    {'C', "1/cp", NULL, NULL, NULL}, /* partial sums */
    {'T', "1/tp", NULL, NULL, NULL},
};

const sm_letter *sm_letter_find(char letter)
{
    const sm_letter *l = letters;

    while (l->letter != letter)
        l++;
    return l;
}

/* ---- rows ------------------------------------------------------------------------------------ */

#define WEIGHT(name_, shape)  .name = name_, .op = SM_CUSTOM, .how = "0", .x2_shape = shape
#define IN(name_, shape)      .name = name_, .op = SM_PLACEHOLDER, .x1_shape = shape
#define COPY(name_, x, shape) .name = name_, .op = SM_IDENTICAL, .x1 = x, .x1_shape = shape
#define ELEMENT(name_, x, how_, shape)                                                                       \
    .name = name_, .op = SM_ELEMENT, .x1 = x, .how = how_, .x1_shape = shape
#define BROADCAST(name_, x, how_, shape)                                                                     \
    .name = name_, .op = SM_BROADCAST, .x1 = x, .how = how_, .x1_shape = shape
#define RESHAPE(name_, x, s1, s2) .name = name_, .op = SM_RESHAPE, .x1 = x, .x1_shape = s1, .x2_shape = s2
#define OF_TWO(name_, op_, a, b, how_, s1, s2)                                                               \
    .name = name_, .op = op_, .x1 = a, .x2 = b, .how = how_, .x1_shape = s1, .x2_shape = s2
#define EINSUM(name_, a, b, how_, s1, s2) OF_TWO(name_, SM_EINSUM, a, b, how_, s1, s2)
#define SLICE(name_, a, b, how_, s1, s2)  OF_TWO(name_, SM_SLICE, a, b, how_, s1, s2)
#define CUSTOM(name_, x, how_, s1, s2)    OF_TWO(name_, SM_CUSTOM, x, NULL, how_, s1, s2)
#define TWO_OF(name_, op_, a, b, how_, s) OF_TWO(name_, op_, a, b, how_, s, s)

static const sm_row embedding[] = {
    [SM_EMB_X] = {IN("x", "b t i")},
    [SM_EMB_W] = {IN("w", "i o")},
    [SM_EMB_Y] = {EINSUM("y", "x", "w", "bsm,mn->bsn", "b t i", "i o")},
    [SM_EMB_DY] = {IN("dy", "b t o")},
    [SM_EMB_DW] = {EINSUM("dw", "dy", "x", "bsn,bsm->mn", "b t o", "b t i")},
    [SM_EMB_DX] = {EINSUM("dx", "dy", "w", "bsn,mn->bsm", "b t o", "i o")},
};

static const sm_row loss[] = {
    [SM_LOSS_Y] = {COPY("y", NULL, "b t d")},
    [SM_LOSS_LOSS] = {ELEMENT("loss", "y", "5", "b t d")},
    [SM_LOSS_DY] = {ELEMENT("dy", "loss", "5", "b t d")},
};

static const sm_row layer[] = {
    {COPY("input_norm.x", NULL, "b t d")}, /* of the layer before */
    {ELEMENT("input_norm.y", "input_norm.x", "5", "b t d")},
    {TWO_OF("input_norm.dy", SM_ADD, "mha.dx", "mha_res.dx2", NULL, "b t d")},
    {ELEMENT("input_norm.dx", "input_norm.dy", "5", "b t d")},

    {COPY("mha.x", "input_norm.y", "b t d")},
    {WEIGHT("mha.wqkv", "d n q")},
    {EINSUM("mha.qkv", "mha.x", "mha.wqkv", "bsm,mnh->bsnh", "b s d", "d n q")},
    {SLICE("mha.q", "mha.qkv", NULL, "3h", "b s n q", NULL)},
    {SLICE("mha.k", "mha.qkv", NULL, "3k", "b s n q", NULL)},
    {SLICE("mha.v", "mha.qkv", NULL, "3k", "b s n q", NULL)},
    {COPY("mha.attn", "mha.attn_kernel.qkv", "b s n h")},
    {WEIGHT("mha.wo", "n h d")},
    {EINSUM("mha.o1", "mha.attn", "mha.wo", "bsmh,mhn->bsn", "b s n h", "n h d")},
    {COPY("mha.o", "mha.o1", "b t d")},
    {COPY("mha.do", "mha_res.dx1", "b t d")},
    {COPY("mha.do1", "mha.do", "b s d")},
    {EINSUM("mha.dattn", "mha.do1", "mha.wo", "bsn,mhn->bsmh", "b s d", "n h d")},
    {EINSUM("mha.dwo", "mha.do1", "mha.attn", "bsn,bsmh->mhn", "b s d", "b s n h")},
    {COPY("mha.dv", "mha.attn_kernel.dv", "b s n k")},
    {COPY("mha.dk", "mha.attn_kernel.dk", "b s n k")},
    {COPY("mha.dq", "mha.attn_kernel.dq", "b s n h")},
    {SLICE("mha.dkv", "mha.dv", "mha.dk", "3K", "b s n k", "b s n k")},
    {SLICE("mha.dqkv", "mha.dkv", "mha.dq", "3q", "b s n K", "b s n h")},
    {EINSUM("mha.dwqkv", "mha.dqkv", "mha.x", "bsnh,bsm->mnh", "b s n q", "b s d")},
    {EINSUM("mha.dx1", "mha.dqkv", "mha.wqkv", "bsnh,mnh->bsm", "b s n q", "d n q")},
    {COPY("mha.dx", "mha.dx1", "b t d")},
    {COPY("mha.attn_kernel.q", "mha.q", "b s n h")},
    {COPY("mha.attn_kernel.k", "mha.k", "b s n k")},
    {COPY("mha.attn_kernel.v", "mha.v", "b s n k")},
    {COPY("mha.attn_kernel.k1", "mha.attn_kernel.k", "b S n k")},
    {COPY("mha.attn_kernel.v1", "mha.attn_kernel.v", "b S n k")},
    {CUSTOM("mha.attn_kernel.qkv", "mha.attn_kernel.q", "3", "b s n h", "b s n h"),
     .deps = {"mha.attn_kernel.k1", "mha.attn_kernel.v1"}},
    {COPY("mha.attn_kernel.dqkv", "mha.dattn", "b s n h")},
    {CUSTOM("mha.attn_kernel.dq", "mha.attn_kernel.dqkv", "6", "b s n h", "b s n h")},
    {CUSTOM("mha.attn_kernel.dk", "mha.attn_kernel.dqkv", "6", "b s n h", "b S n h"), .hidden = "C",
     .only = SM_OWN_HEADS},
    {CUSTOM("mha.attn_kernel.dv", "mha.attn_kernel.dqkv", "6", "b s n h", "b S n h"), .hidden = "C",
     .only = SM_OWN_HEADS},
    {CUSTOM("mha.attn_kernel.dk1", "mha.attn_kernel.dqkv", "6", "b s n h", "b S n h"), .hidden = "C",
     .only = SM_GROUPED_HEADS},
    {CUSTOM("mha.attn_kernel.dv1", "mha.attn_kernel.dqkv", "6", "b s n h", "b S n h"), .hidden = "C",
     .only = SM_GROUPED_HEADS},
    {SLICE("mha.attn_kernel.dk", "mha.attn_kernel.dk1", NULL, "3k", "b s n h", NULL),
     .only = SM_GROUPED_HEADS},
    {SLICE("mha.attn_kernel.dv", "mha.attn_kernel.dv1", NULL, "3k", "b s n h", NULL),
     .only = SM_GROUPED_HEADS},

    {COPY("mha_res.x1", "mha.o", "b t d")},
    {COPY("mha_res.x2", "input_norm.x", "b t d")},
    {TWO_OF("mha_res.y", SM_ADD, "mha_res.x1", "mha_res.x2", NULL, "b t d")},
    {COPY("mha_res.dy", "post_attn_norm.dx", "b t d")},
    {COPY("mha_res.dx1", "mha_res.dy", "b t d")},
    {COPY("mha_res.dx2", "mha_res.dy", "b t d")},
    {COPY("post_attn_norm.x", "mha_res.y", "b t d")},
    {ELEMENT("post_attn_norm.y", "post_attn_norm.x", "5", "b t d")},
    {TWO_OF("post_attn_norm.dy", SM_ADD, "ffn.dx0", "ffn_res.dx2", NULL, "b t d"), .only = SM_NO_EXPERTS},
    {TWO_OF("post_attn_norm.dy", SM_ADD, "moe.dx", "ffn_res.dx2", NULL, "b t d"), .only = SM_EXPERTS},
    {ELEMENT("post_attn_norm.dx", "post_attn_norm.dy", "5", "b t d")},
    {COPY("ffn.x0", "post_attn_norm.y", "b t d"), .only = SM_NO_EXPERTS},
};

static const sm_row ffn[] = {
    {WEIGHT("ffn.wup", "d F"), .only = SM_THREE_MATRICES},
    {WEIGHT("ffn.wgate", "d F")},
    {WEIGHT("ffn.wdown", "F d")},
    {COPY("ffn.x00", "ffn.x0", "b s d")},
    {EINSUM("ffn.xup", "ffn.x00", "ffn.wup", "bsm,mn->bsn", "b s d", "d F"), .only = SM_THREE_MATRICES},
    {EINSUM("ffn.xgate", "ffn.x00", "ffn.wgate", "bsm,mn->bsn", "b s d", "d F")},
    {EINSUM("ffn.xdown1", "ffn.xgate", "ffn.wdown", "bsm,mn->bsn", "b s F", "F d"), .only = SM_TWO_MATRICES},
    {EINSUM("ffn.xupgate", "ffn.xup", "ffn.xgate", "bsm,bsm->bsm", "b s F", "b s F"),
     .only = SM_THREE_MATRICES},
    {EINSUM("ffn.xdown1", "ffn.xupgate", "ffn.wdown", "bsm,mn->bsn", "b s F", "F d"),
     .only = SM_THREE_MATRICES},
    {COPY("ffn.xdown", "ffn.xdown1", "b t f")},
    {COPY("ffn.dxdown", "ffn_res.dx1", "b t d")},
    {COPY("ffn.dxdown2", "ffn.dxdown", "b s d")},
    {EINSUM("ffn.dwdown", "ffn.dxdown2", "ffn.xgate", "bsn,bsm->mn", "b s d", "b s F"),
     .only = SM_TWO_MATRICES},
    {EINSUM("ffn.dxgate", "ffn.dxdown2", "ffn.wdown", "bsn,mn->bsm", "b s d", "F d"),
     .only = SM_TWO_MATRICES},
    {EINSUM("ffn.dwdown", "ffn.dxdown2", "ffn.xupgate", "bsn,bsm->mn", "b s d", "b s F"),
     .only = SM_THREE_MATRICES},
    {EINSUM("ffn.dxupgate", "ffn.dxdown2", "ffn.wdown", "bsn,mn->bsm", "b s d", "F d"),
     .only = SM_THREE_MATRICES},
    {EINSUM("ffn.dxup", "ffn.dxupgate", "ffn.xgate", "bsm,bsm->bsm", "b s F", "b s F"),
     .only = SM_THREE_MATRICES},
    {EINSUM("ffn.dxgate", "ffn.dxupgate", "ffn.xup", "bsm,bsm->bsm", "b s F", "b s F"),
     .only = SM_THREE_MATRICES},
    {COPY("ffn.x01", "ffn.x0", "b s d")},
    {EINSUM("ffn.dwup", "ffn.dxup", "ffn.x01", "bsn,bsm->mn", "b s F", "b s d"), .only = SM_THREE_MATRICES},
    {EINSUM("ffn.dwgate", "ffn.dxgate", "ffn.x01", "bsn,bsm->mn", "b s F", "b s d")},
    {EINSUM("ffn.dx000", "ffn.dxgate", "ffn.wgate", "bsn,mn->bsm", "b s F", "d F"), .only = SM_TWO_MATRICES},
    {EINSUM("ffn.dx00", "ffn.dxup", "ffn.wup", "bsn,mn->bsm", "b s F", "d F"), .only = SM_THREE_MATRICES},
    {EINSUM("ffn.dx01", "ffn.dxgate", "ffn.wgate", "bsn,mn->bsm", "b s F", "d F"), .only = SM_THREE_MATRICES},
    {TWO_OF("ffn.dx000", SM_ADD, "ffn.dx00", "ffn.dx01", NULL, "b s d"), .hidden = "T",
     .only = SM_THREE_MATRICES},
    {COPY("ffn.dx0", "ffn.dx000", "b t d")},
};

static const sm_row router[] = {
    {COPY("moe.x", "post_attn_norm.y", "b t d")},
    {WEIGHT("moe.wrouter", "e x")},
    {EINSUM("moe.yrouter", "moe.x", "moe.wrouter", "bsm,mn->bsn", "b t d", "d x")},
    {RESHAPE("moe.yrouter2", "moe.yrouter", "b t x", "b R 1")},
    {BROADCAST("moe.x1", "moe.x", "*", "b t e")},
    {COPY("moe.xrouted", "moe.x1", "b r d")},
    {COPY("moe.yrouted", NULL, "b r d")}, /* of the experts */
    {COPY("moe.y1", "moe.yrouted", "b R e")},
    {SLICE("moe.yrouter3", "moe.yrouter2", NULL, "2e", "b R 1", NULL)},
    {TWO_OF("moe.y2", SM_ELEMENT2, "moe.y1", "moe.yrouter3", "1", "b R e")},
    {BROADCAST("moe.y", "moe.y2", "/", "b R e")},
    {COPY("moe.dy", "ffn_res.dx1", "b t e")},
    {BROADCAST("moe.dy2", "moe.dy", "*", "b t e")},
    {TWO_OF("moe.dy1", SM_ELEMENT2, "moe.dy2", "moe.yrouter3", "1", "b R e")},
    {TWO_OF("moe.dyrouter3", SM_ELEMENT2, "moe.dy2", "moe.y1", "1", "b R e")},
    {SLICE("moe.dyrouter2", "moe.dyrouter3", NULL, "21", "b R e", NULL)},
    {COPY("moe.dyrouted", "moe.dy1", "b r d")},
    {RESHAPE("moe.dyrouter", "moe.dyrouter2", "b R 1", "b t x")},
    {EINSUM("moe.dwrouter", "moe.dyrouter", "moe.x", "bsn,bsm->mn", "b t x", "b t e")},
    {EINSUM("moe.dx01", "moe.dyrouter", "moe.wrouter", "bsn,mn->bsm", "b t x", "e x")},
    {COPY("moe.dxrouted", NULL, "b r d")}, /* of the experts */
    {COPY("moe.dx1", "moe.dxrouted", "b R e")},
    {BROADCAST("moe.dx02", "moe.dx1", "/", "b R e")},
    {TWO_OF("moe.dx", SM_ADD, "moe.dx01", "moe.dx02", NULL, "b t e")},
};

static const sm_row expert[] = {
    {COPY("ldis.x", "moe.xrouted", "b r d")},
    {SLICE("ldis.x_expert", "ldis.x", NULL, "1w", "b r d", NULL)},
    {COPY("ldis.dx_expert", "ffn.dx0", "b w d")},
    {SLICE("ldis.dx", "ldis.dx_expert", NULL, "1r", "b w d", NULL)},
    {COPY("ldis.y_expert", "ffn.xdown", "b w d")},
    {SLICE("ldis.y", "ldis.y_expert", NULL, "1r", "b w d", NULL)},
    {COPY("ldis.dy", "moe.dyrouted", "b r d")},
    {SLICE("ldis.dy_expert", "ldis.dy", NULL, "1w", "b r d", NULL)},
    {COPY("ffn.x0", "ldis.x_expert", "b t d")},
};

static const sm_row end[] = {
    {COPY("ffn_res.x1", NULL, "b t d")}, /* of the FFN or the experts */
    {COPY("ffn_res.x2", "post_attn_norm.x", "b t d")},
    {TWO_OF("ffn_res.y", SM_ADD, "ffn_res.x1", "ffn_res.x2", NULL, "b t d")},
    {COPY("ffn_res.dy", NULL, "b t d")}, /* of the layer after */
    {COPY("ffn_res.dx1", "ffn_res.dy", "b t d")},
    {COPY("ffn_res.dx2", "ffn_res.dy", "b t d")},
};

const sm_rows sm_embedding_rows = {embedding, DSE_COUNT(embedding)};
const sm_rows sm_loss_rows = {loss, DSE_COUNT(loss)};
const sm_rows sm_layer_rows = {layer, DSE_COUNT(layer)};
const sm_rows sm_ffn_rows = {ffn, DSE_COUNT(ffn)};
const sm_rows sm_router_rows = {router, DSE_COUNT(router)};
const sm_rows sm_expert_rows = {expert, DSE_COUNT(expert)};
const sm_rows sm_end_rows = {end, DSE_COUNT(end)};
