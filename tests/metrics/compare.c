#include "metrics/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool ends(const char *path, const char *with)
{
    size_t n = strlen(path), m = strlen(with);

    return n >= m && strcmp(path + n - m, with) == 0;
}

/* Microseconds in the unit of a key. */
static double unit_of(const char *path)
{
    if (strstr(path, "_us") ||
        strstr(path, "_bytes")) /* traffic_distribution says bytes and means microseconds */
        return 1;
    if (strstr(path, "_ms"))
        return 1e-3;
    return ends(path, "_s") || strstr(path, "_sec") || strstr(path, "_time") || ends(path, "_window") ? 1e-6
                                                                                                      : 0;
}

/* One in the last decimal of a number that was rounded to at most four; 0 for others. */
static double last_decimal(double v)
{
    for (int d = 0; d <= 4; d++) {
        double scaled = v * pow(10, d);

        if (fabs(scaled - round(scaled)) < 1e-9 * fmax(1, fabs(scaled)))
            return pow(10, -(d < 2 ? 2 : d)) * 1.0001;
    }
    return 0;
}

static bool near(const char *path, double want, double got, const tolerance *t)
{
    double by = fabs(want - got);

    /* Of times that differ by so much. */
    double relative = t->per_event_us > 0 && strstr(path, "ratio") ? 1e-4 : t->relative;

    return want == got || by <= relative * fmax(fabs(want), fabs(got)) ||
           by <= t->per_event_us * (double)t->n_events * unit_of(path) ||
           (t->rounded && by <= last_decimal(want));
}

static bool is_absent(const json_t *v)
{
    return !v || json_is_null(v) || (json_is_object(v) && json_object_get(v, "refused"));
}

/* How the references say "not available". */
static bool says_absent(const json_t *v)
{
    return json_is_null(v) || (json_is_number(v) && json_number_value(v) == -1) ||
           (json_is_object(v) && (json_object_get(v, "error") ||
                                  (json_object_get(v, "note") && json_is_null(json_object_get(v, "value")))));
}

static void differ(const char *path, const json_t *want, const json_t *got, tally *sum)
{
    char *a = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT),
         *b = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    sum->n_different++;
    printf("%s: %.200s, and here %.200s\n", path, a, b ? b : "nothing");
    free(a);
    free(b);
}

void compare(const char *path, const json_t *want, const json_t *got, const tolerance *t, tally *sum)
{
    char below[512];
    const char *key;
    json_t *v;
    size_t i;

    if (says_absent(want)) {
        sum->n_values++;
        if (!is_absent(got) && !json_is_object(got) && !json_equal(want, got))
            differ(path, want, got, sum);
    } else if (json_is_object(want)) {
        if (!json_is_object(got) || json_object_get(got, "refused")) {
            sum->n_values++;
            differ(path, want, got, sum);
            return;
        }
        json_object_foreach((json_t *)want, key, v)
        {
            snprintf(below, sizeof below, "%s.%s", path, key);
            compare(below, v, json_object_get(got, key), t, sum);
        }
    } else if (json_is_array(want)) {
        if (!json_is_array(got) || json_array_size(want) != json_array_size(got)) {
            sum->n_values++;
            differ(path, want, got, sum);
            return;
        }
        json_array_foreach(want, i, v)
        {
            snprintf(below, sizeof below, "%s[%zu]", path, i);
            compare(below, v, json_array_get(got, i), t, sum);
        }
    } else {
        sum->n_values++;
        if (json_is_number(want)
                ? !json_is_number(got) || !near(path, json_number_value(want), json_number_value(got), t)
                : !got || !json_equal(want, got))
            differ(path, want, got, sum);
    }
}
