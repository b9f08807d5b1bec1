/* nvidia-smi topo -m: a matrix with a row and a column for each GPU and each network card. An entry says what
 * the way between two passes: NV# so many NVLinks, PIX one PCIe switch, PXB several, PHB a host bridge, NODE
 * bridges of a NUMA node, SYS what joins NUMA nodes. The header may be underlined, by escapes of the
 * terminal. */
#include "cards/node.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 512
#define MAX_WORD    24

typedef struct {
    uint32_t n;
    char word[MAX_COLUMNS][MAX_WORD];
} words;

/* The words of a line; returns the next line, or NULL. */
static const char *read_line(const char *p, words *out)
{
    out->n = 0;
    while (*p && *p != '\n') {
        size_t n = 0;

        if (*p == '\033') {
            p += strcspn(p, "m\n");
            p += *p == 'm';
        } else if (isspace((unsigned char)*p)) {
            p++;
        } else if (out->n < MAX_COLUMNS) {
            for (; *p && *p != '\033' && !isspace((unsigned char)*p); p++)
                if (n + 1 < MAX_WORD)
                    out->word[out->n][n++] = *p;
            out->word[out->n++][n] = '\0';
        } else {
            p++;
        }
    }
    return *p ? p + 1 : NULL;
}

static bool is_numbered(const char *word, const char *name)
{
    size_t n = strlen(name);

    return !strncmp(word, name, n) && isdigit((unsigned char)word[n]);
}

/* Columns before those of affinities. */
static uint32_t columns_of(const words *header)
{
    uint32_t n = 0;

    while (n < header->n && strcmp(header->word[n], "CPU") != 0 && strcmp(header->word[n], "NUMA") != 0)
        n++;
    return n;
}

/* Worse links have later places. */
static int rank_of(const char *word)
{
    static const char *const order[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};

    if (is_numbered(word, "NV"))
        return 0;
    for (int i = 0; i < 5; i++)
        if (!strcmp(word, order[i]))
            return i + 1;
    return -1;
}

static dse_status add_link(const char *path, const char *from, const char *to, const char *word,
                           card_node *out, dse_error *err)
{
    if (rank_of(word) < 0)
        return dse_fail_at(
            err, DSE_E_SYNTAX, path,
            "'%.20s' between %s and %s is no link of nvidia-smi's: NV# or PIX, PXB, PHB, NODE, SYS", word,
            from, to);
    if (*out->link && strcmp(out->link, word) != 0 && (!rank_of(word) || !rank_of(out->link)))
        return dse_fail_at(
            err, DSE_E_CONFIG, path,
            "%s and %s are joined by %s, others by %s; GPUs of a node whose NVLinks differ "
            "are not simulated: describe the part that is joined alike with --npus-per-node and --link",
            from, to, word, out->link);
    if (!*out->link || rank_of(word) > rank_of(out->link))
        snprintf(out->link, sizeof out->link, "%.15s", word);
    return DSE_OK;
}

/* A row of a GPU; notes which network cards are beside it. */
static dse_status read_row(const char *path, const words *header, uint32_t columns, const words *row,
                           bool *near, card_node *out, dse_error *err)
{
    dse_status st = DSE_OK;

    if (row->n < columns + 1)
        return dse_fail_at(err, DSE_E_SYNTAX, path, "the row of %s has %u entries for %u columns",
                           row->word[0], (unsigned)(row->n ? row->n - 1 : 0), (unsigned)columns);
    for (uint32_t i = 0; st == DSE_OK && i < columns; i++) {
        const char *word = row->word[i + 1];

        if (!strcmp(word, "X"))
            continue;
        if (is_numbered(header->word[i], "GPU"))
            st = add_link(path, row->word[0], header->word[i], word, out, err);
        else
            near[i] |= rank_of(word) == 1 || rank_of(word) == 2;
    }
    return st;
}

dse_status card_node_read_topo(const char *path, const char *text, card_node *out, dse_error *err)
{
    words header = {0}, row = {0};
    bool near[MAX_COLUMNS] = {false};
    uint32_t columns = 0;
    dse_status st = DSE_OK;

    *out = (card_node){.path = path, .tool = "nvidia-smi topo -m"};
    for (const char *p = text; p && st == DSE_OK;) {
        p = read_line(p, &row);
        if (!columns && row.n > 1 && !strcmp(row.word[0], "GPU0") && rank_of(row.word[1]) < 0 &&
            strcmp(row.word[1], "X") != 0) {
            header = row;
            columns = columns_of(&header);
        } else if (columns && row.n && is_numbered(row.word[0], "GPU")) {
            st = read_row(path, &header, columns, &row, near, out, err);
            out->npus++;
        }
    }
    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < columns; i++) {
        out->all_nics += !is_numbered(header.word[i], "GPU");
        out->nics += !is_numbered(header.word[i], "GPU") && near[i];
    }
    if (!out->npus)
        return dse_fail_at(err, DSE_E_SYNTAX, path,
                           "no matrix of GPUs is here; write it with: nvidia-smi topo -m > %s", path);
    if (!out->nics)
        out->nics = out->all_nics;
    out->nvlinks = is_numbered(out->link, "NV") ? (uint32_t)strtoul(out->link + 2, NULL, 10) : 0;
    return DSE_OK;
}
