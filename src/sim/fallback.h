/* sim_fallback -- why the plain engine simulated a run, and not the abridged engine.
 *
 * The first reason that the abridged engine met. A row: id, name, sentence. Names are stored and counted:
 * they stay. */
#ifndef DSE_SIM_FALLBACK_H
#define DSE_SIM_FALLBACK_H

#define SIM_FALLBACK_LIST(X)                                                                                 \
    /* of the system */                                                                                      \
    X(NOT_ASKED, "not_asked", "no shortcut was asked for")                                                   \
    X(CONGESTION, "congestion", "messages queue for links (congestion)")                                     \
    X(RENDEZVOUS, "rendezvous", "messages wait for a handshake (rendezvous protocol)")                       \
    X(SHARED_BUS, "shared_bus", "packets share the memory bus of an endpoint")                               \
    X(SEVERAL_QUEUES, "several_queues", "a dimension has several queues")                                    \
    X(SHARED_MEMORY, "shared_memory", "ranks share a remote memory")                                         \
    X(CUSTOM_COLLECTIVES, "custom_collectives", "Chakra files say how collectives run")                      \
    /* of the workload */                                                                                    \
    X(NOT_A_MEMBER, "not_a_member", "a rank has a collective in a group that does not list it once")         \
    X(IDLE_MEMBER, "idle_member", "a member of a group takes no part in it")                                 \
    X(SHARED_PREDECESSOR, "shared_predecessor", "a rank comes after another in two groups")                  \
    X(UNEVEN_GROUP, "uneven_group", "a group's classes do not repeat")                                       \
    X(UNPAIRED_MESSAGE, "unpaired_message", "a message without exactly one counterpart")                     \
    X(SHARED_TAG, "shared_tag", "two messages with one tag")                                                 \
    X(UNLIKE_PEERS, "unlike_peers", "ranks of one graph differ in who their peers are")                      \
    X(LONG_PATH, "long_path", "a path has more links in a dimension than its class can say")                 \
    /* of the run */                                                                                         \
    X(UNLIKE_COLLECTIVES, "unlike_collectives", "the ranks of a group begin different collectives")          \
    X(UNEVEN_COLLECTIVE, "uneven_collective", "not all ranks do the same in a collective")                   \
    X(SCATTERED_BEGIN, "scattered_begin", "not all ranks begin a collective together")                       \
    X(NO_CLOSED_FORM, "no_closed_form", "a ring's collective has no closed form")                            \
    X(INSTANT_MESSAGE, "instant_message", "a message has no bytes, or takes no time or too much")            \
    X(EARLY_MESSAGE, "early_message", "a message arrives before it is asked for")                            \
    X(TICK_ORDER, "tick_order", "the order within a tick is not known")                                      \
    X(TICK_ZERO, "tick_zero", "something ends at tick 0")                                                    \
    X(MANY_CLASSES, "many_classes", "ranks are of too many classes to fit the memory limit")                 \
    X(ERROR, "error", "the run ends in an error")

typedef enum {
    SIM_FALLBACK_NONE, /* the abridged engine did it */
#define SIM_FALLBACK_ROW(id, name, text) SIM_FALLBACK_##id,
    SIM_FALLBACK_LIST(SIM_FALLBACK_ROW)
#undef SIM_FALLBACK_ROW
        SIM_N_FALLBACKS
} sim_fallback;

const char *sim_fallback_name(sim_fallback f);    /* a word; NONE: "" */
sim_fallback sim_fallback_find(const char *name); /* the reverse; NONE: no such name, or NULL */
const char *sim_fallback_text(sim_fallback f);    /* for people, in a sentence after "because"; NONE: "" */

#endif
