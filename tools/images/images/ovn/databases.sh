# What the scripts of ovn-central know about the two databases. Sourced.
# shellcheck shell=bash

. /kube-ovn/tls.sh

ovn_ctl=/usr/share/ovn/scripts/ovn-ctl
nb_port=${NB_PORT:-6641}
sb_port=${SB_PORT:-6642}
nb_raft_port=${NB_CLUSTER_PORT:-6643}
sb_raft_port=${SB_CLUSTER_PORT:-6644}
# Of the Southbound, for ovn-northd alone.
northd_port=${SB_NORTHD_PORT:-6649}

# The raft members. Other separators than commas come from values that were written as a list.
read -r -a members <<<"${NODE_IPS//[, ]/ }"
own_address=${DB_CLUSTER_ADDR:-$POD_IP}

declare -A schema=([nb]=OVN_Northbound [sb]=OVN_Southbound)
declare -A client_port=([nb]=$nb_port [sb]=$sb_port)
declare -A raft_port=([nb]=$nb_raft_port [sb]=$sb_raft_port)

log() {
  echo "$(date -u +%FT%TZ) $*" >&2
}

# bracketed ADDRESS: as OVSDB wants it, whatever the family.
bracketed() {
  echo "[$1]"
}

db_file() {
  echo "$OVN_DBDIR/ovn$1_db.db"
}

# Where a member listens. It is made anew at each start, and not on the disk of the databases, which may be full.
local_config_file() {
  echo "/run/ovn/ovn$1_local_config.db"
}

# is_clustered nb|sb: the database file exists and belongs to a raft member.
is_clustered() {
  [[ -e $(db_file "$1") ]] && ovsdb-tool db-is-clustered "$(db_file "$1")"
}

# has_left nb|sb: this member has left its cluster, or was taken out of it: the last record of its file says so. It can
# not come back as who it was.
has_left() {
  [[ $(tail -c 100 "$(db_file "$1")") == *'"note":"left"'* ]]
}

# There once the one before it on the node is gone, see await_turn in start-db.sh. Of this container, not of the node.
turn_file=/run/ovn-central-turn

# connection_list PORT: all members for a client, e.g. tcp:[10.0.0.1]:6641,tcp:[10.0.0.2]:6641
connection_list() {
  local list=() member
  for member in "${members[@]}"; do
    list+=("$protocol:$(bracketed "$member"):$1")
  done
  (IFS=,; echo "${list[*]}")
}
