# What up.sh, down.sh and node.sh share: where things are, and how a daemon is known to be ours.
# shellcheck shell=bash disable=SC2034  # those who source this file use the names below

STATE=/var/spool/toolorchestra-slurm # one folder a daemon: its pid file, and what it keeps
LOGS=/var/log/toolorchestra-slurm    # one file a daemon
CONFIG=/etc/slurm                    # where clients look without being told
CONFIG_FILES=("$CONFIG"/{slurm,gres,cgroup,slurmdbd}.conf)
MARK="# ToolOrchestra's development cluster: slurm/dev/up.sh wrote this, down.sh removes it."
MUNGE_SOCKET=$STATE/munged/socket
CLUSTER=toolorchestra
NODES=(n1 n2)
DAEMONS=(slurmd-n1 slurmd-n2 slurmctld slurmdbd mariadbd munged) # in the order of stopping

fail() {
    echo "$*" >&2
    exit 1
}

become_root() { # become_root SCRIPT ARGUMENT...: start the script again as root, unless it is
    [ "$(id -u)" -eq 0 ] && return
    command -v sudo >/dev/null || fail "Only root can do this, and there is no sudo."
    exec sudo -- bash "$@"
}

lock() { # of two scripts that come at once, the second waits
    exec 9<"${STATE%/*}"
    flock 9
}

is_ours() { # is_ours FILE: whether up.sh wrote it
    [ "$(head -n 1 "$1" 2>/dev/null)" = "$MARK" ]
}

pid_of() { # pid_of NAME: the pid of our daemon, if its pid file names a process that is that daemon
    local pid command program=$1
    pid=$(cat "$STATE/$1/pid" 2>/dev/null) || return 1
    # A pid file outlives a crash, and its number may be another process by now.
    command=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || return 1
    case $1 in slurmd-*) program="slurmd -N ${1#slurmd-}" ;; esac
    [[ " $command" == *[\ /]"$program "* ]] && echo "$pid"
}

start() { # start NAME COMMAND...: start our daemon NAME, unless it runs
    local name=$1
    shift
    if pid_of "$name" >/dev/null; then return; fi
    rm -f "$STATE/$name/pid"
    # Daemons, and through them jobs, inherit neither the caller's environment nor its terminal and lock.
    (cd / && exec env -i PATH="$PATH" LANG=C.UTF-8 "$@") </dev/null >>"$LOGS/$name.log" 2>&1 9>&- ||
        fail "$name did not start; see $LOGS/$name.log."
}

stop() { # stop NAME [SIGNAL]: stop our daemon NAME, if it runs, and wait until it is gone
    local pid deadline=$((SECONDS + 15))
    pid=$(pid_of "$1") || return 0
    kill -s "${2:-TERM}" "$pid" 2>/dev/null || return 0
    while [ "$(pid_of "$1")" = "$pid" ]; do
        if ((SECONDS >= deadline)); then kill -s KILL "$pid" 2>/dev/null || true; fi
        sleep 0.1
    done
    rm -f "$STATE/$1/pid"
}

kill_by_log() { # kill_by_log PATTERN: kill the daemons that have such a log of ours open
    local pid
    for pid in $(find /proc/[0-9]*/fd -lname "$LOGS/$1" 2>/dev/null | cut -d / -f 3 | sort -u); do
        # Daemons only, not who reads a log.
        case $(cat "/proc/$pid/comm" 2>/dev/null) in
            slurm* | mariadbd | munged) kill -s KILL "$pid" 2>/dev/null || true ;;
        esac
    done
}

kill_jobs() { # kill_jobs NODE: kill all processes of jobs on the node, the step daemons first
    local process
    # Else these would report that the jobs' processes died.
    kill_by_log "slurmd-$1.log"
    # The shell of an salloc knows its cluster but no node, and stays.
    for process in /proc/[0-9]*; do
        if grep -qzx "SLURM_CLUSTER_NAME=$CLUSTER" "$process/environ" 2>/dev/null &&
            grep -qzx "SLURMD_NODENAME=$1" "$process/environ" 2>/dev/null; then
            kill -s KILL "${process#/proc/}" 2>/dev/null || true
        fi
    done
}

expect() { # expect SECONDS NAME COMMAND...: wait until the command succeeds, or name the log to read
    local deadline=$((SECONDS + $1)) name=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)); then fail "$name does not answer; see $LOGS/$name.log."; fi
        sleep 0.2
    done
}

node_answers() { # node_answers NODE: it responds (no * after its state) and takes jobs
    [[ $(timeout 5 sinfo -h -p main -n "$1" -o %T) =~ ^(idle|mixed|allocated|completing)$ ]]
}

start_node() { # start_node NODE: start its daemon, unless it runs, and wait until the node takes jobs
    start "slurmd-$1" slurmd -N "$1"
    # Drained by a failure, such as a job that could not be killed, a node stays so until it is told.
    if [[ $(timeout 5 sinfo -h -p main -n "$1" -o %T) == drain* ]]; then
        scontrol update nodename="$1" state=resume
    fi
    expect 60 "slurmd-$1" node_answers "$1"
}
