#include "report/band.h"

#include <math.h>

static const struct {
    const char *word, *runs; /* for programs; "measured runs ..." */
} levels[] = {
    [CMP_BAND_NONE] = {"none", ""},
    [CMP_BAND_ALIKE] = {"alike", "like this"},
    [CMP_BAND_PROGRAM] = {"program", "of this program"},
    [CMP_BAND_KIN] = {"kin", "of programs with the same habits and models of this size"},
    [CMP_BAND_KIN_OF_ANY_SIZE] = {"kin_of_any_size", "of programs with the same habits"},
    [CMP_BAND_SIZE] = {"size", "of models of this size"},
    [CMP_BAND_DEVICE] = {"device", "of any kind"},
};

/* "all 8 measured runs of this program on nvidia_a100 lay inside, as some 78 % of further ones would" */
static void say_known(const cmp_band *b, const char *device, dse_strbuf *out)
{
    if (b->is_worst)
        dse_strbuf_addf(out, "all %zu", b->runs);
    else
        dse_strbuf_adds(out, "nine of ten");
    dse_strbuf_addf(out, " measured runs %s on %s lay inside", levels[b->level].runs, device);
    if (b->is_worst)
        dse_strbuf_addf(out, ", as some %.0f %% of further ones would", cmp_band_share(b) * 100);
}

/* "nine of ten runs of a new model would lie inside, by the 141 measured runs of this program on nvidia_a100,
 * of 7 other models" */
static void say_new(const cmp_band *b, const char *device, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s %zu measured runs %s on %s%s, of %zu other model%s",
                    b->is_worst ? "all" : "nine of ten runs of a new model would lie inside, by the", b->runs,
                    levels[b->level].runs, device, b->is_worst ? " lay inside" : "", b->models,
                    b->models > 1 ? "s" : "");
    if (b->is_worst && b->models > 1)
        dse_strbuf_addf(out, ", as some %.0f %% of further models would", cmp_band_share(b) * 100);
    else if (b->is_worst)
        dse_strbuf_adds(out, ", which says little of a new one");
}

void report_band_say(const cmp_band *b, const char *device, double step_s, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s .. %s: ", report_seconds(b->low * step_s).text,
                    report_seconds(b->high * step_s).text);
    (b->is_new ? say_new : say_known)(b, device, out);
    dse_strbuf_addf(out, ": %s", b->whom);
}

void report_put_band(const cmp_band *b, double step_s, report_node *to)
{
    if (b->level == CMP_BAND_NONE || isnan(step_s)) {
        report_put(to, V_UNKNOWN("step_time_band"));
        return;
    }
    report_put(report_object(to, "step_time_band"), V_REAL("low_s", b->low * step_s),
               V_REAL("high_s", b->high * step_s), V_TEXT("kind", levels[b->level].word),
               V_COUNT("runs", b->runs), V_COUNT("models", b->models), V_BOOL("for_new_model", b->is_new),
               V_TEXT("inside", b->is_worst ? "all" : "nine of ten"),
               V_REAL("next_inside", cmp_band_share(b)), V_TEXT("of", b->whom),
               V_BOOL("other_models_only", b->others_only));
}
