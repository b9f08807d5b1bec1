#!/bin/sh
# prefix.sh CMAKE BUILD [sanitized]: installs to a prefix and moves it; what is there works, and knows nothing of where it was built.
set -eu
. "$(dirname "$0")/lib.sh"

"$1" --install "$2" --prefix "$top/a prefix" >/dev/null
mv "$top/a prefix" "$top/another prefix"
check_tree "$top/another prefix"
[ "$(basename "$(dirname "$zsh_file")")" = site-functions ] || fail "zsh's script is in $zsh_file"

# Of the text alone: debug information and sanitizers name the sources.
strip -o stripped "$prefix/bin/ccldse"
for path in "$2" "$source_folder"; do
    if [ "${3-}" != sanitized ] && grep -a -o -F -e "$path" stripped; then
        fail "the program holds the path it was built at"
    fi
done
