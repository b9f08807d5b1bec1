/* For bash 4.2 or newer; needs nothing of the bash-completion package. Names of cards are compared as they
 * are, never through `compgen -W`, which would expand what stands in a file's name. */
#include "cli/completion.h"

static const char functions[] =
    "# bash completion of ccldse; printed by 'ccldse completion bash'\n"
    "\n"
    "# _ccldse_words one|list WORD...: the words that go on with what is typed; of a list, with what is "
    "behind its comma\n"
    "_ccldse_words() {\n"
    "    local before= word\n"
    "    if [[ $1 == list ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        [[ $cur == *,* ]] && before=${cur%,*},\n"
    "    fi\n"
    "    shift\n"
    "    for word in \"$@\"; do\n"
    "        [[ $word == \"${cur#\"$before\"}\"* ]] && COMPREPLY+=(\"$before$(printf %q \"$word\")\")\n"
    "    done\n"
    "}\n"
    "\n"
    "_ccldse_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "\n"
    "_ccldse_folders() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
    "}\n"
    "\n"
    "# _ccldse_cards one|list models|systems: by name; else files\n"
    "_ccldse_cards() {\n"
    "    local -a names\n"
    "    mapfile -t names < <(\"$program\" \"$2\" --names 2>/dev/null)\n"
    "    _ccldse_words \"$1\" \"${names[@]}\"\n"
    "    ((${#COMPREPLY[@]})) || _ccldse_files\n"
    "}\n"
    "\n"
    "# _ccldse_keys one KEY=...: a value goes on behind the sign\n"
    "_ccldse_keys() {\n"
    "    compopt -o nospace 2>/dev/null\n"
    "    _ccldse_words \"$1\" $_ccldse_all_keys\n"
    "}\n"
    "\n"
    "_ccldse() {\n"
    "    local program=${1/#\\~/$HOME} cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    COMPREPLY=()\n"
    "    # '--option=value' comes as three words\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $before == = ]]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n";

static void put_action(const completion_offer *offer, dse_strbuf *out)
{
    static const char *const actions[] = {
        [OFFER_NOTHING] = "",
        [OFFER_WORDS] = "_ccldse_words",
        [OFFER_FILES] = "_ccldse_files",
        [OFFER_FOLDERS] = "_ccldse_folders",
        [OFFER_MODELS] = "_ccldse_cards",
        [OFFER_SYSTEMS] = "_ccldse_cards",
        [OFFER_KEYS] = "_ccldse_keys",
    };
    const char *how = offer->list ? " list" : " one";

    dse_strbuf_adds(out, actions[offer->source]);
    if (offer->source == OFFER_KEYS)
        dse_strbuf_adds(out, how);
    else if (offer->source == OFFER_WORDS)
        dse_strbuf_addf(out, "%s %s", how, offer->words.data);
    else if (offer->source == OFFER_MODELS || offer->source == OFFER_SYSTEMS)
        dse_strbuf_addf(out, "%s %s", how, offer->source == OFFER_MODELS ? "models" : "systems");
}

/* One line for every option that takes a value, then one for what stands anywhere else. */
static void put_command(const command *c, dse_strbuf *out)
{
    completion_offer offer;
    const option *o, *by_place = NULL;

    completion_offer_init(&offer);
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++) {
        if (option_is_positional(o))
            by_place = by_place ? by_place : o;
        if (option_is_positional(o) || o->type == OPT_FLAG)
            continue;
        completion_offer_set(&offer, o);
        dse_strbuf_addf(out, "    %s:%s) ", c->name, o->name);
        put_action(&offer, out);
        dse_strbuf_adds(out, offer.source == OFFER_NOTHING ? ";;\n" : " ;;\n");
    }
    if (by_place) {
        completion_offer_set(&offer, by_place);
        if (offer.source != OFFER_NOTHING) {
            dse_strbuf_addf(out, "    %s:*) [[ $cur == -* ]] || ", c->name);
            put_action(&offer, out);
            dse_strbuf_adds(out, " ;;&\n");
        }
    }
    dse_strbuf_addf(out, "    %s:*) ((${#COMPREPLY[@]})) || _ccldse_words one", c->name);
    for (size_t i = 0; (o = command_option_at(c, i, NULL)); i++)
        if (!option_is_positional(o))
            dse_strbuf_addf(out, " %s", o->name);
    dse_strbuf_adds(out, " --help ;;\n");
    completion_offer_free(&offer);
}

void completion_write_bash(dse_strbuf *out)
{
    size_t n;
    const command *const *commands = command_table(&n);

    dse_strbuf_adds(out, functions);
    dse_strbuf_adds(out, "    if ((COMP_CWORD == 1)); then\n        _ccldse_words one ");
    completion_add_commands(out);
    dse_strbuf_adds(out,
                    " help --help --version\n        return\n    fi\n    case ${COMP_WORDS[1]}:$before in\n");
    for (size_t i = 0; i < n; i++)
        put_command(commands[i], out);
    dse_strbuf_adds(out, "    help:help) _ccldse_words one ");
    completion_add_commands(out);
    completion_add_topics(out);
    dse_strbuf_adds(out, " ;;\n    esac\n}\n\n_ccldse_all_keys='");
    completion_add_keys(out);
    dse_strbuf_adds(out, "'\ncomplete -F _ccldse ccldse\n");
}
