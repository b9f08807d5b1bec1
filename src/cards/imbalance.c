#include "cards/imbalance.h"

#include "base/python_random.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

#define ZIPF "zipf:"

/* factor 0: drawn, with the exponent and the seed. */
typedef struct {
    double factor, exponent;
    int64_t seed;
} imbalance;

static bool parse(const char *text, imbalance *out)
{
    char number[64];
    const char *colon;

    *out = (imbalance){.factor = 1};
    if (!*text || !strcmp(text, "even"))
        return true;
    if (strncmp(text, ZIPF, strlen(ZIPF)) != 0)
        return dse_parse_double(text, &out->factor, NULL) == DSE_OK && out->factor >= 1 &&
               isfinite(out->factor);
    text += strlen(ZIPF);
    colon = strchr(text, ':');
    if (colon && dse_parse_int(colon + 1, &out->seed, NULL) != DSE_OK)
        return false;
    if (strlen(text) >= sizeof number)
        return false;
    strcpy(number, text);
    number[strcspn(number, ":")] = '\0';
    out->factor = 0;
    return dse_parse_double(number, &out->exponent, NULL) == DSE_OK && out->exponent >= 0 &&
           out->exponent <= 10;
}

dse_status card_imbalance_check(const char *text, dse_error *err)
{
    imbalance i;

    return parse(text, &i)
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG,
                          "'%.40s' is no imbalance; give even, a number from 1 on (what the most loaded "
                          "rank gets over the mean), or zipf:S, for example zipf:0.5",
                          text);
}

/* Shares of experts by their place, of which none is above 1/k: what is beyond is spread over the others. */
static void set_shares(double *share, uint32_t n, double exponent, double most)
{
    double left = 1, rest = 0;
    uint32_t first = 0;

    for (uint32_t i = 0; i < n; i++)
        rest += share[i] = pow(i + 1, -exponent);
    while (first < n && share[first] / rest * left > most) {
        rest -= share[first];
        left -= most;
        share[first++] = most;
    }
    for (uint32_t i = first; i < n; i++)
        share[i] *= left / rest;
}

/* What the most loaded rank has in a layer whose experts are drawn anew. */
static double draw_most(dse_python_random *r, const double *share, uint32_t *place, uint32_t n, uint32_t ep)
{
    double most = 0;

    dse_python_random_sample(r, n, n, place);
    for (uint32_t rank = 0; rank < ep; rank++) {
        double sum = 0;

        for (uint32_t i = rank * (n / ep); i < (rank + 1) * (n / ep); i++)
            sum += share[place[i]];
        most = fmax(most, sum);
    }
    return most * ep;
}

#define MOST_EXPERTS 65536
#define DRAWS        64 /* layers; the mean of more is the same */

double card_imbalance(const card_model *m, uint32_t ep)
{
    dse_python_random random;
    imbalance i;
    double *share, sum = 0;
    uint32_t *place;
    const uint32_t n_draws = m->layers < DRAWS ? (uint32_t)m->layers : DRAWS;
    const uint32_t n = (uint32_t)(m->experts < MOST_EXPERTS ? m->experts : 0);

    if (!parse(m->imbalance, &i) || i.factor >= 1)
        return fmin(i.factor >= 1 ? i.factor : 1, ep);
    if (ep < 2 || !n || n % ep)
        return 1;
    share = dse_calloc(n, sizeof *share);
    place = dse_calloc(n, sizeof *place);
    set_shares(share, n, i.exponent, 1.0 / (double)m->experts_per_token);
    dse_python_random_seed(&random, i.seed);
    for (uint32_t layer = 0; layer < n_draws; layer++)
        sum += draw_most(&random, share, place, n, ep);
    dse_free(place);
    dse_free(share);
    return sum / n_draws;
}
