#!/bin/sh
# A stand-in for Slurm's commands, by the name it is called by: sbatch, squeue, scancel. Tasks of an array are processes of
# this machine, all side by side; what is known of them is in the folder $SLURM_STAND. With $SLURM_STAND_TASK, each runs that
# command instead, in which the script is $0; with $SLURM_STAND_WAITS it waits for three seconds, for that reason.
set -u
stand=${SLURM_STAND:?}
mkdir -p "$stand"
setting() { sed -n "s/^#SBATCH --$1=//p" "$2"; }

case ${0##*/} in
sbatch) # sbatch --parsable SCRIPT
    script=$2
    partition=$(setting partition "$script")
    if [ "${partition:-main}" != main ]; then
        echo "sbatch: error: invalid partition specified: $partition" >&2
        echo "sbatch: error: Batch job submission failed: Invalid partition name specified" >&2
        exit 1
    fi
    job=$(($(cat "$stand/last" 2>/dev/null || echo 100) + 1))
    echo $job >"$stand/last"
    name=$(setting job-name "$script")
    last=$(setting array "$script")
    last=${last#0-}
    last=${last%\%*}
    log=$(setting output "$script")
    first="RUNNING|None"
    [ -z "${SLURM_STAND_WAITS-}" ] || first="PENDING|$SLURM_STAND_WAITS"
    i=0
    while [ $i -le "$last" ]; do
        task=$stand/$name.$i
        echo "$job|$i|$first" >"$task"
        (
            [ -z "${SLURM_STAND_WAITS-}" ] || sleep 3
            SLURM_ARRAY_TASK_ID=$i sh ${SLURM_STAND_TASK:+-c "$SLURM_STAND_TASK"} "$script" >>"${log%\%a.log}$i.log" 2>&1 </dev/null &
            echo $! >"$task.pid"
            state=COMPLETED
            wait $! || state=FAILED
            [ ! -e "$task.cancelled" ] || state=CANCELLED
            echo "$job|$i|$state|None" >"$task.new"
            mv "$task.new" "$task"
        ) >/dev/null 2>&1 &
        i=$((i + 1))
    done
    echo $job ;;
squeue) # squeue ... --name=NAME ...
    for word in "$@"; do
        case $word in --name=*) cat "$stand/${word#--name=}".*[0-9] 2>/dev/null ;; esac
    done
    exit 0 ;;
scancel) # scancel --name=NAME
    for pid in "$stand/${1#--name=}".*.pid; do
        [ -e "$pid" ] || continue
        : >"${pid%.pid}.cancelled"
        kill "$(cat "$pid")" 2>/dev/null
    done
    exit 0 ;;
esac
