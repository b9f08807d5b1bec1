#include "driver/bands.h"

#include "base/array.h"
#include "base/fs.h"
#include "cards/locate.h"
#include "driver/programs.h"
#include "driver/recipe.h"
#include "driver/training.h"

#include <inttypes.h>
#include <string.h>

dse_status drv_bands_load(dse_arena *a, cmp_bands *out, dse_error *err)
{
    const char **names, *folder, *path;
    size_t n;

    *out = (cmp_bands){0};
    if (card_list(CARD_ERRORS, a, &names, &n, &folder, NULL) != DSE_OK)
        return DSE_OK;
    path = dse_arena_printf(a, "%s/training.csv", folder);
    return dse_is_file(path) ? cmp_bands_load(path, a, out, err) : DSE_OK;
}

/* Whether something was set over the system's card that another time follows from, but for its number of
 * NPUs: the evidence is of systems as they are, and of parts of them. */
static bool is_changed(const char *settings)
{
    static const char *const times[] = {"compute.", "memory.bandwidth", "overheads.", "kernels.", "network."};
    static const char size[] = "network.npus_count", part[] = "network.part=";

    for (const char *word = settings; *word; word += strcspn(word, " "), word += strspn(word, " "))
        for (size_t i = 0; i < DSE_COUNT(times); i++)
            if (!strncmp(word, times[i], strlen(times[i])) && strncmp(word, size, sizeof size - 1) != 0 &&
                strncmp(word, part, sizeof part - 1) != 0)
                return true;
    return false;
}

/* What the evidence is not of; NULL: it may be. */
static const char *other_kind(const drv_study *s)
{
    static const char fitted[] = "fitted to "; /* measured/calibrate.c */

    if (!*s->system.device)
        return "the system names no device, of which measured step times could be at hand";
    if (!strncmp(s->system.source, fitted, sizeof fitted - 1))
        return "the system is fitted: its card says how well";
    if (strcmp(s->system.laws, "device") != 0)
        return "it is known of kernels by the device's laws alone, and kernels.laws is another";
    if (is_changed(s->settings))
        return "no run was measured with these settings of the system";
    if (card_model_precision(&s->model).activations > 2)
        return "it is known of 16-bit elements alone";
    return NULL;
}

cmp_band_key drv_band_key(const drv_study *s, const strategy *p, dse_arena *a)
{
    const card_model *m = &s->model;
    char program[STRATEGY_VALUE_MAX];

    return (cmp_band_key){
        .device = s->system.device,
        .program = dse_arena_strdup(a, strategy_print(&strategy_parameters[STRATEGY_like], p->like, program)),
        .kin = drv_program_kin(p),
        .model = dse_arena_printf(a, "%" PRId64 "x%" PRId64, m->layers, m->d_model),
        .size = cmp_size_of(drv_training_parameters(s)),
        .sequence = m->sequence,
        .bits = drv_recipe_bits(p),
        .has_experts = m->experts > 0};
}

/* Nothing is known of the kind; or of other sequences alone, which is then said. */
static const char *say_none(const cmp_bands *b, cmp_band_key key, dse_arena *a)
{
    const int64_t sequence = key.sequence;
    const char *text;

    text = dse_arena_printf(a, "%s%s",
                            key.has_experts && key.others_only ? " of another model with experts"
                            : key.has_experts                  ? " of a model with experts"
                            : key.others_only                  ? " of another model"
                                                               : "",
                            key.bits == 16  ? ""
                            : key.bits == 8 ? " with products in 8 bits"
                                            : " with products in 4 bits");
    key.sequence = 0;
    return cmp_band_of(b, &key, a).level == CMP_BAND_NONE
               ? dse_arena_printf(a, "no step time%s measured on %s is at hand", text, key.device)
               : dse_arena_printf(a,
                                  "fewer than %d step times%s with sequences near %" PRId64
                                  " tokens (within a factor of %d) measured on %s are at hand",
                                  CMP_BAND_LEAST, text, sequence, CMP_BAND_SEQUENCE, key.device);
}

cmp_band drv_band_of(const cmp_bands *b, const drv_study *s, const strategy *p, bool others_only,
                     dse_arena *a, const char **why)
{
    const cmp_band none = {.level = CMP_BAND_NONE};
    cmp_band_key key;
    cmp_band band;

    *why = NULL;
    if (!s->training || (*why = other_kind(s)))
        return none;
    key = drv_band_key(s, p, a);
    key.others_only = others_only;
    band = cmp_band_of(b, &key, a);
    if (band.level == CMP_BAND_NONE)
        *why = say_none(b, key, a);
    return band;
}

/* `scratch` is for the study. */
static drv_best_band band_of_best(const cmp_bands *bands, const report_study *s, dse_arena *scratch,
                                  dse_arena *a)
{
    const store_row *best = s->n_ranked ? s->ranked[0] : NULL;
    drv_best_band b = {0};
    drv_study study;
    strategy point; /* of the row that has the configuration */

    if (!best || !report_trains(s) || !store_is_native(best->engine) ||
        drv_study_read_config(s->row->config, strlen(s->row->config), scratch, &study, &point, NULL) !=
            DSE_OK)
        return b;
    b.band = drv_band_of(bands, &study, &best->strategy, false, a, &b.why);
    b.device = dse_arena_strdup(a, study.system.device);
    return b;
}

dse_status drv_bands_of_best(const report_study *studies, size_t n, dse_arena *a, drv_best_band **out,
                             dse_error *err)
{
    cmp_bands bands;
    dse_arena scratch;
    dse_status st = drv_bands_load(a, &bands, err);

    *out = DSE_ARENA_NEW(a, drv_best_band, n);
    dse_arena_init(&scratch);
    for (size_t i = 0; st == DSE_OK && i < n; i++) {
        dse_arena_reset(&scratch);
        (*out)[i] = band_of_best(&bands, &studies[i], &scratch, a);
    }
    dse_arena_free(&scratch);
    return st;
}
