#!/bin/sh
# Six metrics of one workload as CSV, metrics_<model>.csv in OUTPUT_DIR (results/ unless set):
#
#     scripts/run_metrics_llama3.sh [DIR]       (a link to this, as are _deepseek and _qwen)
#     scripts/run_metrics.sh MODEL [DIR]
#
# DIR has the traces; unless given it is the workload's folder in TRACE_COLLECTION (trace_collection/ unless set). What
# fails is N/A, with the reason on stderr.
set -eu
scripts=$(cd -P "$(dirname "$(readlink -f "$0")")" && pwd)
. "$scripts/metrics_common.sh"

script=$(basename "$0" .sh)
model=${script#run_metrics_}
if [ "$model" = run_metrics ]; then
    model=${1:-}
    [ $# -eq 0 ] || shift
fi
if ! workload=$(workload_of "$model") || [ $# -gt 1 ]; then
    echo "usage: $script.sh $([ "$script" != run_metrics ] || echo "MODEL ")[DIR]; models: $models" >&2
    exit 2
fi
mkdir -p "$OUTPUT_DIR"
csv=$OUTPUT_DIR/metrics_$model.csv
trap 'rm -f "$csv.new"' EXIT
six_as_csv "${1:-$TRACE_COLLECTION/$workload}" >"$csv.new"
mv "$csv.new" "$csv"
echo "$csv"
