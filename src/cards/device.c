#include "cards/device.h"

#include "base/fs.h"
#include "base/hash.h"
#include "cards/kernel_table.h"
#include "cards/locate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_MARK  "#"
#define HASH_CHARS 17 /* of the mark and the hash */
#define MOST_BYTES (1u << 22)

static dse_status mark_tables(card_system *s, card_tables *tables, dse_error *err);

bool card_law_is_given(const card_law *l)
{
    return !isnan(l->flop_factor) || !isnan(l->byte_factor) || !isnan(l->overhead);
}

static bool is_peak(const cfg_param *p) { return !strncmp(p->key, "compute.peak_", 13); }

static bool is_table(const cfg_param *p)
{
    const size_t length = strlen(p->key);

    return length > 14 && !strncmp(p->key, "kernels.", 8) && !strcmp(p->key + length - 6, ".table");
}

/* Whether a card may leave it to the file of its device: laws, and peaks of other types of elements than 16
 * bits. */
static bool is_of_device(const cfg_param *p)
{
    return (!strncmp(p->key, "kernels.", 8) && p->type == CFG_T_DOUBLE) || is_table(p) ||
           (is_peak(p) && p->offset != offsetof(card_system, peak_perf));
}

bool card_laws_depend_on(const char *path)
{
    const cfg_param p = {.key = path};

    return !strcmp(path, "device") || !strncmp(path, "kernels.", 8) || is_peak(&p);
}

/* What a device file has of the memory, whose size and rate differ between models of a device. */
static bool is_memory(const cfg_param *p)
{
    return p->offset == offsetof(card_system, memory_bandwidth) ||
           p->offset == offsetof(card_system, hbm_bytes);
}

static double *value_of(card_system *s, const cfg_param *p)
{
    return (double *)(void *)((char *)s + p->offset);
}

static char *name_of(card_system *s, const cfg_param *p) { return (char *)s + p->offset; }

void card_system_drop_laws(card_system *s)
{
    for (uint32_t i = 0; i < card_system_table.n; i++)
        if (is_table(&card_system_table.rows[i]) && !cfg_given_has(&s->given, i))
            *name_of(s, &card_system_table.rows[i]) = '\0';
        else if (is_of_device(&card_system_table.rows[i]) && !cfg_given_has(&s->given, i))
            *value_of(s, &card_system_table.rows[i]) = NAN;
}

static bool takes_roofline(const card_system *s) { return !strcmp(s->laws, "roofline"); }
static bool takes_tables(const card_system *s) { return !strcmp(s->laws, "device"); }

/* ---- the file of a device ---------------------------------------------------------------------- */

/* Whether it has anything but laws, peaks and memory, and where they come from. */
static dse_status check_keys(const cfg_doc *doc, const card_system *file, dse_error *err)
{
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];

        if (cfg_given_has(&file->given, i) && !is_of_device(p) && !is_peak(p) && !is_memory(p) &&
            strcmp(p->key, "source") != 0)
            return dse_fail_at(
                err, DSE_E_CONFIG, doc->path,
                "a device file has source, peaks, memory and kernels; '%s' belongs in the system card",
                p->key);
    }
    return DSE_OK;
}

static dse_status read_file(const char *path, dse_arena *a, card_system *file, dse_error *err)
{
    cfg_doc doc;
    dse_status st;

    *file = (card_system){0};
    if ((st = cfg_load(path, a, &doc, err)) != DSE_OK ||
        (st = cfg_table_read_part(&card_system_table, &doc, NULL, file, err)) != DSE_OK)
        return st;
    return check_keys(&doc, file, err);
}

