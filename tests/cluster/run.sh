#!/bin/sh
# run.sh CCLDSE -- a sweep by a Slurm of its own: munged, slurmctld and two slurmd on this machine, in a new folder
# below /tmp, on ports of the loopback. A node is killed in mid-sweep, a task cancelled, a worker's memory exceeded, the
# coordinator killed, interrupted, attached. Every time the results must be those of the local run, to the byte.
# Needs root (or sudo) and Debian's slurmctld, slurmd, slurm-client, munge (scripts/packages installs them); without them it fails.
# shellcheck disable=SC2086,SC2013,SC2016 # lists of words
set -eu
[ "$(id -u)" = 0 ] || exec sudo -E "$0" "$@"

CCLDSE=$(readlink -f "$1")
here=$(cd "$(dirname "$0")" && pwd)
export CCLDSE_CONFIGS="$here/../data/cards"
LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
export LC_ALL PATH
unset TERM
for program in munged slurmctld slurmd sbatch squeue scancel sinfo scontrol; do
    command -v $program >/dev/null || {
        echo "there is no $program: scripts/packages slurmctld slurmd slurm-client munge" >&2
        exit 1
    }
done

# munged wants a socket that everybody can reach, and no path of a socket has more than 107 characters: a clone may be
# in neither.
top=$(mktemp -d /tmp/ccldse-cluster.XXXXXX)
chmod 755 "$top"
export SLURM_CONF="$top/etc/slurm.conf"

# ours NODE: the processes of this cluster that live on a node; of all, with "". Known by what they have in their
# environment: this cluster's configuration, and which node they were started on.
ours() {
    for environ in $(grep -slzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ); do
        [ -z "$1" ] || grep -qszxF -e "CLUSTER_NODE=$1" -e "SLURMD_NODENAME=$1" "$environ" || continue
        environ=${environ#/proc/}
        echo "${environ%/environ}"
    done
}

end() {
    code=$?
    trap '' HUP INT TERM
    [ $code -eq 0 ] || for log in "$top"/log/*.log "$top"/sweeps/*.txt; do
        [ ! -e "$log" ] || { echo "== $log"; tail -n 25 "$log"; }
    done
    # The shells that look are themselves among them, and gone when they are to be killed. New ones may have been started.
    for _ in 1 2 3; do
        # shellcheck disable=SC2046 # a list of words
        kill -9 $(ours '') 2>/dev/null || :
    done
    rm -rf "$top"
    exit $code
}
trap end EXIT
trap 'exit 1' HUP INT TERM
# If this script is itself killed, by a test's time limit, that ends the cluster.
(exec env -u SLURM_CONF setsid sh -c '
    while [ -d "$1" ] && kill -0 "$2"; do sleep 1; done
    [ -d "$1" ] || exit 0
    for try in 1 2 3; do
        kill -9 $(grep -slzxF "SLURM_CONF=$1/etc/slurm.conf" /proc/[0-9]*/environ | tr -dc "0-9\n")
    done
    rm -rf "$1"' sh "$top" $$ </dev/null >/dev/null 2>&1 &)

# ---- the cluster -----------------------------------------------------------------------------

host=$(hostname -s)
port=$((10000 + $$ % 5000)) # three of them, below those that the system gives to others
mkdir "$top/etc" "$top/log" "$top/run" "$top/state" "$top/spool" "$top/spool/node1" "$top/spool/node2" "$top/munge" "$top/sweeps"
chmod 700 "$top/munge"
dd if=/dev/urandom of="$top/munge/key" bs=1024 count=1 2>/dev/null
chmod 600 "$top/munge/key"
cat >"$SLURM_CONF" <<END
ClusterName=ccldse
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$top/run/munge.sock,cred_expire=5
StateSaveLocation=$top/state
SlurmdSpoolDir=$top/spool/%n
SlurmctldPidFile=$top/run/slurmctld.pid
SlurmdPidFile=$top/run/slurmd.%n.pid
SlurmctldLogFile=$top/log/slurmctld.log
SlurmdLogFile=$top/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=1000,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_LLN
DefMemPerCPU=2000
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=10
SlurmctldTimeout=10
InactiveLimit=0
KillWait=2
MinJobAge=300
MaxArraySize=1001
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 5001)) CPUs=2 CoresPerSocket=2 RealMemory=20000
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 10001)) CPUs=2 CoresPerSocket=2 RealMemory=20000
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP
PartitionName=short Nodes=node1 MaxTime=10 State=UP
END
printf 'CgroupPlugin=cgroup/v1\nConstrainCores=no\nConstrainRAMSpace=no\n' >"$top/etc/cgroup.conf"

wait_for() { # SECONDS COMMAND...
    tries=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "gave up waiting for: $*" >&2; return 1; }
        sleep 0.1
    done
}
are_idle() { [ "$(sinfo -h -N -p main -o %t | sort -u)" = idle ]; }

munged --key-file="$top/munge/key" --socket="$top/run/munge.sock" --pid-file="$top/munge/pid" \
    --log-file="$top/munge/log" --seed-file="$top/munge/seed"
slurmctld >"$top/log/start.log" 2>&1
CLUSTER_NODE=node1 slurmd -N node1 >>"$top/log/start.log" 2>&1
CLUSTER_NODE=node2 slurmd -N node2 >>"$top/log/start.log" 2>&1
wait_for 20 are_idle
echo "two nodes of $(slurmctld -V) are idle"

# ---- sweeps ----------------------------------------------------------------------------------

