/* For fish 3: one `complete` a command, one an option. */
#include "cli/completion.h"

static const char functions[] =
    "# fish completion of ccldse; printed by 'ccldse completion fish'\n"
    "\n"
    "function __ccldse_needs_command\n"
    "    test (count (commandline -opc)) -eq 1\n"
    "end\n"
    "\n"
    "function __ccldse_uses\n"
    "    set -l words (commandline -opc)\n"
    "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
    "end\n"
    "\n"
    "function __ccldse_cards\n"
    "    set -l words (commandline -opc)\n"
    "    $words[1] $argv[1] --names 2>/dev/null\n"
    "end\n"
    "\n"
    "function __ccldse_keys\n"
    "    string split ' ' $__ccldse_all_keys\n"
    "end\n"
    "\n"
    "complete -c ccldse -f\n"
    "complete -c ccldse -n __ccldse_needs_command -l help -d 'list the commands'\n"
    "complete -c ccldse -n __ccldse_needs_command -l version -d 'print versions'\n";

static void put_quoted(const char *text, dse_strbuf *out)
{
    dse_strbuf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            dse_strbuf_addc(out, '\\');
        dse_strbuf_addc(out, *text);
    }
    dse_strbuf_addc(out, '\'');
}

/* " -x -a ..." : what it offers, and whether files as well. */
static void put_offer(const completion_offer *offer, bool by_place, dse_strbuf *out)
{
    static const char *const kinds[] = {[OFFER_MODELS] = "models", [OFFER_SYSTEMS] = "systems"};
    const char *needs_value = by_place ? "" : " -r";

    switch (offer->source) {
    case OFFER_NOTHING: dse_strbuf_adds(out, by_place ? "" : " -x"); break;
    case OFFER_WORDS:
        if (offer->list)
            dse_strbuf_addf(out, "%s -a \"(__fish_complete_list , 'string split \\\" \\\" \\\"%s\\\"')\"",
                            by_place ? "" : " -x", offer->words.data);
        else
            dse_strbuf_addf(out, "%s -a '%s'", by_place ? "" : " -x", offer->words.data);
        break;
    case OFFER_FILES: dse_strbuf_addf(out, "%s -F", needs_value); break;
    case OFFER_FOLDERS:
        dse_strbuf_addf(out, "%s -a '(__fish_complete_directories)'", by_place ? "" : " -x");
        break;
    case OFFER_KEYS: dse_strbuf_adds(out, " -x -a '(__ccldse_keys)'"); break;
    case OFFER_MODELS:
    case OFFER_SYSTEMS:
        if (offer->list)
            dse_strbuf_addf(out, "%s -F -a \"(__fish_complete_list , '__ccldse_cards %s')\"", needs_value,
                            kinds[offer->source]);
        else
            dse_strbuf_addf(out, "%s -F -a '(__ccldse_cards %s)'", needs_value, kinds[offer->source]);
        break;
    }
}

static void put_option(const command *c, const option *o, completion_offer *offer, dse_strbuf *out)
{
    bool by_place = option_is_positional(o);
    dse_strbuf help;

    dse_strbuf_init(&help);
    completion_add_short_help(o, &help);
    completion_offer_set(offer, o);
    dse_strbuf_addf(out, "complete -c ccldse -n '__ccldse_uses %s'", c->name);
    if (!by_place)
        dse_strbuf_addf(out, " -l %s", o->name + 2);
    if (o->type != OPT_FLAG)
        put_offer(offer, by_place, out);
    dse_strbuf_adds(out, " -d ");
    put_quoted(help.data, out);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_free(&help);
}

void completion_write_fish(dse_strbuf *out)
{
    size_t n;
    const command *const *commands = command_table(&n);
    completion_offer offer;
    const option *o;

    completion_offer_init(&offer);
    dse_strbuf_adds(out, functions);
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_addf(out, "complete -c ccldse -n __ccldse_needs_command -a %s -d ", commands[i]->name);
        put_quoted(commands[i]->summary, out);
        dse_strbuf_addc(out, '\n');
    }
    dse_strbuf_adds(
        out, "complete -c ccldse -n __ccldse_needs_command -a help -d 'explain the program or a command'\n"
             "complete -c ccldse -n '__ccldse_uses help' -a '");
    completion_add_commands(out);
    completion_add_topics(out);
    dse_strbuf_adds(out, "'\nset -g __ccldse_all_keys '");
    completion_add_keys(out);
    dse_strbuf_adds(out, "'\n");
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; (o = command_option_at(commands[i], k, NULL)); k++)
            put_option(commands[i], o, &offer, out);
        dse_strbuf_addf(out, "complete -c ccldse -n '__ccldse_uses %s' -l help -d 'explain this command'\n",
                        commands[i]->name);
    }
    completion_offer_free(&offer);
}
