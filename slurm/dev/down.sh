#!/usr/bin/env bash
# Take the development cluster down and remove all that up.sh made; packages stay installed.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$HERE/common.sh"

is_there() {
    is_ours "$CONFIG/slurm.conf" || [ -e "$STATE" ] || [ -e "$LOGS" ] || grep -qF "$MARK" /etc/hosts
}

cancel_jobs() { # end every job at once, and wait a little
    local jobs deadline=$((SECONDS + 5))
    if ! is_ours "$CONFIG/slurm.conf" || ! pid_of slurmctld >/dev/null; then return; fi
    mapfile -t jobs < <(timeout 5 squeue -h -o %A | sort -u)
    if [ ${#jobs[@]} -eq 0 ]; then return; fi
    timeout 10 scancel --quiet "${jobs[@]}" || true
    timeout 10 scancel --quiet --full --signal=KILL "${jobs[@]}" || true
    while [ -n "$(timeout 5 squeue -h)" ] && ((SECONDS < deadline)); do sleep 0.2; done
}

remove_files() {
    local file hosts
    for file in "${CONFIG_FILES[@]}"; do
        if is_ours "$file"; then rm -f "$file"; fi
    done
    if grep -qF "$MARK" /etc/hosts; then
        # Written into, not replaced: in a container this file is a mount.
        hosts=$(grep -vF "$MARK" /etc/hosts || true)
        echo "$hosts" >/etc/hosts
    fi
    rm -rf "$STATE" "$LOGS"
}

main() {
    local name
    [ $# -eq 0 ] || fail "down.sh takes no argument, not '$*'."
    if ! is_there; then return; fi
    unset SLURM_CONF
    become_root "$HERE/down.sh"
    lock
    cancel_jobs
    for name in "${DAEMONS[@]}"; do stop "$name"; done
    # What outlived a crash, or a start that was interrupted.
    for name in "${NODES[@]}"; do kill_jobs "$name"; done
    kill_by_log '*.log'
    remove_files
    echo "The development cluster is down; its packages stay installed."
}

main "$@"
