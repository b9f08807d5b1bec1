#!/bin/sh
# run.sh PAGE CCLDSE -- runs every command of a page of the documentation as it is typed there.
#
# Commands are the lines of fenced blocks that begin with "ccldse " or "$ ccldse ", in their order, in a new folder in which
# stand.sh puts what the pages take for given, beside stand-ins for Slurm's commands: DIR and A and B with traces, theirs.json, PATH with programs of the upstream tools'
# names. Each must exit with 0, or with 1, which says that the answer is no; one with "$ " must print the lines that follow it,
# in their order: "..." stands for any text, in a line or for lines; an error that is shown must be printed, with exit code 2 or 3.
set -u

page=$(readlink -f "$1")
program=$(readlink -f "$2")
here=$(cd "$(dirname "$0")" && pwd)
unset CCLDSE_CONFIGS TERM
LC_ALL=C
export LC_ALL

top=$(mktemp -d) || exit 2
trap 'rm -rf "$top"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$top/bin" "$top/work" "$top/commands"
ln -s "$program" "$top/bin/ccldse"
for name in sbatch squeue scancel; do
    ln -s "$here/../support/slurm.sh" "$top/bin/$name"
done
SLURM_STAND=$top/slurm
export SLURM_STAND
PATH=$top/bin:$PATH

# commands/NNN.sh: a command; commands/NNN.said: what the page shows below it
awk -v folder="$top/commands" '
    /^```/ { fenced = !fenced; said = ""; next }
    !fenced { next }
    /^(\$ )?ccldse / {
        base = sprintf("%s/%03d", folder, ++n)
        said = sub(/^\$ /, "") ? base ".said" : ""
        print >(base ".sh")
        if (said) printf "" >said
        next
    }
    said { print >said }' "$page"

ls "$top/commands"/*.sh >/dev/null 2>&1 || {
    echo "$page: no commands"
    exit 1
}
cd "$top/work" || exit 2
CCLDSE=$program CCLDSE_NODES=$here/../data/nodes sh -eu "$here/stand.sh" >"$top/stand" 2>&1 || {
    cat "$top/stand"
    exit 1
}

failed=0
for command in "$top/commands"/*.sh; do
    said=${command%.sh}.said
    sh -u "$command" >"$top/out" 2>"$top/err" </dev/null
    code=$?
    allowed='0 1'
    if [ -s "$said" ] && grep -q '^ccldse: error:' "$said"; then
        allowed='2 3'
        cat "$top/err" >>"$top/out"
    fi
    reason=
    case " $allowed " in
    *" $code "*) ;;
    *) reason="exit code $code" ;;
    esac
    if [ -z "$reason" ] && [ -s "$said" ]; then
        reason=$(awk '
            function matches(text, pattern,    part, n, i, at, from) { # "..." is any text
                n = split(pattern, part, /\.\.\./)
                if (n == 1) return text == pattern
                if (substr(text, 1, length(part[1])) != part[1]) return 0
                from = length(part[1]) + 1
                for (i = 2; i <= n; i++) {
                    if (i == n && part[i] == "") return 1
                    at = index(substr(text, from), part[i])
                    if (!at) return 0
                    from += at - 1 + length(part[i])
                }
                return from == length(text) + 1
            }
            { sub(/[ \t]+$/, "") }
            FNR == NR { wanted[++n] = $0; next }
            k < n {
                while (k < n && wanted[k + 1] ~ /^[ \t]*\.\.\.$/) { k++; skip = 1 }
                if (k < n && matches($0, wanted[k + 1])) { k++; skip = 0 }
                else if (k < n && !skip) { print "it printed: " $0 "\n   not: " wanted[k + 1]; bad = 1; exit }
            }
            END {
                while (k < n && wanted[k + 1] ~ /^[ \t]*(\.\.\.)?$/) k++
                if (!bad && k < n) print "not printed: " wanted[k + 1]
            }' "$said" "$top/out")
    fi
    [ -n "$reason" ] || continue
    failed=1
    printf '== %s: ' "$(basename "$page")"
    cat "$command"
    printf '%s\n' "$reason"
    head -n 12 "$top/out" "$top/err"
done
exit $failed
