# slurmdbd and the MariaDB that it keeps its records in. Sourced by up.sh.
# shellcheck shell=bash

database() { # database COMMAND ARGUMENT...: run a MariaDB client on our server
    local client=$1
    shift
    timeout 10 "$client" --no-defaults --socket="$STATE/mariadbd/socket" "$@"
}

start_database() {
    local data=$STATE/mariadbd/data
    if [ ! -d "$data/mysql" ]; then
        mariadb-install-db --no-defaults --user=mysql --datadir="$data" --skip-test-db \
            --auth-root-authentication-method=socket >>"$LOGS/mariadbd.log" 2>&1 ||
            fail "MariaDB could not make its data folder; see $LOGS/mariadbd.log."
    fi
    # No network: slurmdbd comes through the socket, and is known by its user.
    # The server does not go into the background by itself.
    start mariadbd setsid --fork mariadbd --no-defaults --user=mysql --datadir="$data" \
        --socket="$STATE/mariadbd/socket" --pid-file="$STATE/mariadbd/pid" --log-error="$LOGS/mariadbd.log" \
        --skip-networking --innodb-buffer-pool-size=64M --innodb-log-file-size=16M \
        --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0
    expect 60 mariadbd database mariadb-admin ping
    database mariadb -e "CREATE DATABASE IF NOT EXISTS slurm;
        CREATE USER IF NOT EXISTS slurm@localhost IDENTIFIED VIA unix_socket;
        GRANT ALL ON slurm.* TO slurm@localhost;"
}

start_accounting() {
    start_database
    start slurmdbd env MYSQL_UNIX_PORT="$STATE/mariadbd/socket" slurmdbd
    expect 60 slurmdbd timeout 5 sacctmgr -n list cluster
    # Jobs are recorded only for a cluster that is known.
    if [ -z "$(sacctmgr -n list cluster "$CLUSTER")" ]; then
        sacctmgr -i add cluster "$CLUSTER" >>"$LOGS/slurmdbd.log"
    fi
}
