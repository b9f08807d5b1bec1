# What the tests of installed programs share. One begins with: . "$(dirname "$0")/lib.sh"

top=$(mktemp -d) || exit 2
trap 'rm -rf "$top"' EXIT
trap 'exit 1' HUP INT TERM
data=$(cd "$(dirname "$0")/../data" && pwd)
source_folder=$(cd "$(dirname "$0")/../.." && pwd)

fail() {
    echo "$*"
    exit 1
}

# check_tree PREFIX: what was installed below PREFIX works from another folder, without an environment
check_tree() {
    prefix=$1
    mkdir -p "$top/elsewhere"
    cd "$top/elsewhere"
    check_cards
    check_pages
    check_completion
    for file in README.md copyright docs/accuracy.md; do
        [ -s "$prefix/share/doc/ccldse/$file" ] || fail "no share/doc/ccldse/$file"
    done
    check_readers
}

# What reads the program's JSON, and the licence of the library that reports bring along, if they do.
check_readers() {
    for schema in "$source_folder"/docs/schema/*.json; do
        cmp "$schema" "$prefix/share/ccldse/schema/$(basename "$schema")" || exit 1
    done
    cmp "$source_folder/contrib/python/ccldse.py" "$prefix/share/ccldse/python/ccldse.py" || exit 1
    if grep -q 'Chart\.js v' "$prefix/bin/ccldse"; then
        cmp "$source_folder/src/report/web/chart.js.licence" "$prefix/share/doc/ccldse/chart.js.licence" || exit 1
    fi
}

installed() { env -i "$prefix/bin/ccldse" "$@"; }

# The program finds its cards, all that the sources have, and its workers and operators.
check_cards() {
    for kind in models systems; do
        for card in "$source_folder/configs/$kind"/*.yaml; do
            basename "$card" .yaml
        done | LC_ALL=C sort >cards
        installed $kind --names | diff cards - || fail "the installed program lists other $kind"
    done
    installed systems >/dev/null || fail "the installed program cannot read its cards"
    installed sweep --model "$data/cards/models/small.yaml" --system "$data/cards/systems/ring8.yaml" --dp 2 --db db \
        >summary || fail "the installed program cannot sweep"
    grep -q ' 0 failed$' summary || fail "a sweep of the installed program: $(cat summary)"
}

# A page for each command, which man's macros take without a warning.
check_pages() {
    installed help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/ccldse-\1.1.gz/p' | { cat; echo ccldse.1.gz; } |
        LC_ALL=C sort >listed
    (cd "$prefix/share/man/man1" && printf '%s\n' *) | LC_ALL=C sort | diff listed - || fail "other manual pages are installed"
    while read -r page; do
        gzip -dc "$prefix/share/man/man1/$page" >text
        groff -ww -man -Tutf8 -P-cbou text 2>warnings >shown || fail "groff fails on $page"
        [ ! -s warnings ] || fail "groff says of $page: $(cat warnings)"
        grep -q 'SYNOPSIS' shown || fail "$page shows nothing"
    done <listed
}

check_completion() {
    zsh_file=$(printf '%s\n' "$prefix"/share/zsh/*/_ccldse)
    installed completion bash | cmp - "$prefix/share/bash-completion/completions/ccldse" || exit 1
    installed completion fish | cmp - "$prefix/share/fish/vendor_completions.d/ccldse.fish" || exit 1
    installed completion zsh | cmp - "$zsh_file" || exit 1
}
