/* The workloads of STAGE's main branch: their files, groups and memory print-outs are upstream's, byte for
 * byte.
 *
 * usage: run_stage_main [-v] FOLDER [CASE_ID_PREFIX]
 *
 * FOLDER has N2_stage_small.jsonl, N4_e2e.jsonl and N5_big.jsonl, a case a line (its README.md). What
 * upstream's command line refuses, or one of its environment variables, is for tests/cli and counts as
 * skipped. Exit code 0: all agree; 1: some differ; 77: the folder is not there. -v prints what each of the
 * big cases takes. */
#include "base/fs.h"
#include "reference/stage_options.h"
#include "support/sha256.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum { EQUAL, REFUSED, SKIPPED, DIFFERENT, N_OUTCOMES } outcome;

/* ---- what is compared ------------------------------------------------------------------------ */

static bool same_traces(const cfg_node *c, const wl_workload *w, const wl_schema *schema)
{
    const cfg_node *expected = cfg_get(c, "et_sha256");
    bool same = expected->n == w->n_ranks;
    dse_strbuf bytes;
    uint64_t total = 0;

    dse_strbuf_init(&bytes);
    for (uint32_t i = 0; same && i < w->n_ranks; i++) {
        char name[16], hex[65];

        snprintf(name, sizeof name, "%" PRIu32, i);
        dse_strbuf_clear(&bytes);
        wl_chakra_write(w, schema, i, &bytes);
        sha256_hex(bytes.data, bytes.len, hex);
        total += bytes.len;
        same = !strcmp(cfg_get(expected, name)->text, hex);
    }
    dse_strbuf_free(&bytes);
    return same && total == strtoull(cfg_get(c, "et_bytes")->text, NULL, 10);
}

static bool same_groups(const cfg_node *expected, const wl_workload *w)
{
    bool same = expected->n + 1 == w->n_groups;

    for (uint32_t i = 1; same && i < w->n_groups; i++) {
        const cfg_node *members = expected->item[i - 1];

        same = !strcmp(expected->key[i - 1]->text, w->group[i].name) && members->n == w->group[i].n;
        for (uint32_t k = 0; same && k < members->n; k++)
            same = strtoul(members->item[k]->text, NULL, 10) == w->group[i].rank[k];
    }
    return same;
}

static bool same_lines(const cfg_node *expected, const dse_strbuf *memory)
{
    const char *at = memory->data;

    for (uint32_t i = 0; expected && i < expected->n; i++) {
        const size_t n = strlen(expected->item[i]->text);

        if (strncmp(at, expected->item[i]->text, n) != 0 || at[n] != '\n')
            return false;
        at += n + 1;
    }
    return !expected || !*at;
}

static outcome check(const cfg_node *c, dse_arena *a, dse_error *err)
{
    const wl_schema *schema;
    wl_main_options o;
    wl_workload w;
    dse_strbuf memory;
    bool same;

    if (!stage_options_read(c, &o, &schema))
        return SKIPPED;
    dse_strbuf_init(&memory);
    if (wl_stage_main_generate(&o, a, &w, &memory, err) != DSE_OK) {
        dse_strbuf_free(&memory);
        return cfg_get(c, "et_sha256")->n ? DIFFERENT : REFUSED;
    }
    same = cfg_get(c, "et_sha256")->n &&
           same_traces(c, &w, schema) &&
           same_groups(cfg_get(c, "comm_groups"), &w) && same_lines(cfg_get(c, "vram"), &memory);
    dse_strbuf_free(&memory);
    return same ? EQUAL : DIFFERENT;
}

/* ---- the sets -------------------------------------------------------------------------------- */

static double seconds_of(const cfg_node *c, dse_arena *a)
{
    struct timespec from, to;
    const wl_schema *schema;
    wl_main_options o;
    wl_workload w;
    dse_error err = DSE_ERROR_INIT;

    if (!stage_options_read(c, &o, &schema))
        return 0;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    wl_stage_main_generate(&o, a, &w, NULL, &err);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* 77, or whether there was a difference. */
static int run_set(const char *folder, const char *set, const char *prefix, bool times)
{
    uint32_t n[N_OUTCOMES] = {0};
    dse_strbuf text;
    dse_arena a = {0};
    dse_error err = DSE_ERROR_INIT;
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.jsonl", folder, set);
    dse_strbuf_init(&text);
    if (dse_read_file(path, 64u << 20, &text, &err) != DSE_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1, dse_arena_reset(&a)) {
        dse_error why = DSE_ERROR_INIT;
        const char *id;
        cfg_doc row;
        outcome o;

        if (cfg_parse_json(path, line, (size_t)(end - line), &a, &row, &err) != DSE_OK) {
            printf("%s\n", err.text);
            return 1;
        }
        id = cfg_get(row.root, "id")->text;
        if (strncmp(id, prefix, strlen(prefix)) != 0)
            continue;
        n[o = check(row.root, &a, &why)]++;
        if (o == DIFFERENT)
            printf("%s differs%s%s\n", id, why.text[0] ? ": " : "", why.text);
        if (times)
            printf("%s: %.0f ms of CPU\n", id, seconds_of(row.root, &a) * 1e3);
    }
    printf("%s: %" PRIu32 " equal, %" PRIu32 " refused, %" PRIu32 " skipped, %" PRIu32 " different\n", set,
           n[EQUAL], n[REFUSED], n[SKIPPED], n[DIFFERENT]);
    dse_strbuf_free(&text);
    dse_arena_free(&a);
    return n[DIFFERENT] > 0;
}

int main(int argc, char **argv)
{
    static const char *const sets[] = {"N2_stage_small", "N4_e2e", "N5_big"};
    const bool times = argc > 1 && !strcmp(argv[1], "-v");
    int code = 0;

    argv += times;
    argc -= times;
    if (argc != 2 && argc != 3)
        return 2;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const int one = run_set(argv[1], sets[i], argc == 3 ? argv[2] : "", times && i == 2);

        if (one == 77)
            return 77;
        code |= one;
    }
    return code;
}
