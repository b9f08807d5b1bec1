#!/bin/sh
# usage: memory_of_sweeps.sh CCLDSE
# What a sweep holds does not grow with its points: one of many times the points of another may take 20 MB more, of both
# profiles, some 5 of which are SQLite's as it sorts the figures that rank the rows, of any number from 60,000 on. 15 to 17 MB were
# seen; what was held of each point before would be 30.
set -eu
ccldse=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ -r /proc/self/status ] || exit 77

# peak SPACE N_POINTS: the most that the sweep itself, without its workers, was resident with, in KiB
peak()
{
    rm -f "$folder/sweep.db"
    "$ccldse" sweep --force --space "$1" --jobs 2 --db "$folder/sweep.db" >"$folder/summary" 2>"$folder/progress" &
    pid=$!
    most=0
    while line=$(grep VmHWM "/proc/$pid/status" 2>/dev/null); do
        most=$(echo "$line" | tr -dc 0-9)
        sleep 0.05
    done
    wait "$pid" || { echo "FAILED: the sweep ended with code $?: $(cat "$folder/progress")" >&2; exit 1; }
    grep -q "^$2 points: $2 simulated in .*, 0 failed$" "$folder/summary" ||
        { echo "FAILED: not $2 points: $(cat "$folder/summary")" >&2; exit 1; }
    echo "$most"
}

# check NAME N_FEW N_MANY FEW MANY: two spaces, and how many points they have
check()
{
    printf '%s\n' "$4" >"$folder/few.yaml"
    printf '%s\n' "$5" >"$folder/many.yaml"
    few=$(peak "$folder/few.yaml" "$2")
    many=$(peak "$folder/many.yaml" "$3")
    echo "$1: $2 points $few KiB, $3 points $many KiB"
    [ "$((many - few))" -lt 20480 ] || { echo "FAILED: memory grows with the points" >&2; exit 1; }
}

cards="{models: [llama70b], systems: [system1], axes: {layers: [1], 'network.bandwidth[2]':"
check stage 4480 67200 "$cards {from: 10, to: 405, step: 5, unit: GB/s}}}" \
    "$cards {from: 10, to: 6005, step: 5, unit: GB/s}}}"

# The studies of 67 variants are kept: both have more.
cards="{models: [llama-3.2-1b], systems: [hgx_h100], set: {batch: 16, 'network.npus_count[1]': 2}, axes: {
  'network.bandwidth[1]': {from: 10, to: 1005, step: 5, unit: GB/s}"
check train 400 81600 "$cards, tp: [8], pp: [1], micro_batch: [1], zero: [0], recompute_granularity: [none, full]}}" \
    "$cards, micro_batch: [1], zero: [0, 1, 2, 3], recompute_granularity: [none, selective, full]}}"
