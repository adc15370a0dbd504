#!/usr/bin/env bash
# Let one node of the development cluster fail, and bring it back: node.sh stop|kill|crash|start n1|n2
#   stop, kill   end its slurmd, in order or not; its jobs' processes run on, as on a node cut off
#   crash        also kills its jobs' processes, as a power failure would
#   start        brings it back, and waits until it takes jobs
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$HERE/common.sh"

main() {
    [[ $* =~ ^(stop|kill|crash|start)\ (n1|n2)$ ]] || fail "Usage: node.sh stop|kill|crash|start n1|n2"
    is_ours "$CONFIG/slurm.conf" || fail "The development cluster is not up."
    unset SLURM_CONF
    become_root "$HERE/node.sh" "$@"
    case $1 in
        stop) stop "slurmd-$2" ;;
        kill) stop "slurmd-$2" KILL ;;
        crash) stop "slurmd-$2" KILL && kill_jobs "$2" ;;
        start) start_node "$2" ;;
    esac
}

main "$@"
