/* sim_messages -- matching sends with receives.
 *
 * As in the reference, a message is known by (tag, source, destination, size) and its number among the
 * messages of that key: the nth send matches the nth receive, whichever collective posted them. So two
 * collectives that use the same tags between the same ranks can receive each other's messages; that is
 * reproduced.
 *
 * A channel is one key with messages under way. When all its sends and receives have matched it is idle, and
 * counts from zero again, which pairs the same way as counting on. Idle channels are kept, because the next
 * step of a collective has the same key; they are removed together when they are more than half of the
 * pool. */
#ifndef DSE_SIM_MESSAGES_H
#define DSE_SIM_MESSAGES_H

#include "base/idtable.h"
#include "base/list.h"

/* The workload's own tags and those of collectives have ranges of this size, so that they never match. */
#define SIM_TAG_SPAN 500000000u

typedef enum {
    SIM_CALL_NOTHING,
    SIM_CALL_STREAM,          /* a chunk of a collective received: subject is the stream */
    SIM_CALL_NODE,            /* a send or receive node is done: subject is the node */
    SIM_CALL_CUSTOM,          /* the same of an algorithm as Chakra files (custom.h) */
    SIM_CALL_RENDEZVOUS_SEND, /* the receiver is ready: subject is the postponed send */
    SIM_CALL_RENDEZVOUS_RECV  /* the sender knows: subject is the postponed receive */
} sim_call_kind;

typedef struct {
    uint32_t kind; /* sim_call_kind */
    uint32_t rank;
    uint32_t subject;
} sim_call;

typedef struct {
    int32_t tag;
    uint32_t src, dst;
    uint64_t size;
} sim_message_key;

typedef struct {
    sim_call on_sent, on_received;
    uint32_t channel;
    uint32_t next; /* on the channel, or in the free list */
    bool received, arrived;
} sim_message;

typedef struct {
    sim_message_key key;
    uint32_t n_sent, n_received;
    dse_list under_way; /* messages, by number */
    uint32_t waiting;   /* the first of them that only one end has posted */
    uint32_t next_free;
    bool idle;
} sim_channel;

typedef struct {
    sim_message *message;
    size_t n_messages, cap_messages;
    uint32_t free_message;
    sim_channel *channel;
    size_t n_channels, cap_channels;
    uint32_t free_channel;
    size_t n_idle;
    dse_idtable by_key; /* idle ones, too */
    uint64_t n_posted;  /* sends posted so far */
} sim_messages;

void sim_messages_init(sim_messages *m);
void sim_messages_free(sim_messages *m);

/* Posts a send or a receive and yields its message, which may have been posted from the other end before. */
uint32_t sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call);

/* Removes a message once both ends are done with it. */
void sim_messages_drop(sim_messages *m, uint32_t message);

#endif
