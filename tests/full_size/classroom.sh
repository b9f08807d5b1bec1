#!/bin/sh
# usage: classroom.sh CCLDSE
# A classroom swept both full-size models with the upstream tools; the same winners must come out, with the same
# figures. The whole default space is swept, with the pool; export must not depend on who simulated what when.
set -eu
ccldse=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
db=$folder/ccldse.db

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

"$ccldse" sweep --model llama70b --system system1 --db "$db" >"$folder/sweep.txt" 2>"$folder/progress.txt" ||
    fail "the sweep ended with code $?: $(cat "$folder/progress.txt")"
"$ccldse" export --db "$db" >"$folder/all.csv"
[ "$(grep -c ',done,' "$folder/all.csv")" = 56 ] || fail "56 points expected in $(wc -l <"$folder/all.csv") lines"

# Their sample of the space, dp_tp_sp_pp_recompute.
cat >"$folder/sample" <<END
8_8_1_1_0 2_2_16_1_0 8_1_8_1_0 2_32_1_1_0 16_2_2_1_0 1_64_1_1_0 32_1_2_1_0 2_8_4_1_1 2_2_16_1_1 1_8_8_1_1
2_8_4_1_0 2_1_32_1_0 4_16_1_1_1 1_32_2_1_1 8_1_8_1_1 1_1_64_1_0 1_8_8_1_0 4_2_8_1_0 1_16_4_1_0 8_2_4_1_0
END

# fastest LIMIT_GB: the fastest of the sample that needs no more memory, and how many points that leaves.
fastest()
{
    awk -F, -v limit="$1" '
        FNR == NR { n = split($0, p, " "); for (i = 1; i <= n; i++) wanted[p[i]] = 1; next }
        FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        {
            point = $col["dp"] "_" $col["tp"] "_" $col["sp"] "_" $col["pp"] "_" $col["recompute"]
            if (!(point in wanted)) next
            seen++
            if ($col["peak_memory"] > limit * 1e9) next
            if (best == "" || $col["wall_time"] < time) { best = point; time = $col["wall_time"]; mem = $col["peak_memory"] }
        }
        END { printf "%s of %d, %.1f GB\n", best, seen, mem / 1e9 }' "$folder/sample" "$folder/all.csv"
}

[ "$(fastest 1e9 | cut -d, -f1)" = "32_1_2_1_0 of 20" ] || fail "fastest: $(fastest 1e9)"
[ "$(fastest 80)" = "8_1_8_1_1 of 20, 67.0 GB" ] || fail "fastest within 80 GB: $(fastest 80)"

# check POINT WALL_TIME PEAK_MEMORY: the worst rank's, of gpt175b on system2.
check()
{
    "$ccldse" simulate --model gpt175b --system system2 --point "$1" --json >"$folder/point.json"
    for figure in "\"wall_time\":$2," "\"peak_memory_bytes\":$3,"; do
        grep -qF "$figure" "$folder/point.json" || fail "gpt175b $1: no $figure in $(head -c 2000 "$folder/point.json")"
    done
}

check 16_4_1_1_0 91220641939 205834396672
check 4_8_2_1_1 110342255738 42297322496
echo "the classroom's winners and figures hold"
