#!/bin/sh
# run_case.sh CASE CCLDSE -- runs one case and compares what it prints.
#
# A case is a folder with
#   cmd                      a script, run by sh -eu in a new folder, with these in the environment:
#                            CCLDSE (the program), DATA (tests/data), CASE (the case's folder)
#   stdout or stdout.glob    what it prints: exactly, or each line as a shell pattern; neither: nothing
#   stderr or stderr.glob    the same for its standard error
#   exit                     its exit code; without the file: 0
# A cmd that exits with 77 says on its standard error what this machine lacks for it: the case is skipped, and said to be.
set -u

case_folder=$(cd "$1" && pwd) || exit 2
CASE=$case_folder
DATA=$(cd "$case_folder/../../data" && pwd) || exit 2
CCLDSE=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
export CASE DATA CCLDSE
unset CCLDSE_CONFIGS TERM
LC_ALL=C
export LC_ALL

top=$(mktemp -d) || exit 2
trap 'rm -rf "$top"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$top/work"

(cd "$top/work" && exec sh -eu "$CASE/cmd") >"$top/stdout" 2>"$top/stderr" </dev/null
code=$?
[ $code -ne 77 ] || { cat "$top/stderr"; exit 77; }
failed=0

# Each line of $2 must match the pattern in the same line of $1.
matches() {
    exec 3<"$1" 4<"$2"
    line=0
    while :; do
        line=$((line + 1))
        pattern='' text='' more=0
        IFS= read -r pattern <&3 && more=$((more + 1))
        IFS= read -r text <&4 && more=$((more + 2))
        # A last line without a newline counts as well.
        [ $more -eq 0 ] && [ -z "$pattern$text" ] && return 0
        # shellcheck disable=SC2254 # it is a pattern
        case $text in
        $pattern) [ $more -eq 1 ] || [ $more -eq 2 ] || continue ;;
        esac
        printf 'line %d is not as expected:\n-%s\n+%s\n' $line "$pattern" "$text"
        return 1
    done
}

# compare NAME: the case's file of that name with what was printed
compare() {
    expected=$CASE/$1
    if [ -e "$expected.glob" ]; then
        matches "$expected.glob" "$top/$1" >"$top/difference" && return
    else
        [ -e "$expected" ] || expected=/dev/null
        diff -u "$expected" "$top/$1" >"$top/difference" && return
    fi
    echo "== $1"
    cat "$top/difference"
    failed=1
}

compare stdout
compare stderr
expected_code=0
[ -e "$CASE/exit" ] && read -r expected_code <"$CASE/exit"
if [ "$code" -ne "$expected_code" ]; then
    echo "== exit code $code, expected $expected_code"
    failed=1
fi
if [ $failed -ne 0 ]; then
    echo "== $(basename "$CASE") failed; all of its standard error:"
    cat "$top/stderr"
fi
exit $failed
