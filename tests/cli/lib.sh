# What several cases do. A cmd that needs it begins with: . "$CASE/../lib.sh"

# Cards by name are those of the tests, not those that ship.
CCLDSE_CONFIGS=$DATA/cards
export CCLDSE_CONFIGS

# astrasim PREFIX [OPTION...]: on system.json, network.yml and remote_memory.json of the current folder
astrasim() {
    prefix=$1
    shift
    "$CCLDSE" astrasim --workload-configuration "$prefix" --system-configuration system.json \
        --network-configuration network.yml --remote-memory-configuration remote_memory.json "$@"
}

# small_system [KEY VALUE]...: these three files for two NPUs on a ring; a KEY of system.json gets another VALUE
small_system() {
    cp "$DATA/astrasim/system.json" "$DATA/astrasim/network.yml" "$DATA/astrasim/remote_memory.json" .
    while [ $# -gt 0 ]; do
        sed "s|\"$1\": [^,]*|\"$1\": $2|" system.json >system.new
        mv system.new system.json
        shift 2
    done
}

# nodes RANK NODES: the trace of a rank of workload "w", under the name that STAGE gives its JSON
nodes() {
    printf '{"nodes": [%s]}\n' "$2" >"w.$1.et"
}

# reference_case ID [FILE [SCHEMA]]: system.json, network.yml, remote_memory.json, and the workload w.<rank>.et with its
# groups.json, of a case of tests/data/reference/FILE that STAGE's options describe
reference_case() {
    line=$(grep "\"id\":\"$1\"" "$DATA/reference/${2:-L2_small.jsonl}")
    printf '%s\n' "$line" | sed 's/.*"system":\({[^}]*}\).*/\1/' >system.json
    printf '%s\n' "$line" | sed 's/.*"network":\({[^}]*}\).*/\1/' >network.yml
    printf '{"memory-type": "NO_MEMORY_EXPANSION"}\n' >remote_memory.json
    # "dp":2,"tp":1 -> --dp 2 --tp 1
    # shellcheck disable=SC2046 # a list of words
    "$CCLDSE" stage --output_dir . --output_name w --comm_group_file groups.json \
        ${3:+--chakra_schema_version "$3"} \
        $(printf '%s\n' "$line" | sed 's/.*"stage":{\([^}]*\)}.*/\1/; s/"\([^"]*\)":\([0-9]*\),*/--\1 \2 /g')
}

# sweep OPTION...: ccldse sweep, without the lines of progress that it prints when it takes long
sweep() {
    code=0
    "$CCLDSE" sweep "$@" 2>sweep.stderr || code=$?
    without_progress sweep.stderr >&2
    return $code
}
without_progress() { sed -E '/^[0-9]+[^ ]* points?, |^[0-9]+ boxes split, |^[0-9]+ of [0-9]+ (perturbed systems|files of traces read), /d' "$@"; }

# best OPTION...: ccldse best, without the lines of progress that --robust prints when it takes long
best() {
    code=0
    "$CCLDSE" best "$@" 2>best.stderr || code=$?
    without_progress best.stderr >&2
    return $code
}

# calibrate OPTION...: ccldse calibrate, without its lines of progress
calibrate() {
    code=0
    "$CCLDSE" calibrate "$@" 2>calibrate.stderr || code=$?
    sed '/^[0-9]* of [0-9]* fits/d' calibrate.stderr >&2
    return $code
}

# children PID: the process ids of its children
children() {
    for stat in /proc/[0-9]*/stat; do
        { read -r words <"$stat"; } 2>/dev/null || continue # it may have ended
        pid=${stat#/proc/}
        # after the name, which may hold anything: state, parent
        # shellcheck disable=SC2086 # a list of words
        set -- "$1" ${words##*) }
        [ "$3" != "$1" ] || printf '%s\n' "${pid%/stat}"
    done
}

# wait_for COMMAND...: tries until it succeeds; gives up after some twenty seconds
wait_for() {
    tries=1000
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "gave up waiting for: $*" >&2; return 1; }
        sleep 0.02
    done
}

# kill_worker SWEEP: kills the one worker of a sweep, and returns when another one is there or the sweep has ended. A
# worker that stands still for a while has been given a point, so that it dies with one.
kill_worker() {
    wait_for has_child "$1"
    worker=$(children "$1")
    kill -STOP "$worker"
    sleep 0.2
    kill -9 "$worker"
    wait_for has_other_child "$1" "$worker"
}
has_child() { [ -n "$(children "$1")" ]; }
has_other_child() { [ "$(children "$1")" != "$2" ]; }

# has_results DATABASE: at least one point is in it
has_results() {
    [ "$("$CCLDSE" export --db "$1" | wc -l)" -gt 1 ]
}

# Options of the commands that take the external tools: ours, in the place of STAGE and ASTRA-sim, or a stand-in for
# the simulator. The program's path may have blanks in it.
# external COMMAND OPTION...
external() {
    command=$1
    shift
    "$CCLDSE" "$command" --engine astrasim --stage-cmd "'$CCLDSE' stage" --astrasim-bin "'$CCLDSE' astrasim" "$@"
}
# with_simulator COMMAND_LINE COMMAND OPTION...
with_simulator() {
    simulator=$1
    command=$2
    shift 2
    "$CCLDSE" "$command" --engine astrasim --stage-cmd "'$CCLDSE' stage" --astrasim-bin "$simulator" "$@"
}

# has_ended PID: such a process is not there, or waits for its parent to notice
has_ended() { [ -z "$(tr -d '\0' <"/proc/$1/cmdline" 2>/dev/null)" ]; }

# misbehave: writes sim.sh, a simulator that hangs, fails, lies or leaves things behind, by the point that it is
# given, and otherwise does its work. What it starts and leaves running writes its process id into pid.<what>.
misbehave() {
    cat >sim.sh <<END
top=$PWD
END
    cat >>sim.sh <<'END'
case $1 in
*_8_1_1_1_0_*) # hangs, with a child
    echo "counting to infinity"
    echo $$ >"$top/pid.hanging"
    sleep 600 &
    echo $! >"$top/pid.child_of_hanging"
    wait ;;
*_4_2_1_1_0_*) echo first; echo second; echo "no such topology" >&2; exit 1 ;;
*_4_1_2_1_0_*) "$CCLDSE" astrasim "$@" | head -c 300 ;;
*_2_4_1_1_0_*) ;;
*_2_2_2_1_0_*) # does its work and leaves a child, which has the log open
    sleep 600 &
    echo $! >"$top/pid.left_behind"
    exec "$CCLDSE" astrasim "$@" ;;
