#!/usr/bin/env bash
# A real Slurm on this machine, for tests and for users without a cluster: up.sh [--no-accounting]
# Does only what is not yet done, so it also mends a cluster whose daemons were killed.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$HERE/common.sh"
source "$HERE/config.sh"
source "$HERE/accounting.sh"

refuse_real_cluster() {
    local file
    for file in "${CONFIG_FILES[@]}" /run/slurm/conf/slurm.conf; do
        if [ -e "$file" ] && ! is_ours "$file"; then
            fail "$file is a real cluster's, not the development cluster's; nothing was changed."
        fi
    done
}

apt_install() {
    local policy=/usr/sbin/policy-rc.d install=(apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=60)
    # Debian starts a service as soon as it is installed, unless this file forbids it; we start our own.
    if [ ! -e "$policy" ]; then
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
        install -m 755 /dev/stdin "$policy" <<<$'#!/bin/sh\nexit 101'
    fi
    export DEBIAN_FRONTEND=noninteractive
    # A fresh machine has no package lists, or stale ones.
    "${install[@]}" "$@" || { apt-get update -q && "${install[@]}" "$@"; } || fail "apt-get could not install $*; see above."
}

install_packages() { # install_packages yes|no: what is missing, with accounting or without
    local package missing=() packages=(slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins)
    if [ "$1" = yes ]; then packages+=(slurmdbd mariadb-server slurm-wlm-mysql-plugin); fi
    command -v apt-get >/dev/null || fail "The development cluster is written for Debian 12; this machine has no apt-get."
    for package in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    if [ ${#missing[@]} -gt 0 ]; then apt_install "${missing[@]}"; fi
}

is_any_up() {
    local name
    for name in "${DAEMONS[@]}"; do
        if pid_of "$name" >/dev/null; then return; fi
    done
    return 1
}

configure() { # configure yes|no: write the configuration, or keep the same one
    if [ -e "$CONFIG/slurm.conf" ] && [ "$(slurm_conf "$1")" = "$(cat "$CONFIG/slurm.conf")" ]; then return; fi
    if is_any_up; then fail "The development cluster is up with other settings; take it down first."; fi
    write_config "$1"
}

make_folders() {
    local node number
    mkdir -p "$STATE" "$LOGS" "$STATE"/{mariadbd,slurmdbd,slurmctld,gpu}
    chown slurm: "$STATE"/{slurmdbd,slurmctld}
    install -d -o munge -g munge -m 755 "$STATE/munged"
    if id mysql >/dev/null 2>&1; then chown mysql: "$STATE/mariadbd"; fi
    for node in "${NODES[@]}"; do mkdir -p "$STATE/slurmd-$node"; done
    # Slurm wants a device for every GPU.
    for number in {0..7}; do ln -sfn /dev/null "$STATE/gpu/gpu$number"; done
}

name_nodes() { # make the nodes' names resolve: jobs on several nodes meet at the first one's
    local node
    for node in "${NODES[@]}"; do
        grep -qF "127.0.0.1 $node $MARK" /etc/hosts || echo "127.0.0.1 $node $MARK" >>/etc/hosts
    done
}

start_munge() { # a munged of our own, with its own key: the machine's, if it has one, is not touched
    local folder=$STATE/munged
    if [ ! -e "$folder/key" ]; then runuser -u munge -- mungekey --create --keyfile="$folder/key"; fi
    touch "$LOGS/munged.log" && chown munge: "$LOGS/munged.log"
    start munged runuser -u munge -- munged --key-file="$folder/key" --socket="$MUNGE_SOCKET" \
        --pid-file="$folder/pid" --seed-file="$folder/seed" --log-file="$LOGS/munged.log"
    expect 20 munged munge -n --socket="$MUNGE_SOCKET"
}

controller_answers() {
    timeout 5 scontrol ping | grep -q 'is UP'
}

start_slurm() {
    local node
    start slurmctld slurmctld
    expect 60 slurmctld controller_answers
    for node in "${NODES[@]}"; do start_node "$node"; done
}

main() {
    local accounting=yes
    case $* in
        '') ;;
        --no-accounting) accounting=no ;;
        *) fail "up.sh takes no argument but --no-accounting, not '$*'." ;;
    esac
    if [ -n "${SLURM_CONF:-}" ] && ! is_ours "$SLURM_CONF"; then
        fail "SLURM_CONF names $SLURM_CONF, which is not the development cluster's; unset it."
    fi
    unset SLURM_CONF
    become_root "$HERE/up.sh" "$@"
    refuse_real_cluster
    install_packages "$accounting"
    lock
    make_folders
    configure "$accounting"
    name_nodes
    start_munge
    if [ "$accounting" = yes ]; then start_accounting; fi
    start_slurm
    echo "The development cluster is up: nodes ${NODES[*]}, partitions main and high, accounting: $accounting."
}

main "$@"
