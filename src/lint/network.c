/* A network: its dimensions in the two models, and what of it ASTRA-sim has not. */
#include "lint/parts.h"

#include <inttypes.h>

/* What ASTRA-sim cannot simulate (net_released_limit) is good to know of a card of ours, and stops the run of
 * a file that is ASTRA-sim's. */
static const struct {
    const char *key;
    lint_level in_card, in_astra;
    const char *more;
} limits[NET_N_LIMITS] = {
    [NET_LIMIT_TOPOLOGY] = {"network.topology", LINT_NOTE, LINT_WARNING, ""},
    [NET_LIMIT_MULTI_HOP] = {"network.multi_hop", LINT_NOTE, LINT_NOTE, ""},
    [NET_LIMIT_DIMENSIONS] = {"network.topology", LINT_NOTE, LINT_NOTE,
                              "; what is simulated here agrees with its unpublished branch "
                              "will/congestion-multidim, which has Ring, Switch and FullyConnected"},
    [NET_LIMIT_RING_OF_TWO] = {"network.topology", LINT_NOTE, LINT_WARNING, ""},
};

/* As the files of this system call it. */
static const char *name_of(const lint *l, const char *key)
{
    return l->names_of_astra ? cfg_param_find(&card_system_table, key)->astra_key : key;
}

static void tell_limits(lint *l, const card_places *in, const net_network *net)
{
    for (net_limit i = 0; i < NET_N_LIMITS; i++) {
        dse_error why = DSE_ERROR_INIT;

        if (net_released_limit(net, i, &why) != DSE_OK)
            lint_add(l, l->names_of_astra ? limits[i].in_astra : limits[i].in_card,
                     card_place(in, limits[i].key).text, name_of(l, limits[i].key), "%s%s", why.text,
                     limits[i].more);
    }
}

/* The trap of the model without congestion, and the way out. */
static void tell_lowest(lint *l, const card_places *in, const net_network *net)
{
    if (net->n_dims > 1 && !net->congestion && !net->full_multi_hop)
        lint_add(l, LINT_NOTE, in->network->path, "",
                 "a message between NPUs that differ in several of the %" PRIu32
                 " dimensions pays for the lowest of them alone, as in ASTRA-sim; %s charges all",
                 net->n_dims, l->names_of_astra ? "multi_hop: full" : "network: {multi_hop: full}");
}

static void tell_useless(lint *l, const card_places *in, const net_network *net)
{
    const char *name = name_of(l, "network.multi_hop");

    if (net->n_dims > 1 || !net->full_multi_hop || net->congestion)
        return;
    lint_set_effect(l, in->network->path, name, LINT_NO_EFFECT);
    lint_add(l, LINT_WARNING, card_place(in, "network.multi_hop").text, name,
             "without effect on a network of one dimension");
}

void lint_network(lint *l, const card_places *in, const net_network *net)
{
    tell_lowest(l, in, net);
    tell_limits(l, in, net);
    tell_useless(l, in, net);
}
