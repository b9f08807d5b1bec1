#!/bin/sh
# network.sh CCLDSE NO_NETWORK -- workers, by themselves and of a sweep, and what else reads and computes, where the kernel ends
# who asks for a socket: the same bytes as without. 77: this kernel has no such filters.
set -eu
ccldse=$(readlink -f "$1")
no_network=$(readlink -f "$2")
data=$(cd "$(dirname "$0")/../data" && pwd)
"$no_network" || exit $?
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
cd "$top"
export CCLDSE_CONFIGS="$data/cards"
unset TERM

# same WHAT COMMAND...: prints the same
same() {
    what=$1
    shift
    "$@" >with 2>with.errors || { code=$?; cat with.errors; echo "$what: without the filter it ends with $code" >&2; exit 1; }
    "$no_network" "$@" >without 2>without.errors || { code=$?; cat without.errors; echo "$what: it ends with $code" >&2; exit 1; }
    cmp with without
}

points="--model small --system ring8 --recompute no --jobs 2"
# shellcheck disable=SC2086 # a list of words
"$ccldse" sweep $points --db with.db >/dev/null 2>&1
# shellcheck disable=SC2086
"$no_network" "$ccldse" sweep $points --db without.db >/dev/null 2>sweep.errors || { cat sweep.errors; exit 1; }
"$ccldse" export --db with.db >with.csv
"$ccldse" export --db without.db | cmp with.csv -
"$ccldse" export --db with.db --format json --config | sed -n 's/.*"config":\({.*}\)}.*/\1/p' >requests
[ -s requests ]
worker() { "$@" worker <requests | sed 's/"seconds":[0-9.]*//'; }
worker "$ccldse" >with
worker "$no_network" "$ccldse" >without
cmp with without
[ "$(wc -l <with)" -eq "$(wc -l <requests)" ]
if grep '"error"' with; then exit 1; fi
same metrics "$ccldse" metrics --trace "$data/traces/two_ranks" --all
same report "$ccldse" best --db with.db
