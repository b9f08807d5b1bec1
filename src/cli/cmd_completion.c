/* Completion scripts of shells. */
#include "base/array.h"
#include "cards/model.h"
#include "cards/system.h"
#include "cli/completion.h"
#include "cli/topics.h"
#include "driver/measure.h"
#include "schedule/schedule.h"
#include "store/store.h"

#include <string.h>

/* ---- offers -------------------------------------------------------------------------------- */

void completion_offer_init(completion_offer *offer)
{
    *offer = (completion_offer){.source = OFFER_NOTHING};
    dse_strbuf_init(&offer->words);
}

void completion_offer_free(completion_offer *offer) { dse_strbuf_free(&offer->words); }

static void add_word(dse_strbuf *words, const char *word)
{
    if (words->len && words->data[words->len - 1] != ' ')
        dse_strbuf_addc(words, ' ');
    dse_strbuf_adds(words, word);
}

void completion_add_commands(dse_strbuf *out)
{
    size_t n;
    const command *const *commands = command_table(&n);

    for (size_t i = 0; i < n; i++)
        add_word(out, commands[i]->name);
}

void completion_add_topics(dse_strbuf *out)
{
    for (const topic *t = topics; t->name; t++)
        add_word(out, t->name);
}

static void add_metrics(dse_strbuf *words)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (size_t i = 0; i < n; i++)
        if (c[i].better != STORE_NEITHER)
            add_word(words, c[i].name);
}

/* Names of traces' metrics, of one group or of all (NULL). */
static void add_names_of(const char *group, dse_strbuf *words)
{
    dse_arena a;
    size_t n;
    const char **names;

    dse_arena_init(&a);
    names = drv_metric_names(group, &a, &n);
    for (size_t i = 0; i < n; i++)
        add_word(words, names[i]);
    dse_arena_free(&a);
}

static void add_trace_metrics(dse_strbuf *words) { add_names_of(NULL, words); }

static void add_guide_metrics(dse_strbuf *words) { add_names_of("guide", words); }

static void add_schedules(dse_strbuf *words)
{
    for (size_t i = 0; sched_names[i]; i++)
        add_word(words, sched_names[i]);
}

/* Which kinds of value are which words. */
static const struct {
    option_complete kind;
    const char *words;
    void (*add)(dse_strbuf *words);
} kinds[] = {
    {COMPLETE_COMMAND, NULL, completion_add_commands}, {COMPLETE_METRIC, NULL, add_metrics},
    {COMPLETE_TRACE_METRIC, NULL, add_trace_metrics},  {COMPLETE_GUIDE_METRIC, NULL, add_guide_metrics},
    {COMPLETE_SCHEDULE, NULL, add_schedules},          {COMPLETE_SWITCH, "yes no both", NULL},
};

void completion_add_keys(dse_strbuf *out)
{
    const cfg_table *const tables[] = {&card_model_table, &card_system_table};

    for (size_t t = 0; t < DSE_COUNT(tables); t++)
        for (uint32_t i = 0; i < tables[t]->n; i++)
            if (!tables[t]->rows[i].moved)
                dse_strbuf_addf(out, "%s%s=", t || i ? " " : "", tables[t]->rows[i].key);
}

/* What an option, or its value, is called says what to offer. */
static const struct {
    const char *name;
    offer_source source;
} names[] = {{"--set", OFFER_KEYS},    {"--model", OFFER_MODELS}, {"--system", OFFER_SYSTEMS},
             {"MODEL", OFFER_MODELS},  {"SYSTEM", OFFER_SYSTEMS}, {"--space", OFFER_FILES},
             {"--trace", OFFER_FILES}, {"FILE", OFFER_FILES},     {"PREFIX", OFFER_FILES},
             {"COMMAND", OFFER_FILES}, {"DIR", OFFER_FOLDERS}};

static offer_source source_by_name(const char *name, size_t n)
{
    for (size_t i = 0; i < DSE_COUNT(names); i++)
        if (strlen(names[i].name) == n && !strncmp(names[i].name, name, n))
            return names[i].source;
    return OFFER_NOTHING;
}

void completion_offer_set(completion_offer *offer, const option *o)
{
    dse_strbuf_clear(&offer->words);
    offer->list = o->value && strstr(o->value, "[,...]");
    offer->source = source_by_name(o->name, strlen(o->name));
    if (offer->source == OFFER_NOTHING && o->value)
        offer->source = source_by_name(o->value, strcspn(o->value, "["));
    for (size_t i = 0; i < DSE_COUNT(kinds); i++) {
        if (o->complete != kinds[i].kind)
            continue;
        if (kinds[i].words)
            dse_strbuf_adds(&offer->words, kinds[i].words);
        if (kinds[i].add)
            kinds[i].add(&offer->words);
    }
    for (size_t i = 0; o->choices && o->choices[i]; i++)
        add_word(&offer->words, o->choices[i]);
    if (o->type == OPT_BOOL)
        dse_strbuf_adds(&offer->words, "true false");
    if (offer->words.len)
        offer->source = OFFER_WORDS;
}

void completion_add_short_help(const option *o, dse_strbuf *out)
{
    size_t n = strcspn(o->help, ";:(");

    while (n && o->help[n - 1] == ' ')
        n--;
    dse_strbuf_add(out, o->help, n);
}

/* ---- the command --------------------------------------------------------------------------- */

typedef struct {
    const char *shell;
} completion_options;

static const char *const shell_names[] = {"bash", "zsh", "fish", NULL};
static completion_write *const writers[] = {completion_write_bash, completion_write_zsh,
                                            completion_write_fish};

static const option options[] = {
    {"SHELL", OPT_STRING, NULL, NULL, "which shell's", .choices = shell_names,
     .offset = offsetof(completion_options, shell)},
};

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const completion_options *o = opts;

    (void)err;
    writers[option_place(shell_names, o->shell)](r->out);
    return DSE_OK;
}

const command command_completion = {
    .name = "completion",
    .summary = "print the completion script of a shell",
    .details =
        "Completes commands, options and, where they are known, values; cards by the names that 'ccldse "
        "models' and 'ccldse systems' list at that moment. An installed program brings the scripts; without "
        "installation, 'ccldse completion zsh > ~/.zfunc/_ccldse' (a folder of fpath) or 'ccldse completion "
        "fish > ~/.config/fish/completions/ccldse.fish'.",
    .example = "source <(ccldse completion bash)",
    COMMAND_OPTIONS(options, completion_options),
    .run = run,
};
