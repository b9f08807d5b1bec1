#include "cards/device.h"

#include "cards/locate.h"

#include <math.h>
#include <string.h>

bool card_law_is_given(const card_law *l)
{
    return !isnan(l->flop_factor) || !isnan(l->byte_factor) || !isnan(l->overhead);
}

static bool is_peak(const cfg_param *p) { return !strncmp(p->key, "compute.peak_", 13); }

/* Whether a card may leave it to the file of its device: laws, and peaks of other types of elements than 16 bits. */
static bool is_of_device(const cfg_param *p)
{
    return (!strncmp(p->key, "kernels.", 8) && p->type == CFG_T_DOUBLE) ||
           (is_peak(p) && p->offset != offsetof(card_system, peak_perf));
}

static double *value_of(card_system *s, const cfg_param *p)
{
    return (double *)(void *)((char *)s + p->offset);
}

void card_system_drop_laws(card_system *s)
{
    for (uint32_t i = 0; i < card_system_table.n; i++)
        if (is_of_device(&card_system_table.rows[i]) && !cfg_given_has(&s->given, i))
            *value_of(s, &card_system_table.rows[i]) = NAN;
}

static bool takes_roofline(const card_system *s) { return strcmp(s->laws, "device") != 0; }

/* Whether it has anything but laws and peaks, and where they come from. */
static dse_status check_keys(const cfg_doc *doc, const card_system *file, dse_error *err)
{
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];

        if (cfg_given_has(&file->given, i) && !is_of_device(p) && !is_peak(p) && strcmp(p->key, "source") != 0)
            return dse_fail_at(err, DSE_E_CONFIG, doc->path,
                               "a device file has source, peaks and kernels; '%s' belongs in the system card",
                               p->key);
    }
    return DSE_OK;
}

static dse_status fill_from(card_system *s, const char *path, dse_arena *a, dse_error *err)
{
    card_system file = {0};
    cfg_doc doc;
    double clock;
    dse_status st;

    if ((st = cfg_load(path, a, &doc, err)) != DSE_OK ||
        (st = cfg_table_read_part(&card_system_table, &doc, NULL, &file, err)) != DSE_OK ||
        (st = check_keys(&doc, &file, err)) != DSE_OK)
        return st;
    clock = isnan(file.peak_perf) || isnan(s->peak_perf) ? 1 : s->peak_perf / file.peak_perf;
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];

        if (is_of_device(p) && (is_peak(p) || !takes_roofline(s)) && cfg_given_has(&file.given, i) &&
            !cfg_given_has(&s->given, i))
            *value_of(s, p) = is_peak(p) ? clock * *value_of(&file, p) : *value_of(&file, p);
    }
    return DSE_OK;
}

/* NULL: there is none. */
static const char *file_of(const char *device, dse_arena *a)
{
    const char **names, *folder;
    size_t n;

    if (card_list(CARD_DEVICES, a, &names, &n, &folder, NULL) != DSE_OK)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], device))
            return dse_arena_printf(a, "%s/%s.yaml", folder, device);
    return NULL;
}

dse_status card_system_fill_laws(card_system *s, dse_arena *a, dse_error *err)
{
    const char *path;

    card_system_drop_laws(s);
    if (!*s->device || !(path = file_of(s->device, a)))
        return DSE_OK;
    return fill_from(s, path, a, err);
}

/* Appends the classes that have a law, or those that have none, of types of elements that the device multiplies in. */
static uint32_t add_classes(const card_system *s, bool with_law, dse_strbuf *out)
{
    uint32_t n = 0;

    for (int i = WL_KERNEL_MATMUL; i < WL_N_KERNEL_CLASSES; i++) {
        if (card_law_is_given(&s->kernels[i]) != with_law ||
            (wl_kernel_is_low((wl_kernel_class)i) && isnan(card_system_peak(s, (wl_kernel_class)i))))
            continue;
        if (out)
            dse_strbuf_addf(out, "%s%s", n ? ", " : "", wl_kernel_class_name((wl_kernel_class)i));
        n++;
    }
    return n;
}

bool card_system_has_laws(const card_system *s) { return !takes_roofline(s) && add_classes(s, true, NULL); }

void card_system_say_laws(const card_system *s, dse_strbuf *out)
{
    if (!card_system_has_laws(s)) {
        dse_strbuf_adds(
            out, "kernels last as long as the roofline of the data sheet says; real ones take longer (");
        if (takes_roofline(s))
            dse_strbuf_adds(out, "kernels.laws is roofline)");
        else if (*s->device)
            dse_strbuf_addf(out, "configs/devices has no %s)", s->device);
        else
            dse_strbuf_adds(out, "the system names no device)");
        return;
    }
    dse_strbuf_adds(out, "kernels last as the laws ");
    dse_strbuf_addf(out, *s->device ? "of %s say" : "of the system card say", s->device);
    if (add_classes(s, false, NULL)) {
        dse_strbuf_adds(out, "; without one, so by the roofline of the data sheet: ");
        add_classes(s, false, out);
    }
}
