#!/bin/bash
# Runs the Northbound and Southbound databases and ovn-northd.
#
# NODE_IPS with several addresses makes a raft cluster of them; with one or none the databases stand alone. A file of a
# raft member stays one, so that a cluster can be scaled down and taken over from another installation.
#
# POD_IP, POD_IPS, NODE_IPS       own address, own addresses, all members
# ENABLE_BIND_LOCAL_IP            "true": listen on POD_IPS only
# ENABLE_SSL                      "true": TLS for clients and between members, see tls.sh and tls-limits.sh
# PROBE_INTERVAL                  inactivity probe of clients, ms
# OVN_NORTHD_PROBE_INTERVAL       inactivity probe of the databases by northd, ms
# OVN_NORTHD_LOCK_PROBE_INTERVAL  inactivity probe of northd by the Southbound, ms; for twice as long a dead one keeps
#                                 the lock, and northd may be busy without losing it
# OVN_NORTHD_N_THREADS            threads of northd
set -euo pipefail

NODE_IPS=${NODE_IPS:-}
. /kube-ovn/daemons.sh
. /kube-ovn/databases.sh
. /kube-ovn/founding.sh

probe_interval=${PROBE_INTERVAL:-180000}

listen_addresses() {
  if [[ ${ENABLE_BIND_LOCAL_IP:-false} == true ]]; then
    echo "${POD_IPS//,/ }"
  elif [[ -e /proc/net/if_inet6 ]]; then
    echo ::
  else
    echo 0.0.0.0
  fi
}

