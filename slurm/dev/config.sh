# The cluster's configuration: what slurm.conf and its companions say. Sourced by up.sh.
# shellcheck shell=bash

slurm_conf() { # slurm_conf yes|no: with accounting or without
    local host node port=17000
    host=$(hostname -s)
    cat <<END
$MARK
ClusterName=$CLUSTER
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=slurm
AuthType=auth/munge
# A requeued job waits until its old credential has expired: 120 s by default, 5 the least allowed.
AuthInfo=socket=$MUNGE_SOCKET,cred_expire=5

StateSaveLocation=$STATE/slurmctld
SlurmctldPidFile=$STATE/slurmctld/pid
SlurmctldLogFile=$LOGS/slurmctld.log
SlurmdSpoolDir=$STATE/slurmd-%n
SlurmdPidFile=$STATE/slurmd-%n/pid
SlurmdLogFile=$LOGS/slurmd-%n.log

# Nothing that needs cgroups, and nodes that claim more than the machine has.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SlurmdParameters=config_overrides

# A dead node is seen in seconds, and comes back by itself.
SlurmdTimeout=10
ReturnToService=2

SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
# Without this a job that names no memory gets a whole node's.
DefMemPerCPU=512
MaxArraySize=10001

# Schedule at once; a real cluster would save its controller's time.
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
# A preempted job gets the signal that it asked for with --signal.
SlurmctldParameters=preempt_send_user_signal
JobRequeue=1
KillWait=10
MinJobAge=300

END
    if [ "$1" = yes ]; then
        cat <<END
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=16819
AccountingStoragePass=$MUNGE_SOCKET
AccountingStorageTRES=gres/gpu

END
    fi
    for node in "${NODES[@]}"; do
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$((++port)) CPUs=64 CoresPerSocket=64 RealMemory=512000 Gres=gpu:8"
    done
    cat <<END
PartitionName=main Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=30
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
END
}

slurmdbd_conf() {
    cat <<END
$MARK
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=16819
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket=$MUNGE_SOCKET
LogFile=$LOGS/slurmdbd.log
PidFile=$STATE/slurmdbd/pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=slurm
END
}

write_config() { # write_config yes|no: all of it, with accounting or without
    printf '%s\n' "$MARK" "NodeName=n[1-2] Name=gpu File=$STATE/gpu/gpu[0-7]" >"$CONFIG/gres.conf"
    # slurmd loads a cgroup plugin, used or not. This one needs nothing; v2 wants systemd's bus.
    printf '%s\n' "$MARK" "CgroupPlugin=cgroup/v1" >"$CONFIG/cgroup.conf"
    rm -f "$CONFIG/slurmdbd.conf"
    if [ "$1" = yes ]; then
        # slurmdbd refuses a file that others can read.
        install -m 600 -o slurm -g slurm /dev/null "$CONFIG/slurmdbd.conf"
        slurmdbd_conf >"$CONFIG/slurmdbd.conf"
    fi
    # Last, for up.sh takes it as the sign that all is written.
    slurm_conf "$1" >"$CONFIG/slurm.conf"
}
