/* The shared memory bus (model-shared-bus): what a packet waits for at an endpoint that has one.
 *
 * LogGP after Alexandrov et al. (SPAA 1995), as system/LogGP.cc and MemBus.cc of the reference have it. A
 * rank has an outer bus between the NPU and its network adapter (MA), and an inner one between the NPU and
 * its memory. Each bus has two sides that take turns: a side that sends is busy for o (or what is left of the
 * gap g) plus G per byte, and its partner receives for L + o longer. A packet towards the adapter is first
 * read from memory over the inner bus. A packet from the adapter that is to be reduced goes to memory and
 * back before and is processed for 50 + size/100 * local_reduction_delay ticks; then it goes back to the
 * adapter or retires to memory. A side that has sent more than 8 requests in a row lets its partner go first.
 * The inner bus always takes 0.0038 per byte, and sizes are signed 32-bit, both as in the reference. Packets
 * of groups do not use the bus. */
#include "sim/engine.h"
#include "sim/stream.h"

#include <inttypes.h>

#define READS_IN_A_ROW 8
#define INNER_G        0.0038

enum { NPU, MA, INNER_NPU, INNER_MEMORY, N_SIDES };

typedef enum { SEND_FINISHED, RECEIVE_FINISHED, PROCESSING_FINISHED } bus_event;

/* The step after a request has crossed its bus. */
typedef enum {
    THEN_BUNDLE,    /* the packet has passed the endpoint */
    THEN_PROCESS,   /* the outer request it stands for is processed, */
    THEN_SEND_BACK, /* sent, */
    THEN_RETIRE     /* or done; all three on the NPU's side of the outer bus */
} then_what;

typedef struct {
    int32_t size;
    bool process, send_back;
    uint8_t then;
    uint32_t subject; /* the stream, or the outer request */
    uint64_t value;   /* of the stream's bundle */
    uint32_t next;
} request;

typedef struct {
    dse_list of;
    uint32_t n;
} fifo;

typedef enum { FREE, SENDING, RECEIVING } side_state;

typedef struct {
    fifo sends, receives, processing;
    side_state state, previous;
    bool is_processing;
    uint32_t in_a_row;
    dse_time last;
} side;

struct sim_bus {
    side side[N_SIDES];
    request *request;
    size_t n_requests, cap_requests;
    uint32_t free_request;
};

void sim_bus_init(sim_engine *e, uint32_t rank)
{
    struct sim_bus *b;

    if (!e->set->bus.shared)
        return;
    b = DSE_ARENA_NEW(e->arena, struct sim_bus, 1);
    for (int i = 0; i < N_SIDES; i++) {
        const fifo empty = {DSE_LIST_EMPTY, 0};
        b->side[i].sends = b->side[i].receives = b->side[i].processing = empty;
    }
    b->free_request = DSE_NONE;
    e->rank[rank].bus = b;
}

void sim_bus_free(sim_engine *e, uint32_t rank)
{
    if (e->rank[rank].bus)
        dse_free(e->rank[rank].bus->request);
}

/* ---- requests and queues ------------------------------------------------------------------- */

static uint32_t new_request(struct sim_bus *b, request r)
{
    uint32_t id = DSE_SLOT_TAKE(b->request, b->cap_requests, b->n_requests, b->free_request, request, next);

    b->request[id] = r;
    return id;
}

static void push(struct sim_bus *b, fifo *q, uint32_t id)
{
    DSE_LIST_ADD(&q->of, b->request, id, request, next);
    q->n++;
}

static void pop(struct sim_bus *b, fifo *q)
{
    DSE_LIST_DROP_HEAD(&q->of, b->request, next);
    q->n--;
}

/* ---- sides --------------------------------------------------------------------------------- */

static double per_byte(const sim_engine *e, int which) { return which < INNER_NPU ? e->set->bus.G : INNER_G; }

static void later(sim_engine *e, uint32_t rank, int which, bus_event ev, dse_time ticks)
{
    sim_register(e, rank, SIM_RE_BUS, (uint32_t)which, (uint64_t)ev, ticks);
}

static void send_next(sim_engine *e, uint32_t rank, int which)
{
    struct sim_bus *b = e->rank[rank].bus;
    side *s = &b->side[which], *partner = &b->side[which ^ 1];
    uint32_t id = s->sends.of.head;
    double bytes = (double)b->request[id].size - 1;
    dse_time offset = e->set->bus.o, since = e->now - s->last;

    if (s->previous == SENDING && e->set->bus.o + since <= e->set->bus.g)
        offset = e->set->bus.g - since;
    pop(b, &s->sends);
    push(b, &partner->receives, id);
    partner->previous = partner->state;
    partner->state = RECEIVING;
    partner->in_a_row = 0;
    later(e, rank, which ^ 1, RECEIVE_FINISHED,
          dse_ticks((double)offset + bytes * per_byte(e, which ^ 1) + (double)e->set->bus.L +
                    (double)e->set->bus.o));
    s->state = SENDING;
    later(e, rank, which, SEND_FINISHED, dse_ticks((double)offset + per_byte(e, which) * bytes));
}

