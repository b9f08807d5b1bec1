#include "report/sizes.h"

#include <stdlib.h>
#include <string.h>

/* As the configuration has them, and for people. In a string its quotes would have backslashes. */
static const struct {
    const char *key, *word;
} sizes[REPORT_N_SIZES] = {
    {"\"precision.weights\":", "weights"},     {"\"precision.activations\":", "activations"},
    {"\"precision.gradients\":", "gradients"}, {"\"precision.optimizer\":", "optimizer"},
    {"\"precision.messages\":", "messages"},
};

static void read_numbers(const char *config, double out[REPORT_N_SIZES])
{
    for (int i = 0; i < REPORT_N_SIZES; i++) {
        const char *at = config ? strstr(config, sizes[i].key) : NULL;

        out[i] = at ? strtod(at + strlen(sizes[i].key), NULL) : 0;
    }
}

void report_sizes_add(report_sizes *s, const char *config)
{
    double number[REPORT_N_SIZES];

    read_numbers(config, number);
    if (!s->n++)
        memcpy(s->number, number, sizeof number);
    for (int i = 0; i < REPORT_N_SIZES; i++)
        s->differ |= s->number[i] != number[i];
}

bool report_in_bytes(const char *config) { return config && strstr(config, sizes[0].key); }

const char *report_sizes_word(const char *config) { return report_in_bytes(config) ? "bytes" : "elements"; }

const char *report_sizes_key(const report_sizes *s)
{
    return s->differ ? "differs" : s->number[0] > 0 ? "bytes" : "elements";
}

void report_sizes_print(const report_sizes *s, dse_strbuf *out)
{
    dse_strbuf_adds(out, "Memory counts ");
    if (s->differ) {
        dse_strbuf_adds(
            out, "bytes in some of these results, and elements or other bytes in others: that does not "
                 "compare.");
        return;
    }
    if (!(s->number[0] > 0)) {
        dse_strbuf_adds(out, "elements, as ASTRA-sim does, not bytes.");
        return;
    }
    for (int i = 0; i < REPORT_N_SIZES; i++)
        dse_strbuf_addf(out, "%s%s %g", i ? ", " : "bytes (", sizes[i].word, s->number[i]);
    dse_strbuf_adds(out, " an element).");
}

void report_sizes_print_one(const char *config, dse_strbuf *out)
{
    report_sizes s = {0};

    report_sizes_add(&s, config);
    report_sizes_print(&s, out);
}
