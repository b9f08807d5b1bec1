# shellcheck shell=sh disable=SC2034,SC2086 # what others use; lists of words
# What the scripts around `ccldse metrics` share. They set `scripts` to this folder before they read it.
repository=${scripts%/*}

# The program: CCLDSE of the environment, else what scripts/quickstart built, else the installed one.
if [ -z "${CCLDSE:-}" ]; then
    CCLDSE=$repository/build/ccldse
    [ -x "$CCLDSE" ] || CCLDSE=ccldse
fi

# Traces of each workload are in a folder of its name, in here.
TRACE_COLLECTION=${TRACE_COLLECTION:-$repository/trace_collection}
# Where the CSV goes.
OUTPUT_DIR=${OUTPUT_DIR:-$repository/results}

six_metrics="coll_call_num throughput_tokens iter_time comm_comp_overlap pipeline_bubble straggler_lag"
models="llama3 deepseek qwen"

# workload_of MODEL
workload_of() {
    case $1 in
    llama3) echo llama-3.1-8b-torchtitan-perlmutter-16 ;;
    deepseek) echo deepseek-v2-lite-torchtitan-perlmutter-16 ;;
    qwen) echo qwen-32b-torchtitan-perlmutter-16 ;;
    *) return 1 ;;
    esac
}

# six_as_csv DIR: "metric,value" and a row a figure; N/A for what fails, and the reason on stderr
six_as_csv() {
    code=0
    # shellcheck disable=SC2046 # a list of words
    "$CCLDSE" metrics --trace "$1" --format csv $(printf -- '--metric %s ' $six_metrics) || code=$?
    [ $code -le 1 ] || exit $code # the program itself: not there, misused, out of memory
}
