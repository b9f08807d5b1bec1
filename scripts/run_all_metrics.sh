#!/bin/sh
# Six metrics of all workloads in TRACE_COLLECTION (trace_collection/ unless set) as one CSV, metrics_all_workloads.csv in
# OUTPUT_DIR (results/ unless set). A workload that is not there is left out; what fails is N/A, with the reason on stderr.
#
#     scripts/run_all_metrics.sh [DIR]          DIR instead of TRACE_COLLECTION
set -eu
scripts=$(cd -P "$(dirname "$(readlink -f "$0")")" && pwd)
. "$scripts/metrics_common.sh"

collection=${1:-$TRACE_COLLECTION}
mkdir -p "$OUTPUT_DIR"
csv=$OUTPUT_DIR/metrics_all_workloads.csv
trap 'rm -f "$csv.new" "$csv.one"' EXIT
echo "workload,metric,value" >"$csv.new"
for model in $models; do
    workload=$(workload_of "$model")
    if [ ! -d "$collection/$workload" ]; then
        echo "$(basename "$0"): no $collection/$workload; left out" >&2
        continue
    fi
    # None of the six has a text that goes over lines, so that a row is a line.
    six_as_csv "$collection/$workload" >"$csv.one"
    sed "1d; s/^/$workload,/" "$csv.one" >>"$csv.new"
done
mv "$csv.new" "$csv"
echo "$csv"
