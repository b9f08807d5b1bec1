#include "sim/messages.h"

void sim_messages_init(sim_messages *m)
{
    *m = (sim_messages){.free_message = DSE_NONE, .free_channel = DSE_NONE};
}

void sim_messages_free(sim_messages *m)
{
    dse_free(m->message);
    dse_free(m->channel);
    dse_idtable_free(&m->by_key);
    sim_messages_init(m);
}

#define MIN_IDLE 1024 /* channels, before a search for them pays */

/* Products that do not wait for each other: this runs twice for every message. */
static uint32_t hash_key(const sim_message_key *k)
{
    uint64_t h = k->src * 0x9e3779b97f4a7c15u + k->dst * 0xbf58476d1ce4e5b9u +
                 (uint32_t)k->tag * 0x94d049bb133111ebu + k->size * 0xd6e8feb86659fd93u;

    return (uint32_t)(h >> 32);
}

static bool channel_has_key(const void *channels, uint32_t id, const void *key)
{
    const sim_message_key *a = &((const sim_channel *)channels)[id].key, *b = key;

    return a->tag == b->tag && a->src == b->src && a->dst == b->dst && a->size == b->size;
}

static uint32_t find_channel(sim_messages *m, const sim_message_key *key)
{
    uint32_t hash = hash_key(key), id;
    dse_idslot *slot;

    dse_idtable_reserve(&m->by_key);
    slot = dse_idtable_find(&m->by_key, hash, channel_has_key, m->channel, key);
    if (slot->id != DSE_NONE) {
        sim_channel *c = &m->channel[slot->id];

        m->n_idle -= c->idle;
        c->idle = false;
        return slot->id;
    }
    id = DSE_SLOT_TAKE(m->channel, m->cap_channels, m->n_channels, m->free_channel, sim_channel, next_free);
    m->channel[id] = (sim_channel){.key = *key, .under_way = DSE_LIST_EMPTY, .waiting = DSE_NONE};
    dse_idtable_put(&m->by_key, slot, hash, id);
    return id;
}

static void remove_channel(sim_messages *m, uint32_t id)
{
    const sim_message_key *key = &m->channel[id].key;

    dse_idtable_remove(&m->by_key,
                       dse_idtable_find(&m->by_key, hash_key(key), channel_has_key, m->channel, key));
    DSE_SLOT_GIVE(m->channel, id, m->free_channel, next_free);
}

static void rest_channel(sim_messages *m, uint32_t id)
{
    sim_channel *c = &m->channel[id];

    c->idle = true;
    c->n_sent = c->n_received = 0;
    /* The search visits the whole pool, which is at most twice as large as the number of idle channels. */
    if (++m->n_idle < MIN_IDLE || m->n_idle <= m->n_channels / 2)
        return;
    for (uint32_t i = 0; i < m->n_channels; i++)
        if (m->channel[i].idle) {
            m->channel[i].idle = false;
            remove_channel(m, i);
        }
    m->n_idle = 0;
}

static uint32_t new_message(sim_messages *m, uint32_t channel)
{
    sim_channel *c = &m->channel[channel];
    uint32_t id =
        DSE_SLOT_TAKE(m->message, m->cap_messages, m->n_messages, m->free_message, sim_message, next);

    m->message[id] = (sim_message){.channel = channel};
    DSE_LIST_ADD(&c->under_way, m->message, id, sim_message, next);
    if (c->waiting == DSE_NONE)
        c->waiting = id;
    return id;
}

uint32_t sim_messages_post(sim_messages *m, const sim_message_key *key, bool send, sim_call call)
{
    uint32_t ci = find_channel(m, key), id;
    sim_channel *c = &m->channel[ci];

    if (send ? c->n_sent < c->n_received : c->n_received < c->n_sent) {
        id = c->waiting; /* the other end came first */
        c->waiting = m->message[id].next;
    } else {
        id = new_message(m, ci);
    }
    if (send) {
        c->n_sent++;
        m->n_posted++;
        m->message[id].on_sent = call;
    } else {
        c->n_received++;
        m->message[id].received = true;
        m->message[id].on_received = call;
    }
    return id;
}

void sim_messages_drop(sim_messages *m, uint32_t message)
{
    uint32_t ci = m->message[message].channel, previous = DSE_NONE;
    sim_channel *c = &m->channel[ci];

    for (uint32_t i = c->under_way.head; i != message; i = m->message[i].next)
        previous = i;
    if (previous == DSE_NONE)
        c->under_way.head = m->message[message].next;
    else
        m->message[previous].next = m->message[message].next;
    if (c->under_way.tail == message)
        c->under_way.tail = previous;
    DSE_SLOT_GIVE(m->message, message, m->free_message, next);
    if (c->under_way.head == DSE_NONE && c->n_sent == c->n_received)
        rest_channel(m, ci);
}
