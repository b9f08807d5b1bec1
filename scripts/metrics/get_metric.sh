#!/bin/sh
# One metric of each trace in a directory:
#
#     scripts/metrics/get_iter_time.sh DIR [OPTION...]            (a link to this, one for each metric)
#     scripts/metrics/get_metric.sh METRIC DIR [OPTION...]
#     scripts/metrics/get_metric.sh --make-links                  after a metric was added
#
# Traces are DIR's files *.trace.json and *.trace.json.gz, each by itself; without any its folders; without any DIR itself.
# Options are those of `ccldse metrics`: --n_chips 4. Exits with 1 if one of them fails, and with 2 at the first if the
# metric or an option is unknown.
set -eu
scripts=$(cd -P "$(dirname "$(readlink -f "$0")")/.." && pwd)
. "$scripts/metrics_common.sh"

script=$(basename "$0" .sh)
metric=${script#get_}
[ "$metric" != coll_cal_num ] || metric=coll_call_num # under this name it was published

# The published misspelling is no metric's.
make_links() {
    cd "$scripts/metrics"
    for link in get_*.sh; do
        [ ! -L "$link" ] || rm "$link"
    done
    "$CCLDSE" metrics --list-metrics | sed -n 's/^  - //p' | while read -r name; do
        ln -s get_metric.sh "get_$name.sh"
    done
    ln -s get_metric.sh get_coll_cal_num.sh
}

if [ "$metric" = metric ]; then
    metric=${1:-}
    [ $# -eq 0 ] || shift
    if [ "$metric" = --make-links ]; then
        make_links
        exit
    fi
fi
if [ -z "$metric" ] || [ $# -eq 0 ]; then
    echo "usage: $(basename "$0") $([ "$script" != get_metric ] || echo "METRIC ")DIR [OPTION...]" >&2
    exit 2
fi
dir=${1%/}
shift
code=0

# show TRACE [OPTION...]
show() {
    trace=${1%/}
    shift
    echo "===== $trace ====="
    "$CCLDSE" metrics --trace "$trace" --metric "$metric" "$@" || code=$?
    [ $code -le 1 ] || exit $code # the same for every trace: misused, or not there
    echo
}

found=no
for trace in "$dir"/*.trace.json "$dir"/*.trace.json.gz; do
    [ -f "$trace" ] || continue
    found=yes
    show "$trace" "$@"
done
if [ $found = no ]; then
    for trace in "$dir"/*/; do
        [ -d "$trace" ] || continue
        found=yes
        show "$trace" "$@"
    done
fi
[ $found = yes ] || show "$dir" "$@"
exit $code
