#include "report/certificate.h"

#include <math.h>
#include <string.h>

void report_certificate(const store_searched *s, dse_strbuf *out)
{
    if (s->is_finished && !s->n)
        dse_strbuf_adds(out, "no point can be run, satisfies the constraints and fits");
    else if (s->is_finished)
        dse_strbuf_addf(out, "no other point is among the best %" PRIu64, s->n);
    else if (!s->n)
        dse_strbuf_adds(out, "no point is known yet");
    else if (!(s->gap > 0))
        dse_strbuf_adds(out, "no point is faster than the best");
    else
        dse_strbuf_addf(out, "no point is faster than %s, %.3g %% less than the best",
                        report_time(s->least_step).text, 100 * s->gap);
}

/* Whether it says anything of a ranking by this metric, with this limit. */
static bool is_of(const store_searched *s, const store_column *by, double hbm_bytes)
{
    const bool is_limit =
        isnan(hbm_bytes) ? isnan(s->hbm_bytes) : hbm_bytes <= s->hbm_bytes && hbm_bytes >= s->hbm_bytes;

    return is_limit && (!strcmp(by->name, "wall_time") || !strcmp(by->name, "tokens_per_s"));
}

static report_text limit_of(const store_searched *s, const char *system)
{
    return isnan(s->hbm_bytes) ? report_format("%s", system) : report_size(s->hbm_bytes);
}

/* Why it says nothing. */
static report_text why_not_of(const store_searched *s)
{
    return report_format(
        "The search was for the shortest steps that fit %s: by another metric or limit, other "
        "points of its space may be better.",
        limit_of(s, "their system").text);
}

static void print_points(const store_searched *s, dse_strbuf *out)
{
    report_certificate(s, out);
    dse_strbuf_addf(out, "; %s%.6g points before constraints.\n", s->has_all ? "" : "at least ", s->points);
}

void report_certificate_print(const store_searched *s, const store_column *by, double hbm_bytes,
                              dse_strbuf *out)
{
    if (is_of(s, by, hbm_bytes)) {
        dse_strbuf_adds(out, "Certificate of the search: ");
        print_points(s, out);
    } else {
        dse_strbuf_addf(out, "%s\n", why_not_of(s).text);
    }
}

void report_certificate_print_none(const store_searched *s, dse_strbuf *out)
{
    dse_strbuf_addf(out,
                    s->is_finished ? "The search of %s on %s found nothing that fits %s: "
                                   : "The search of %s on %s ended before it found a point that fits %s: ",
                    s->model, s->system, limit_of(s, "it").text);
    print_points(s, out);
}

static void put(const store_searched *s, report_node *to)
{
    report_put(report_object(to, "certificate"), V_COUNT("best", s->n), V_BOOL("finished", s->is_finished),
               V_REAL("gap_percent", 100 * s->gap),
               V_GIVEN(s->n && !s->is_finished, V_COUNT("least_step", s->least_step)),
               V_REAL("points", s->points), V_BOOL("all_points", s->has_all), V_COUNT("boxes", s->boxes),
               V_GIVEN(!isnan(s->hbm_bytes), V_FIXED("hbm_bytes", s->hbm_bytes, 0)));
}

void report_certificate_put(const store_searched *s, const store_column *by, double hbm_bytes,
                            report_node *to)
{
    if (is_of(s, by, hbm_bytes))
        put(s, to);
    else
        report_put(to, V_UNKNOWN("certificate"), V_TEXT("why_no_certificate", why_not_of(s).text));
}

void report_certificate_put_none(const store_searched *s, report_node *list)
{
    put(s, report_row(list, V_TEXT("model", s->model), V_TEXT("system", s->system)));
}
