/* For zsh with compinit: a function file for fpath, which may also be sourced. */
#include "cli/completion.h"
#include "cli/topics.h"

#include <string.h>

static const char begin[] =
    "#compdef ccldse\n"
    "# zsh completion of ccldse; printed by 'ccldse completion zsh'\n"
    "\n"
    "# _ccldse_cards models|systems [COMPADD_OPTION...]: by name; else files\n"
    "_ccldse_cards() {\n"
    "    local kind=$1\n"
    "    local -a names\n"
    "    shift\n"
    "    names=(${(f)\"$(_call_program $kind ${(q)program} $kind --names 2>/dev/null)\"})\n"
    "    compadd \"$@\" -a names || _files \"$@\"\n"
    "}\n"
    "\n"
    "# _ccldse_keys [COMPADD_OPTION...]: a value goes on behind the sign\n"
    "_ccldse_keys() {\n"
    "    compadd \"$@\" -S '' - ";

static const char end[] = "    esac\n"
                          "}\n"
                          "\n"
                          "if [[ $funcstack[1] == _ccldse ]]; then\n"
                          "    _ccldse \"$@\"\n"
                          "else\n"
                          "    compdef _ccldse ccldse\n"
                          "fi\n";

/* Inside single quotes, where _arguments and _describe give a meaning to some characters. */
static void put_quoted(const char *text, size_t n, const char *special, dse_strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'')
            dse_strbuf_adds(out, "'\\''");
        else {
            if (strchr(special, text[i]))
                dse_strbuf_addc(out, '\\');
            dse_strbuf_addc(out, text[i]);
        }
    }
}

static void put_action(const completion_offer *offer, dse_strbuf *out)
{
    const char *separated = offer->list ? "_sequence " : "";

    switch (offer->source) {
    case OFFER_NOTHING: dse_strbuf_addc(out, ' '); break;
    case OFFER_WORDS: dse_strbuf_addf(out, " %scompadd - %s", separated, offer->words.data); break;
    case OFFER_FILES: dse_strbuf_adds(out, "_files"); break;
    case OFFER_FOLDERS: dse_strbuf_adds(out, "_files -/"); break;
    case OFFER_MODELS: dse_strbuf_addf(out, " %s_ccldse_cards models", separated); break;
    case OFFER_SYSTEMS: dse_strbuf_addf(out, " %s_ccldse_cards systems", separated); break;
    case OFFER_KEYS: dse_strbuf_adds(out, "_ccldse_keys"); break;
    }
}

/* '--model=[model cards]:NAME: _ccldse_cards models' */
static void put_option(const option *o, completion_offer *offer, dse_strbuf *out)
{
    const char *value = option_is_positional(o) ? o->name : o->value;
    dse_strbuf help;

    dse_strbuf_init(&help);
    completion_add_short_help(o, &help);
    completion_offer_set(offer, o);
    dse_strbuf_adds(out, " \\\n            '");
    if (option_is_positional(o)) {
        dse_strbuf_adds(out, o->type == OPT_LIST ? "*" : o->fallback ? ":" : "");
    } else {
        dse_strbuf_addf(out, "%s%s%s[", o->type == OPT_LIST ? "*" : "", o->name,
                        o->type == OPT_FLAG ? "" : "=");
        put_quoted(help.data, help.len, "[]:\\", out);
        dse_strbuf_addc(out, ']');
    }
    if (o->type != OPT_FLAG) {
        dse_strbuf_addc(out, ':');
        put_quoted(value, strcspn(value, "["), ":\\", out);
        dse_strbuf_addc(out, ':');
        put_action(offer, out);
    }
    dse_strbuf_addc(out, '\'');
    dse_strbuf_free(&help);
}

static void put_command(const command *c, dse_strbuf *out)
{
    completion_offer offer;
    const option *o;

    completion_offer_init(&offer);
    dse_strbuf_addf(out, "    %s)\n        _arguments", c->name);
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++)
        put_option(o, &offer, out);
    dse_strbuf_adds(out, " \\\n            '--help[explain this command]' ;;\n");
    completion_offer_free(&offer);
}

void completion_write_zsh(dse_strbuf *out)
{
    size_t n;
    const command *const *commands = command_table(&n);

    dse_strbuf_adds(out, begin);
    completion_add_keys(out);
    dse_strbuf_adds(out, "\n"
                         "}\n"
                         "\n"
                         "_ccldse() {\n"
                         "    local program=$words[1]\n"
                         "    local -a commands\n"
                         "    commands=(\n");
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_addf(out, "        '%s:", commands[i]->name);
        put_quoted(commands[i]->summary, strlen(commands[i]->summary), "\\", out);
        dse_strbuf_adds(out, "'\n");
    }
    dse_strbuf_adds(out, "        'help:explain the program or a command'\n"
                         "    )\n"
                         "    if ((CURRENT == 2)); then\n"
                         "        _arguments '--help[list the commands]' '--version[print versions]' "
                         "'*: :{_describe command commands}'\n"
                         "        return\n"
                         "    fi\n"
                         "    shift words\n"
                         "    ((CURRENT--))\n"
                         "    case $words[1] in\n");
    for (size_t i = 0; i < n; i++)
        put_command(commands[i], out);
    dse_strbuf_adds(out, "    help)\n        commands+=(");
    for (const topic *t = topics; t->name; t++)
        dse_strbuf_addf(out, "%s'%s:explain %s'", t == topics ? "" : " ", t->name, t->summary);
    dse_strbuf_adds(out, ")\n        _describe command commands ;;\n");
    dse_strbuf_adds(out, end);
}