cd "$top/sweeps"
# Slow points, so that there is time to kill something: every message of every rank is simulated.
sed 's/^layers:.*/layers: 120/' "$CCLDSE_CONFIGS/models/deep.yaml" >slow.yaml
slow="--model ./slow.yaml,small --system ring8 --no-symmetry --no-memo"
export_of() { "$CCLDSE" export --db "$1.db" --format csv; }
"$CCLDSE" sweep $slow --db local.db >local.txt 2>&1
export_of local >local.csv
"$CCLDSE" best --db local.db >local.best
points=$(($(wc -l <local.csv) - 1))
sed -n 's/.*simulated in/local run: simulated in/p' local.txt

# same NAME: the database is what the local run made, its folder is gone, and every point was stored once
same() {
    export_of "$1" | cmp - local.csv
    "$CCLDSE" best --db "$1.db" | sed "s/$1\.db/local.db/" | cmp - local.best
    [ ! -e "$1.db.slurm" ] || { echo "$1.db.slurm is left"; return 1; }
}
by_slurm() { # NAME OPTION...: its output in NAME.txt
    name=$1
    shift
    "$CCLDSE" sweep $slow --db "$name.db" --executor slurm "$@" >>"$name.txt" 2>&1
}
start() { # the same, in the background, as process $!
    name=$1
    shift
    "$CCLDSE" sweep $slow --db "$name.db" --executor slurm "$@" >>"$name.txt" 2>&1 &
}
name_of() { cat "$1.db.slurm/name"; }
running() { squeue -h -r -t running --name="$(name_of "$1")-1" ${2:+-w "$2"} -o %K; }
is_running() { [ -n "$(running "$@")" ]; }
has_answers() { [ "$(cat "$1".db.slurm/*.answers 2>/dev/null | wc -l)" -ge "${2:-1}" ]; }
end_of() { # NAME WANTED CODE: how the process $! of it ended
    code=0
    wait "$2" || code=$?
    [ $code -eq "$3" ] || { echo "$1: exit code $code, not $3"; return 1; }
}

echo "-- a sweep, told from the local run by nothing"
by_slurm plain --array-size 4
same plain
grep -q "job [0-9]* of Slurm: 4 tasks of up to $(((points + 3) / 4)) points" plain.txt

echo "-- a node is killed in mid-sweep"
start node --array-size 4 --at-once 2
node=$!
wait_for 20 is_running node node2
wait_for 20 has_answers node
# shellcheck disable=SC2046 # a list of words
kill -9 $(ours node2)
killed=$(date +%s)

# While Slurm waits for it, on the other node:
echo "-- a task is cancelled"
start task --array-size 3
task=$!
wait_for 30 is_running task
scancel "$(squeue -h -t running,pending --name="$(name_of task)-1" -o %F | head -n 1)_1"
end_of task $task 0
same task

echo "-- the coordinator is killed, and attached"
start killed --array-size 2
coordinator=$!
wait_for 20 has_answers killed 3
kill -9 $coordinator
end_of killed $coordinator 137
by_slurm killed && exit 1
grep -q 'an earlier run has left its jobs and results in .*go on with it by --attach' killed.txt
by_slurm killed --attach
same killed

echo "-- it is interrupted, and attached by another"
start interrupted --array-size 2
coordinator=$!
wait_for 20 has_answers interrupted
kill -INT $coordinator
end_of interrupted $coordinator 130
grep -q 'interrupted; .* job [0-9]* of Slurm goes on: the same command with --attach collects its results' interrupted.txt
by_slurm interrupted --attach
same interrupted

echo "-- detached, and attached when all is done"
by_slurm detached --array-size 2 --detach
grep -q "$points are with Slurm; the same command with --attach" detached.txt
is_over() { [ -z "$(squeue -h --name="$(name_of detached)-1")" ]; }
wait_for 60 is_over
by_slurm detached --attach
same detached

echo "-- jobs that Slurm refuses"
by_slurm refused --partition nowhere && exit 1
grep -q 'sbatch refuses the job: .*invalid partition.*sinfo' refused.txt || grep -q 'Invalid partition.*sinfo' refused.txt
by_slurm refused --partition short --time 60 && exit 1
grep -q 'would never start job [0-9]* (PartitionTimeLimit)' refused.txt
[ ! -e refused.db.slurm ]

echo "-- a worker needs more memory than its task has"
# So large that it lasts for several of the samples that Slurm takes, one a second.
sed 's/^layers:.*/layers: 4000/' slow.yaml >big.yaml
big="--model ./big.yaml,small --system ring8 --dp 1 --tp 8 --recompute no"
"$CCLDSE" sweep $big --db memory_local.db >memory_local.txt 2>&1
code=0
SBATCH_MEM_PER_CPU=45 "$CCLDSE" sweep $big --no-symmetry --no-memo --db memory.db --executor slurm >memory.txt 2>&1 || code=$?
[ $code -eq 1 ]
grep -q "a failure: big on ring8, 1_8_1_1_0: its task of Slurm ended without an answer (.*), twice; .*memory limit" memory.txt
"$CCLDSE" sweep $big --db memory.db >>memory.txt 2>&1 # with the shortcuts it is small
export_of memory_local >memory_local.csv
export_of memory | cmp - memory_local.csv

echo "-- the killed node's tasks"
end_of node $node 0
echo "   were done again $(($(date +%s) - killed)) s after its death"
scontrol -o show job | grep "JobName=ccldse-" | grep -q 'Restarts=1'
same node
echo "all as by the local run"