*_2_1_4_1_0_*) "$CCLDSE" astrasim "$@" >/dev/null ;;
*_1_8_1_1_0_*) kill -11 $$ ;;
*) exec "$CCLDSE" astrasim "$@" ;;
esac
END
    export CCLDSE
}

# workload_card DIR DP_REPLICATE DP_SHARD TP PP TOTAL [SED]: the card of a run of the model "small" on 8 NPUs, edited by SED
workload_card() {
    mkdir -p "$1"
    cat >"$1/workload_card.yaml" <<END
version: 1
workload:
  model: {phase: training, moe: false, granularity: model_fwd_bwd_pass, model_family: small, precision: bf16}
  data: {batch_size: 16, seq_len: 128}
  hardware:
    network_topo: {topology: switch, bandwidth_gbps: [200, 2400]}
    xpu_spec: {type: GPU, model: nvidia_a100, total_count: $6, count_per_node: 4}
Model-executor:
  framework: {name: megatron-lm}
  model_plan_parallelization: {dp_replicate: $2, dp_shard: $3, tp: $4, pp: $5, cp: 1, ep: 1, pp_mb: 1}
metric_source: {traces: [json]}
END
    [ -z "${7-}" ] || sed -i "$7" "$1/workload_card.yaml"
}

# timeline DIR OPTION...: a simulated run of "small" as a trace in DIR
timeline() {
    dir=$1
    shift
    "$CCLDSE" simulate --model small --set precision=mixed --set placement=tp,sp,dp,pp --set stages=neighbours \
        --timeline "$dir/t.json" "$@" >/dev/null
}

# columns NAME,NAME...: of CSV on standard input, whatever other columns there are
columns() {
    awk -v names="$1" '
        function split_csv(s, c, n, quoted) {
            n = 1
            f[1] = ""
            for (; s != ""; s = substr(s, 2)) {
                c = substr(s, 1, 1)
                if (c == "\"") quoted = !quoted
                if (c == "," && !quoted) f[++n] = ""
                else f[n] = f[n] c
            }
            return n
        }
        {
            n_fields = split_csv($0)
            for (i = 1; NR == 1 && i <= n_fields; i++) place[f[i]] = i
            n = split(names, name, ",")
            for (i = 1; i <= n; i++) printf "%s%s", f[place[name[i]]], i < n ? "," : "\n"
        }'
}
