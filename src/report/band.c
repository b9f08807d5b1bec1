#include "report/band.h"

#include <math.h>

static const struct {
    const char *word, *runs; /* for programs; "measured runs ..." */
} levels[] = {
    [CMP_BAND_NONE] = {"none", ""},
    [CMP_BAND_ALIKE] = {"alike", "like this"},
    [CMP_BAND_PROGRAM] = {"program", "of this program"},
    [CMP_BAND_KIN] = {"kin", "of programs with the same habits and models of this size"},
    [CMP_BAND_SIZE] = {"size", "of models of this size"},
    [CMP_BAND_DEVICE] = {"device", "of any kind"},
};

/* The share of further runs of the kind that the band holds: of runs that come in no order, the next is as likely to be in
 * any place among n, and in two of the n + 1 places it lies outside of the extremes. Of quantiles, as they say. */
static double next_inside(const cmp_band *b)
{
    const double n = (double)b->runs;

    return b->is_worst ? (n - 1) / (n + 1) : 0.9;
}

void report_band_say(const cmp_band *b, const char *device, double step_s, dse_strbuf *out)
{
    dse_strbuf_addf(out, "%s .. %s: ", report_seconds(b->low * step_s).text,
                    report_seconds(b->high * step_s).text);
    if (b->is_worst)
        dse_strbuf_addf(out, "all %zu", b->runs);
    else
        dse_strbuf_adds(out, "nine of ten");
    dse_strbuf_addf(out, " measured runs %s on %s%s lay inside", levels[b->level].runs, device,
                    b->others_only ? ", all of other models," : "");
    if (b->is_worst)
        dse_strbuf_addf(out, ", as some %.0f %% of further ones would", next_inside(b) * 100);
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
               V_COUNT("runs", b->runs), V_TEXT("inside", b->is_worst ? "all" : "nine of ten"),
               V_REAL("next_inside", next_inside(b)),
               V_TEXT("of", b->whom), V_BOOL("other_models_only", b->others_only));
}
