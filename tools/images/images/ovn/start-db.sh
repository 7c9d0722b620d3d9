#!/bin/bash
# Runs the Northbound and Southbound databases and ovn-northd.
#
# NODE_IPS with several addresses makes a raft cluster of them; with one or none the databases stand alone. A file of a
# raft member stays one, so that a cluster can be scaled down and taken over from another installation.
#
# POD_IP, POD_IPS, NODE_IPS  own address, own addresses, all members
# ENABLE_BIND_LOCAL_IP       "true": listen on POD_IPS only
# PROBE_INTERVAL             inactivity probe of clients, ms
# OVN_NORTHD_PROBE_INTERVAL  inactivity probe of northd, ms
# OVN_NORTHD_N_THREADS       threads of northd
set -euo pipefail

NODE_IPS=${NODE_IPS:-}
. /kube-ovn/daemons.sh
. /kube-ovn/databases.sh

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

# Clients connect to what this file says, not to the connections of the database itself: those are the same for all
# members, these are the pod's own addresses.
write_local_config() {
  local file=$OVN_DBDIR/ovn$1_local_config.db names=() rows='' address index=0
  for address in $(listen_addresses); do
    names+=("[\"named-uuid\",\"c$index\"]")
    rows+=",{\"op\":\"insert\",\"table\":\"Connection\",\"uuid-name\":\"c$index\",\"row\":{
      \"target\":\"ptcp:${client_port[$1]}:$(bracketed "$address")\",\"inactivity_probe\":$probe_interval}}"
    index=$((index + 1))
  done
  rm -f "$file" "$OVN_DBDIR/.ovn$1_local_config.db.~lock~"
  ovsdb-tool create "$file" /usr/share/openvswitch/local-config.ovsschema
  ovsdb-tool transact "$file" "[\"Local_Config\",{\"op\":\"insert\",\"table\":\"Config\",\"row\":{
    \"connections\":[\"set\",[$(IFS=,; echo "${names[*]}")]]}}$rows]" >/dev/null
}

# A member whose first start was interrupted has a file that never joined. It is worth waiting for its join for a while;
# after that it joins as somebody new.
set_aside_failed_join() {
  local file age
  file=$(db_file "$1")
  if ! is_clustered "$1" || ovsdb-tool db-cid "$file" >/dev/null 2>&1; then
    return
  fi
  age=$(($(date +%s) - $(stat -c %Y "$file")))
  if ((age >= 120)); then
    log "$file has not joined its cluster for $age s, joining anew"
    mv "$file" "$file.failed-join-$(date +%s)"
  fi
}

# leader_of nb|sb: the member that leads now; empty when none answers.
leader_of() {
  local member query
  query="[\"_Server\",{\"op\":\"select\",\"table\":\"Database\",\"columns\":[\"leader\"],
    \"where\":[[\"name\",\"==\",\"${schema[$1]}\"],[\"model\",\"==\",\"clustered\"],[\"leader\",\"==\",true]]}]"
  for member in "${members[@]}"; do
    if ovsdb-client --timeout=5 query "tcp:$(bracketed "$member"):${client_port[$1]}" "$query" 2>/dev/null |
      grep -q '"leader":true'; then
      echo "$member"
      return
    fi
  done
}

# cluster_options nb|sb: how ovn-ctl is to start the database.
cluster_options() {
  local leader remote
  if ((${#members[@]} <= 1)) && ! is_clustered "$1"; then
    log "$1: standalone"
    return
  fi
  echo "--db-$1-cluster-local-addr=$(bracketed "$own_address") --db-$1-cluster-local-port=${raft_port[$1]}"
  if ((${#members[@]} <= 1)); then
    log "$1: only member of its cluster"
    return
  fi
  leader=$(leader_of "$1")
  if [[ -z $leader ]] && ! is_clustered "$1" && [[ -e $(db_file "$1") || $own_address == "${members[0]}" ]]; then
    # Nobody leads, and this is the first member, or the one that has the data of a standalone database.
    log "$1: starting a cluster"
    return
  fi
  remote=${leader:-${members[0]}}
  log "$1: member of the cluster of $remote"
  echo "--db-$1-cluster-remote-addr=$(bracketed "$remote") --db-$1-cluster-remote-port=${raft_port[$1]}"
}

start_database() {
  local options
  set_aside_failed_join "$1"
  write_local_config "$1"
  options=$(cluster_options "$1")
  # shellcheck disable=SC2086 # one word an option
  "$ovn_ctl" $options "--db-$1-use-remote-in-db=no" "start_$1_ovsdb" -- \
    --remote=db:Local_Config,Config,connections "$OVN_DBDIR/ovn$1_local_config.db"
  ovn-appctl -t "/run/ovn/ovn$1_db.ctl" ovsdb-server/memory-trim-on-compaction on
}

start_northd() {
  local nb=unix:/run/ovn/ovnnb_db.sock sb=unix:/run/ovn/ovnsb_db.sock
  if ((${#members[@]} > 1)); then
    nb=$(connection_list nb)
    sb=$(connection_list sb)
  fi
  "$ovn_ctl" --ovn-manage-ovsdb=no "--ovn-northd-nb-db=$nb" "--ovn-northd-sb-db=$sb" \
    "--ovn-northd-n-threads=${OVN_NORTHD_N_THREADS:-1}" start_northd
}

# Each command waits until the database has a quorum, which may need members that start later.
set_options() {
  until ovn-nbctl --no-leader-only --timeout=60 --db=unix:/run/ovn/ovnnb_db.sock set NB_Global . \
    "options:northd_probe_interval=${OVN_NORTHD_PROBE_INTERVAL:-5000}" \
    options:use_logical_dp_groups=true "options:inactivity_probe=$probe_interval"; do :; done
  until ovn-sbctl --no-leader-only --timeout=60 --db=unix:/run/ovn/ovnsb_db.sock set SB_Global . \
    "options:inactivity_probe=$probe_interval"; do :; done
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

if ((${#members[@]} > 1)) && [[ " ${members[*]} " != *" $own_address "* ]]; then
  log "own address $own_address is none of NODE_IPS (${members[*]}): correct masterNodes or the labels of the nodes"
  exit 1
fi

# Process ids of a container that is gone mean other processes now. ovn-controller's files are not ours.
mkdir -p /run/ovn /var/log/ovn "$OVN_DBDIR"
rm -f /run/ovn/ovn{nb,sb}_db.{pid,ctl} /run/ovn/ovn-northd.*

trap 'stop 1' EXIT
trap stop TERM INT
start_database nb
start_database sb
chmod 600 "$OVN_DBDIR"/*.db
start_northd
set_options &

show_logs /var/log/ovn/ovsdb-server-nb.log /var/log/ovn/ovsdb-server-sb.log /var/log/ovn/ovn-northd.log
until_daemon_ends /run/ovn/ovnnb_db.pid /run/ovn/ovnsb_db.pid /run/ovn/ovn-northd.pid || true
log 'a daemon has ended'
