#include "cards/hf.h"

#include "base/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A word for a comment; one with a line break would go on as keys of the card. */
static const char *word_of(const cfg_node *map, const char *key)
{
    const cfg_node *node = cfg_get(map, key);

    if (node && node->kind == CFG_LIST && node->n)
        node = node->item[0];
    return node && node->kind == CFG_SCALAR && dse_is_printable(node->text) ? node->text : NULL;
}

/* 8030261248 as "8,030,261,248". */
static void add_grouped(dse_strbuf *out, uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);

    for (int i = 0; i < length; i++)
        dse_strbuf_addf(out, "%s%c", i && (length - i) % 3 == 0 ? "," : "", digits[i]);
}

static void write_head(const cfg_doc *config, const card_hf_notes *notes, uint64_t parameters,
                       dse_strbuf *out)
{
    const char *class = word_of(config->root, "architectures"), *type = word_of(config->root, "model_type");

    dse_strbuf_addf(out, "# %s, a Hugging Face config", config->path);
    if (class || type)
        dse_strbuf_addf(out, " (%s%s%s)", class ? class : "", class && type ? ", " : "", type ? type : "");
    dse_strbuf_adds(out, ", read by 'ccldse models new'. Parameters: ");
    add_grouped(out, parameters);
    dse_strbuf_adds(out, ".\n");
    for (uint32_t i = 0; i < notes->n; i++)
        dse_strbuf_addf(out, "# Not simulated: %s.\n", notes->item[i].text);
    dse_strbuf_adds(out,
                    "# A config does not say how the model is trained: write batch (sequences of a step) "
                    "and sequence (tokens of one) here, or\n"
                    "# give --set batch=N --set sequence=N.\n");
}

/* "bias.qkv: true" stands under "bias". */
static void write_key(const cfg_node *card, uint32_t i, const char **section, dse_strbuf *out)
{
    const char *key = card->key[i]->text, *dot = strchr(key, '.');
    const size_t n = dot ? (size_t)(dot - key) : 0;

    if (dot && (!*section || strncmp(*section, key, n + 1) != 0))
        dse_strbuf_addf(out, "%.*s:\n", (int)n, key);
    *section = dot ? key : NULL;
    dse_strbuf_addf(out, "%s%s: %s\n", dot ? "  " : "", dot ? dot + 1 : key, card->item[i]->text);
}

void card_hf_write(const cfg_doc *config, const cfg_doc *card, const card_hf_notes *notes,
                   uint64_t parameters, dse_strbuf *out)
{
    const char *section = NULL;

    write_head(config, notes, parameters, out);
    for (uint32_t i = 0; i < card->root->n; i++)
        write_key(card->root, i, &section, out);
}