/* Sends the next request if the side is free, or lets the partner go first. */
static void send_if_free(sim_engine *e, uint32_t rank, int which)
{
    struct sim_bus *b = e->rank[rank].bus;
    side *s = &b->side[which], *partner = &b->side[which ^ 1];

    if (s->state != FREE || !s->sends.n)
        return;
    if (s->in_a_row > READS_IN_A_ROW && partner->sends.n && partner->in_a_row <= READS_IN_A_ROW) {
        if (partner->state == FREE)
            send_if_free(e, rank, which ^ 1);
        return;
    }
    send_next(e, rank, which);
}

static void enter(sim_engine *e, uint32_t rank, int which, request r)
{
    struct sim_bus *b = e->rank[rank].bus;

    push(b, &b->side[which].sends, new_request(b, r));
    send_if_free(e, rank, which);
}

/* The outer request goes to memory over the inner bus (`and_back`: and returns), then goes on as `then`
 * says. */
static void through_memory(sim_engine *e, uint32_t rank, uint32_t outer, bool from_memory, bool and_back,
                           then_what then)
{
    int32_t size = e->rank[rank].bus->request[outer].size;

    enter(e, rank, from_memory ? INNER_MEMORY : INNER_NPU,
          (request){.size = size, .send_back = and_back, .then = (uint8_t)then, .subject = outer});
}

static void start_processing(sim_engine *e, uint32_t rank, int which)
{
    struct sim_bus *b = e->rank[rank].bus;
    side *s = &b->side[which];

    if (s->is_processing || !s->processing.n)
        return;
    s->is_processing = true;
    later(e, rank, which, PROCESSING_FINISHED,
          (dse_time)(b->request[s->processing.of.head].size / 100 * e->set->bus.local_reduction_delay + 50));
}

/* A request has crossed its bus: continues what it stood for. */
static void come_through(sim_engine *e, uint32_t rank, request r)
{
    struct sim_bus *b = e->rank[rank].bus;

    switch ((then_what)r.then) {
    case THEN_BUNDLE: sim_bundle_passed(e, rank, r.subject, r.value); return;
    case THEN_PROCESS:
        push(b, &b->side[NPU].processing, r.subject);
        start_processing(e, rank, NPU);
        break;
    case THEN_SEND_BACK: push(b, &b->side[NPU].sends, r.subject); break;
    case THEN_RETIRE: {
        request outer = b->request[r.subject];

        come_through(e, rank, outer);
        DSE_SLOT_GIVE(b->request, r.subject, b->free_request, next);
        break;
    }
    }
    send_if_free(e, rank, NPU);
}

/* Forwards a request that has been received, or processed. */
static void dispatch(sim_engine *e, uint32_t rank, int which, uint32_t id, fifo *from)
{
    struct sim_bus *b = e->rank[rank].bus;
    request r = b->request[id];

    if (r.process) {
        b->request[id].process = false;
        pop(b, from);
        if (which == NPU)
            through_memory(e, rank, id, false, true, THEN_PROCESS);
        else
            push(b, &b->side[which].processing, id);
        start_processing(e, rank, which);
    } else if (r.send_back) {
        b->request[id].send_back = false;
        pop(b, from);
        if (which == NPU)
            through_memory(e, rank, id, false, true, THEN_SEND_BACK);
        else
            push(b, &b->side[which].sends, id);
    } else if (which == NPU) {
        pop(b, from);
        through_memory(e, rank, id, false, false, THEN_RETIRE);
    } else {
        come_through(e, rank, r); /* may queue more behind it */
        pop(b, from);
        DSE_SLOT_GIVE(b->request, id, b->free_request, next);
    }
}

void sim_bus_event(sim_engine *e, uint32_t rank, uint32_t which, uint64_t ev)
{
    side *s = &e->rank[rank].bus->side[which];

    switch ((bus_event)ev) {
    case SEND_FINISHED:
        s->last = e->now;
        s->previous = s->state;
        s->state = FREE;
        s->in_a_row++;
        break;
    case RECEIVE_FINISHED:
        s->last = e->now;
        s->previous = s->state;
        if (s->receives.n < 2)
            s->state = FREE;
        dispatch(e, rank, (int)which, s->receives.of.head, &s->receives);
        break;
    case PROCESSING_FINISHED:
        s->is_processing = false;
        dispatch(e, rank, (int)which, s->processing.of.head, &s->processing);
        start_processing(e, rank, (int)which);
        break;
    }
    send_if_free(e, rank, (int)which);
}

void sim_bus_enter(sim_engine *e, uint32_t rank, uint32_t stream, uint64_t bytes, uint64_t value, sim_way way)
{
    struct sim_bus *b = e->rank[rank].bus;
    request r = {.size = (int32_t)bytes,
                 .process = value != SIM_NO_REDUCTION,
                 .send_back = way == SIM_FROM_NETWORK_AND_BACK,
                 .then = THEN_BUNDLE,
                 .subject = stream,
                 .value = value};

    if (way != SIM_TO_NETWORK) {
        enter(e, rank, MA, r);
        return;
    }
    through_memory(e, rank, new_request(b, r), true, false, THEN_SEND_BACK);
}