# listeners nb|sb: port and inactivity probe (ms) of each. What ovn-northd connects to among several members has a short
# one: the server keeps its lock for somebody who died without a word until it has asked twice in vain.
listeners() {
  echo "${client_port[$1]} $probe_interval"
  if [[ $1 == sb ]] && ((${#members[@]} > 1)); then
    echo "$northd_port ${OVN_NORTHD_LOCK_PROBE_INTERVAL:-8000}"
  fi
}

# Clients connect to what this file says, not to the connections of the database itself: those are the same for all
# members, these are the pod's own addresses.
write_local_config() {
  local file names=() rows='' address port probe index=0
  file=$(local_config_file "$1")
  while read -r port probe; do
    for address in $(listen_addresses); do
      names+=("[\"named-uuid\",\"c$index\"]")
      rows+=",{\"op\":\"insert\",\"table\":\"Connection\",\"uuid-name\":\"c$index\",\"row\":{
        \"target\":\"p$protocol:$port:$(bracketed "$address")\",\"inactivity_probe\":$probe}}"
      index=$((index + 1))
    done
  done < <(listeners "$1")
  rm -f "$file" "$(dirname "$file")/.$(basename "$file").~lock~"
  ovsdb-tool create "$file" /usr/share/openvswitch/local-config.ovsschema
  ovsdb-tool transact "$file" "[\"Local_Config\",{\"op\":\"insert\",\"table\":\"Config\",\"row\":{
    \"connections\":[\"set\",[$(IFS=,; echo "${names[*]}")]]}}$rows]" >/dev/null
}

# set_aside nb|sb REASON: keeps a file that can not be used, and goes on as if there were none.
set_aside() {
  local file aside
  file=$(db_file "$1")
  aside=$file.$2-$(date +%s)
  log "$1: $2, the file is kept as $aside"
  mv "$file" "$aside"
}

# A member whose first start was interrupted has a file that never joined, or no whole one. It is worth waiting for its
# join for a while; after that it joins as somebody new. So does at once a member that was taken out of its cluster.
set_aside_unusable() {
  local file age
  file=$(db_file "$1")
  if [[ ! -e $file ]]; then
    return
  fi
  if ! is_clustered "$1"; then
    ovsdb-tool db-is-standalone "$file" || set_aside "$1" unreadable
    return
  fi
  if has_left "$1"; then
    set_aside "$1" left-cluster
    return
  fi
  age=$(($(date +%s) - $(stat -c %Y "$file")))
  if ((age >= 120)) && ! ovsdb-tool db-cid "$file" >/dev/null 2>&1; then
    set_aside "$1" failed-join
  fi
}

# A member's address is part of its cluster, with the protocol. One that comes back with another could not be reached by
# the others, and not reach them: enough of these, and the cluster has no quorum.
refuse_other_protocol() {
  local address
  if ! is_clustered "$1"; then
    return
  fi
  address=$(ovsdb-tool db-local-address "$(db_file "$1")")
  if [[ $address != "$protocol":* ]]; then
    log "$1: this member of a cluster is known to the others as $address, and networking.enableSsl asks for $protocol:" \
      'set it back, or found the cluster anew as docs/user/tls.md says'
    exit 1
  fi
}

# start_database nb|sb OPTION...: with how ovn-ctl is to make the file, if there is none, or one of another kind.
start_database() {
  # shellcheck disable=SC2046 # one word an option
  "$ovn_ctl" "${@:2}" $(ovn_ctl_tls "$1-db") "--db-$1-use-remote-in-db=no" "start_$1_ovsdb" -- \
    --remote=db:Local_Config,Config,connections "$(local_config_file "$1")"
  ovn-appctl -t "/run/ovn/ovn$1_db.ctl" ovsdb-server/memory-trim-on-compaction on
}

# start_member nb|sb found|join: a member of a raft cluster. That one with a file is given a remote only tells ovn-ctl
# that it is not the first one.
start_member() {
  local options=("--db-$1-cluster-local-addr=$(bracketed "$own_address")" "--db-$1-cluster-local-port=${raft_port[$1]}"
    "--db-$1-cluster-local-proto=$protocol" "--db-$1-cluster-remote-proto=$protocol")
  if [[ $2 == join ]]; then
    options+=("--db-$1-cluster-remote-addr=$(bracketed "${members[0]}")" "--db-$1-cluster-remote-port=${raft_port[$1]}")
  fi
  start_database "$1" "${options[@]}"
}

# Neither database waits for the other one. Nothing tells that a member has come up, so the silent ones are asked again.
start_databases() {
  local db undecided=() next present=join
  if ((${#members[@]} <= 1)); then
    present=found
  fi
  for db in nb sb; do
    set_aside_unusable "$db"
    refuse_other_protocol "$db"
    write_local_config "$db"
  done
  for db in nb sb; do
    if is_clustered "$db"; then
      log "$db: member of cluster $(ovsdb-tool db-cid "$(db_file "$db")" 2>/dev/null || echo 'that it was joining')"
      start_member "$db" "$present"
    elif ((${#members[@]} <= 1)); then
      log "$db: standalone"
      start_database "$db"
    else
      undecided+=("$db")
    fi
  done
  while ((${#undecided[@]} > 0)); do
    settle "${undecided[@]}"
    next=()
    for db in "${undecided[@]}"; do
      if [[ -n ${verdicts[$db]} ]]; then
        start_member "$db" "${verdicts[$db]}"
      else
        next+=("$db")
      fi
    done
    undecided=("${next[@]}")
    if ((${#undecided[@]} > 0)); then
      sleep 1
    fi
  done
}

start_northd() {
  local nb=unix:/run/ovn/ovnnb_db.sock sb=unix:/run/ovn/ovnsb_db.sock
  if ((${#members[@]} > 1)); then
    nb=$(connection_list "$nb_port")
    sb=$(connection_list "$northd_port")
  fi
  # shellcheck disable=SC2046 # one word an option
  "$ovn_ctl" $(ovn_ctl_tls northd) --ovn-manage-ovsdb=no "--ovn-northd-nb-db=$nb" "--ovn-northd-sb-db=$sb" \
    "--ovn-northd-n-threads=${OVN_NORTHD_N_THREADS:-1}" start_northd
}

# Each command waits until the database has a quorum, which may need members that start later. What fails at once, as on a full disk,
# is given a moment.
set_options() {
  until ovn-nbctl --no-leader-only --timeout=60 --db=unix:/run/ovn/ovnnb_db.sock set NB_Global . \
    "options:northd_probe_interval=${OVN_NORTHD_PROBE_INTERVAL:-5000}" \
    options:use_logical_dp_groups=true "options:inactivity_probe=$probe_interval"; do sleep 5; done
  until ovn-sbctl --no-leader-only --timeout=60 --db=unix:/run/ovn/ovnsb_db.sock set SB_Global . \
    "options:inactivity_probe=$probe_interval"; do sleep 5; done
}

# The pod before this one may still be ending on the node. Both have the same control sockets, process ids and databases,
# so each would take the other's away. The daemons inherit the lock: it is free when the last of them is gone.
await_turn() {
  rm -f "$turn_file"
  exec 9>/run/ovn/ovn-central.lock
  if ! flock --nonblock 9; then
    log 'waiting for the pod before this one on the node, which still runs'
    trap 'exit 0' TERM INT
    flock 9 &
    wait $!
  fi
  touch "$turn_file"
}

# shellcheck disable=SC2317 # called by the trap
stop() {
  trap - EXIT TERM INT
  log 'stopping'
  "$ovn_ctl" --ovn-manage-ovsdb=no stop_northd || true
  "$ovn_ctl" stop_nb_ovsdb || true
  "$ovn_ctl" stop_sb_ovsdb || true
  exit "${1:-0}"
}

# Also one that is alone: on another node than its data are, it would begin with none, where nobody looks for it, and be
# taken for the one that has the data once there are several.
if ((${#members[@]} > 0)) && [[ " ${members[*]} " != *" $own_address "* ]]; then
  log "own address $own_address is none of NODE_IPS (${members[*]}): correct masterNodes or the labels of the nodes"
  exit 1
fi

mkdir -p /run/ovn /var/log/ovn "$OVN_DBDIR"
await_turn
# Process ids of a container that is gone mean other processes now. ovn-controller's files are not ours.
rm -f /run/ovn/ovn{nb,sb}_db.{pid,ctl,awaited,waiting.*} /run/ovn/ovn-northd.*

tls_limits nb-db >/dev/null
problem=$(tls_problem)
if [[ -n $problem ]]; then
  # Once the files are right, the daemons go on by themselves.
  log "$problem"
fi

trap 'stop 1' EXIT
trap stop TERM INT
start_databases
chmod 600 "$OVN_DBDIR"/*.db
start_northd
set_options &

show_logs /var/log/ovn/ovsdb-server-nb.log /var/log/ovn/ovsdb-server-sb.log /var/log/ovn/ovn-northd.log
until_daemon_ends /run/ovn/ovnnb_db.pid /run/ovn/ovnsb_db.pid /run/ovn/ovn-northd.pid || true
log 'a daemon has ended'