static dse_status fill_from(card_system *s, const char *path, dse_arena *a, dse_error *err)
{
    card_system file;
    double clock;
    dse_status st = read_file(path, a, &file, err);

    if (st != DSE_OK)
        return st;
    clock = isnan(file.peak_perf) || isnan(s->peak_perf) ? 1 : s->peak_perf / file.peak_perf;
    for (uint32_t i = 0; i < card_system_table.n; i++) {
        const cfg_param *p = &card_system_table.rows[i];

        if (!is_of_device(p) || !cfg_given_has(&file.given, i) || cfg_given_has(&s->given, i))
            continue;
        if (is_peak(p))
            *value_of(s, p) = clock * *value_of(&file, p);
        else if (is_table(p) && takes_tables(s))
            memcpy(name_of(s, p), name_of(&file, p), sizeof(cfg_name));
        else if (!is_table(p) && !takes_roofline(s))
            *value_of(s, p) = *value_of(&file, p);
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

dse_status card_system_fill_laws(card_system *s, card_tables *tables, dse_arena *a, dse_error *err)
{
    const char *path;
    dse_status st;

    card_system_drop_laws(s);
    if (*s->device && (path = file_of(s->device, a)) && (st = fill_from(s, path, a, err)) != DSE_OK)
        return st;
    return takes_tables(s) ? mark_tables(s, tables, err) : DSE_OK;
}

dse_status card_system_fill_sheet(card_system *s, dse_error *err)
{
    const bool peaks = !cfg_is_given(&card_system_table, s, "compute.peak_perf");
    card_system file;
    const char *path;
    dse_arena a;
    dse_status st = DSE_OK;

    if (!peaks && cfg_is_given(&card_system_table, s, "memory.bandwidth") &&
        cfg_is_given(&card_system_table, s, "memory.capacity"))
        return DSE_OK; /* most cards: nothing is open, and laws read the file once more */
    dse_arena_init(&a);
    if (*s->device && (path = file_of(s->device, &a)) && (st = read_file(path, &a, &file, err)) == DSE_OK)
        for (uint32_t i = 0; i < card_system_table.n; i++) {
            const cfg_param *p = &card_system_table.rows[i];

            if ((!is_memory(p) && !(peaks && is_peak(p))) || !cfg_given_has(&file.given, i) ||
                cfg_given_has(&s->given, i))
                continue;
            *value_of(s, p) = *value_of(&file, p);
            cfg_given_put(&s->given, i);
        }
    dse_arena_free(&a);
    return st;
}

/* ---- tables ------------------------------------------------------------------------------------ */

struct card_table_read {
    const char *name, *path;
    uint64_t hash; /* of its text */
    sim_table *table;
    const card_table_read *next;
};

/* A name may have the hash behind it that its text must have. */
static bool has_other_hash(const char *name, uint64_t hash)
{
    const char *mark = strchr(name, *HASH_MARK);

    return mark && strtoull(mark + 1, NULL, 16) != hash;
}

static dse_status locate_table(const char *name, dse_arena *a, const char **path, dse_error *err)
{
    const char **names, *folder = "";
    size_t n;

    /* A file of the current folder does not stand in for one of the device. */
    *path = name;
    if (strchr(name, '/') && dse_is_file(name))
        return DSE_OK;
    if (card_list(CARD_DEVICES, a, &names, &n, &folder, NULL) == DSE_OK)
        *path = dse_arena_printf(a, "%s/%s", folder, name);
    return dse_is_file(*path)
               ? DSE_OK
               : dse_fail(err, DSE_E_CONFIG, "there is no table of kernels '%s' in configs/devices", name);
}

static dse_status read_table(const char *name, dse_arena *a, card_table_read *out, dse_error *err)
{
    dse_status st;
    dse_strbuf text;

    out->name = dse_arena_strndup(a, name, strcspn(name, HASH_MARK));
    if ((st = locate_table(out->name, a, &out->path, err)) != DSE_OK)
        return st;
    dse_strbuf_init(&text);
    if ((st = dse_read_file(out->path, MOST_BYTES, &text, err)) == DSE_OK) {
        out->hash = dse_hash_bytes(text.data, text.len);
        st = has_other_hash(name, out->hash)
                 ? dse_fail_at(
                       err, DSE_E_CONFIG, out->path,
                       "this table has changed since the configuration was written, which has the hash %s",
                       strchr(name, *HASH_MARK) + 1)
                 : card_table_parse(out->path, text.data, a, &out->table, err);
    }
    dse_strbuf_free(&text);
    return st;
}

/* From the list, or from its file. */
static dse_status find_table(const char *name, card_tables *tables, const card_table_read **out,
                             dse_error *err)
{
    const size_t length = strcspn(name, HASH_MARK);
    card_table_read *read;
    dse_status st;

    for (const card_table_read *t = tables->first; t; t = t->next)
        if (strlen(t->name) == length && !memcmp(t->name, name, length) && !has_other_hash(name, t->hash)) {
            *out = t;
            return DSE_OK;
        }
    read = DSE_ARENA_NEW(tables->arena, card_table_read, 1);
    read->next = tables->first;
    if ((st = read_table(name, tables->arena, read, err)) == DSE_OK)
        *out = tables->first = read;
    return st;
}

static dse_status mark_tables(card_system *s, card_tables *tables, dse_error *err)
{
    dse_status st = DSE_OK;

    for (int i = WL_KERNEL_MATMUL; st == DSE_OK && i < WL_N_KERNEL_CLASSES; i++) {
        char *name = s->kernels[i].table;
        const card_table_read *t;

        if (!*name || strchr(name, *HASH_MARK) || (st = find_table(name, tables, &t, err)) != DSE_OK)
            continue;
        if (strlen(name) + HASH_CHARS < CFG_NAME_MAX)
            snprintf(name + strlen(name), HASH_CHARS + 1, HASH_MARK "%016" PRIx64, t->hash);
        else
            st = dse_fail(err, DSE_E_CONFIG,
                          "the name of the table '%s' is too long; it may have %d characters", name,
                          CFG_NAME_MAX - 1 - HASH_CHARS);
    }
    return st;
}

/* The backward pass of attention, of which nothing is measured, may take the forward one's ratios. */
static bool fits_class(const sim_table *t, wl_kernel_class class)
{
    return t->class == class || (t->class == WL_KERNEL_ATTENTION && class == WL_KERNEL_ATTENTION_BACKWARD);
}

static dse_status load_table(const char *name, wl_kernel_class class, card_tables *tables,
                             const sim_table **out, dse_error *err)
{
    const card_table_read *t;
    dse_status st = find_table(name, tables, &t, err);

    if (st != DSE_OK)
        return st;
    *out = t->table;
    return fits_class(t->table, class)
               ? DSE_OK
               : dse_fail_at(err, DSE_E_CONFIG, t->path, "this table is of the class %s, not %s",
                             wl_kernel_class_name(t->table->class), wl_kernel_class_name(class));
}

dse_status card_system_load_tables(const card_system *s, card_tables *tables, sim_settings *set,
                                   dse_error *err)
{
    dse_status st = DSE_OK;

    for (int i = WL_KERNEL_MATMUL; st == DSE_OK && takes_tables(s) && i < WL_N_KERNEL_CLASSES; i++) {
        const char *class = wl_kernel_class_name((wl_kernel_class)i);

        if (!*s->kernels[i].table)
            continue;
        st = set->law[i].is_given
                 ? load_table(s->kernels[i].table, (wl_kernel_class)i, tables, &set->law[i].table, err)
                 : dse_fail(err, DSE_E_CONFIG,
                            "kernels.%s.table needs flop_factor: it is a factor of the law of its class",
                            class);
    }
    return st;
}

static bool has_tables(const card_system *s)
{
    for (int i = WL_KERNEL_MATMUL; i < WL_N_KERNEL_CLASSES; i++)
        if (*s->kernels[i].table)
            return takes_tables(s);
    return false;
}

/* ---- words ------------------------------------------------------------------------------------- */

/* Appends the classes that have a law, or those that have none, of types of elements that the device
 * multiplies in. */
static uint32_t add_classes(const card_system *s, bool with_law, dse_strbuf *out)
{
    uint32_t n = 0;

    for (int i = WL_KERNEL_MATMUL; i < WL_N_KERNEL_CLASSES; i++) {
        if (card_law_is_given(&s->kernels[i]) != with_law ||
            (wl_kernel_is_low((wl_kernel_class)i) && isnan(card_system_peak(s, (wl_kernel_class)i))) ||
            (!with_law && wl_kernel_general_class((wl_kernel_class)i) != (wl_kernel_class)i))
            continue;
        if (out)
            dse_strbuf_addf(out, "%s%s", n ? ", " : "", wl_kernel_class_name((wl_kernel_class)i));
        n++;
    }
    return n;
}

static bool has_file(const char *device)
{
    dse_arena a;
    bool has;

    dse_arena_init(&a);
    has = file_of(device, &a) != NULL;
    dse_arena_free(&a);
    return has;
}

bool card_system_has_laws(const card_system *s) { return !takes_roofline(s) && add_classes(s, true, NULL); }

void card_system_say_laws(const card_system *s, dse_strbuf *out)
{
    if (!card_system_has_laws(s)) {
        dse_strbuf_adds(
            out, "kernels last as long as the roofline of the data sheet says; real ones take longer (");
        if (takes_roofline(s))
            dse_strbuf_adds(out, "kernels.laws is roofline)");
        else if (!*s->device)
            dse_strbuf_adds(out, "the system names no device)");
        else if (has_file(s->device))
            dse_strbuf_addf(out, "no measured kernels of %s are at hand)", s->device);
        else
            dse_strbuf_addf(out, "configs/devices has no %s)", s->device);
        return;
    }
    dse_strbuf_adds(out,
                    has_tables(s) ? "kernels last as the laws and tables " : "kernels last as the laws ");
    dse_strbuf_addf(out, *s->device ? "of %s say" : "of the system card say", s->device);
    if (add_classes(s, false, NULL)) {
        dse_strbuf_adds(out, "; without one, so by the roofline of the data sheet: ");
        add_classes(s, false, out);
    }
}

dse_status card_device_lacks(const char *device, dse_arena *a, bool *has_laws, dse_strbuf *out,
                             dse_error *err)
{
    cfg_doc nothing = {.path = device, .root = &(cfg_node){.kind = CFG_MAP}};
    sim_settings *set = DSE_ARENA_NEW(a, sim_settings, 1);
    card_tables tables = {.arena = a};
    card_system s = {0};
    dse_status st;

    *has_laws = false;
    if (!file_of(device, a))
        return DSE_OK;
    if ((st = cfg_table_read_part(&card_system_table, &nothing, NULL, &s, err)) != DSE_OK)
        return st;
    snprintf(s.device, sizeof s.device, "%s", device);
    if ((st = card_system_fill_laws(&s, &tables, a, err)) != DSE_OK)
        return st;
    *has_laws = card_system_has_laws(&s);
    add_classes(&s, false, out);
    for (int i = 0; i < WL_N_KERNEL_CLASSES; i++)
        set->law[i].is_given = card_law_is_given(&s.kernels[i]);
    return card_system_load_tables(&s, &tables, set, err);
}
