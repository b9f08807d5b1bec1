/* Double binary tree: data is reduced up a binary tree and sent down again; chunks alternate between two
 * trees, one with its root at the first rank of the dimension, the other with its root at the last.
 *
 * It runs the all-reduce whatever the collective. The tree of n ranks is a root with one child, under it a
 * full tree of n - 1 ranks, numbered in order; so n must be a power of two. With another n the reference
 * crashes; here it is refused. Source: system/topology/BinaryTree.cc and
 * system/collective/DoubleBinaryTreeAllReduce.cc of the reference. */
#include "sim/engine.h"
#include "sim/stream.h"

/* Places of the full tree, in order 1 .. n-1: the number of trailing zeros of a place is its level, its
 * children are half of its lowest bit away, its parent one lowest bit away on the side that has the next
 * higher bit. Place 0 is the root, whose only child is the middle. */
static void find_neighbours(uint32_t n, uint32_t at, uint32_t *parent, uint32_t *low, uint32_t *high)
{
    uint32_t bit = at & (0u - at);

    *parent = *low = *high = DSE_NONE;
    if (!at) {
        *high = n / 2;
        return;
    }
    *parent = at == n / 2 ? 0 : (at & (bit << 1)) ? at - bit : at + bit;
    if (bit > 1) {
        *low = at - bit / 2;
        *high = at + bit / 2;
    }
}

static uint32_t to_rank(const sim_ring *r, uint32_t place, bool root_last)
{
    if (place == DSE_NONE)
        return DSE_NONE;
    return sim_ring_member(r, root_last ? r->n - 1 - place : place);
}

static const char *plan_tree(const sim_implementation *how, bool dim_last, uint32_t tree, sim_phase *p)
{
    uint32_t n = p->ring.n, parent, low, high, place;
    bool root_last = tree % 2 == 0;

    (void)how;
    p->final_bytes = p->bytes;
    if (p->in_group)
        return "doubleBinaryTree crashes in a group smaller than the system; use ring, direct or "
               "halvingDoubling, or list an implementation for each of several dimensions";
    if (n & (n - 1))
        return "doubleBinaryTree needs a power of two of ranks in its dimension";
    /* In the last dimension of the implementation list the reference counts the tree from the first NPU: with
     * more network dimensions behind it, NPUs beyond the first of these are in no tree. */
    if (dim_last && p->ring.base >= p->ring.stride)
        return "doubleBinaryTree as the last implementation must be that of the last network dimension";
    /* Counted from the other end, low and high change sides: left is always the lower rank. */
    place = root_last ? n - 1 - p->ring.index : p->ring.index;
    find_neighbours(n, place, &parent, &low, &high);
    p->parent = to_rank(&p->ring, parent, root_last);
    p->left = to_rank(&p->ring, root_last ? high : low, root_last);
    p->right = to_rank(&p->ring, root_last ? low : high, root_last);
    p->place = parent == DSE_NONE                            ? SIM_TREE_ROOT
               : p->left == DSE_NONE && p->right == DSE_NONE ? SIM_TREE_LEAF
                                                             : SIM_TREE_INNER;
    return NULL;
}

static void send_to(sim_engine *e, const sim_stream *s, uint32_t rank)
{
    sim_send(e, s->rank, rank, sim_stream_phase(s)->bytes, s->tag);
}

static void receive_from(sim_engine *e, const sim_stream *s, uint32_t rank)
{
    sim_call received = {SIM_CALL_STREAM, s->rank, s->id};

    sim_receive(e, s->rank, rank, sim_stream_phase(s)->bytes, s->tag, received);
}

/* The state of a node: the direction of its data, and the number of children reduced so far.
 *
 *   rising   A leaf's data passes the endpoint; other nodes receive from each child and reduce what they
 *            receive. With the data of all children, it is the sum of the subtree, and goes up. At the root
 *            it is the sum of all ranks, and turns.
 *   falling  The parent's answer is the sum of all ranks. It passes the endpoint and goes to the children.
 *
 * Receives are posted only when their data is wanted: the children's at the start, the parent's when the node
 * has sent up. So a message belongs to the node's current direction, whatever the order in which messages
 * arrive and reductions end. The reference reduces the answer in inner nodes once more. */
enum { RISING, FALLING };

static const uint32_t n_children[] = {[SIM_TREE_LEAF] = 0, [SIM_TREE_INNER] = 2, [SIM_TREE_ROOT] = 1};

static void send_down(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);

    if (p->left != DSE_NONE)
        send_to(e, s, p->left);
    if (p->right != DSE_NONE)
        send_to(e, s, p->right);
    sim_stream_next_phase(e, s);
}

static void start_tree(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);

    if (p->left != DSE_NONE)
        receive_from(e, s, p->left);
    if (p->right != DSE_NONE)
        receive_from(e, s, p->right);
    if (p->place == SIM_TREE_LEAF)
        sim_bundle(e, s, p->bytes, false, SIM_TO_NETWORK);
}

/* The packet that completes the sum goes from the network to memory and back, to be sent on; earlier packets
 * stay there. */
static void receive_tree(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);
    bool goes_on = s->tree_state == FALLING || ++s->received == n_children[p->place];

    if (p->place == SIM_TREE_LEAF)
        sim_bundle(e, s, p->bytes, false, SIM_FROM_NETWORK);
    else
        sim_bundle(e, s, p->bytes, true, goes_on ? SIM_FROM_NETWORK_AND_BACK : SIM_FROM_NETWORK);
}

static void ready_tree(sim_engine *e, sim_stream *s)
{
    const sim_phase *p = sim_stream_phase(s);

    if (s->tree_state == RISING && p->place == SIM_TREE_INNER && ++s->tree_reductions < n_children[p->place])
        return;
    if (s->tree_state == FALLING || p->place == SIM_TREE_ROOT) {
        send_down(e, s);
        return;
    }
    s->tree_state = FALLING;
    send_to(e, s, p->parent);
    receive_from(e, s, p->parent);
}

extern const sim_algorithm sim_algorithm_double_binary_tree;
const sim_algorithm sim_algorithm_double_binary_tree = {
    .name = "doubleBinaryTree",
    .power_of_two = true,
    .summary = "reduce up a tree and broadcast down; always an all-reduce",
    .plan = plan_tree,
    .start = start_tree,
    .ready = ready_tree,
    .receive = receive_tree,
};
