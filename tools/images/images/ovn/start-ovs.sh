#!/bin/bash
# Runs Open vSwitch and ovn-controller on a node.
#
# The daemons of an earlier container may still run: the pods of an upgrade overlap, so that the node is without
# Open vSwitch for as short as possible. This one takes over from them.
#
# NODE_NAME                     name of the node
# OVN_DB_IPS                    addresses of the Southbound's members; empty: OVN_SB_SERVICE_HOST and _PORT
# OVN_SB_ADDR                   connection string, beats OVN_DB_IPS
# ENABLE_SSL                    "true": TLS to the Southbound, see tls.sh
# TUNNEL_TYPE                   geneve, vxlan or stt
# HW_OFFLOAD                    "true": flows are offloaded to the NIC
# OVN_REMOTE_PROBE_INTERVAL     inactivity probe of the Southbound, ms
# OVN_REMOTE_OPENFLOW_INTERVAL  inactivity probe of OpenFlow, s
# OVN_WAIT_BEFORE_CLEAR         for how long ovn-controller leaves the flows alone that it finds, to compute its own, ms
# OVS_DATAPATH_TYPE             system (kernel) or netdev (userspace)
# USERSPACE_TUNNEL_NIC          see tunnel-bridge.sh
set -euo pipefail

. /kube-ovn/daemons.sh
. /kube-ovn/tls.sh
. /kube-ovn/tunnel-bridge.sh
. /kube-ovn/saved-flows.sh

ovs_ctl=/usr/share/openvswitch/scripts/ovs-ctl
ovn_ctl=/usr/share/ovn/scripts/ovn-ctl

southbound() {
  local list=() address
  if [[ -n ${OVN_SB_ADDR:-} ]]; then
    echo "$OVN_SB_ADDR"
    return
  fi
  for address in ${OVN_DB_IPS//,/ }; do
    list+=("$protocol:[$address]:${KUBE_OVN_SB_PORT:-6642}")
  done
  if ((${#list[@]} == 0)); then
    : "${OVN_SB_SERVICE_HOST:?nobody says where the Southbound is: set OVN_DB_IPS to the addresses of its servers}"
    list=("$protocol:[$OVN_SB_SERVICE_HOST]:${OVN_SB_SERVICE_PORT:-6642}")
  fi
  (IFS=,; echo "${list[*]}")
}

# Everything here is in place before ovs-vswitchd and ovn-controller start, and is no change when it was there.
configure() {
  local remote
  remote=$(southbound)
  ovs-vsctl --no-wait set Open_vSwitch . \
    "external_ids:ovn-remote=\"$remote\"" \
    "external_ids:ovn-remote-probe-interval=${OVN_REMOTE_PROBE_INTERVAL:-10000}" \
    "external_ids:ovn-openflow-probe-interval=${OVN_REMOTE_OPENFLOW_INTERVAL:-180}" \
    external_ids:ovn-match-northd-version=true \
    "external_ids:ovn-ofctrl-wait-before-clear=${OVN_WAIT_BEFORE_CLEAR:-5000}" \
    "external_ids:ovn-encap-type=${TUNNEL_TYPE:-geneve}" \
    "external_ids:hostname=$NODE_NAME" \
    "other_config:hw-offload=${HW_OFFLOAD:-false}"
  if (($(nproc) > 12)); then
    ovs-vsctl --no-wait set Open_vSwitch . other_config:n-revalidator-threads=4 other_config:n-handler-threads=10
  fi
  if [[ ${OVS_DATAPATH_TYPE:-system} == netdev ]]; then
    ovs-vsctl --no-wait set Open_vSwitch . external_ids:ovn-bridge-datapath-type=netdev -- \
      --may-exist add-br br-int -- set Bridge br-int datapath_type=netdev fail_mode=secure
  else
    ovs-vsctl --no-wait remove Open_vSwitch . external_ids ovn-bridge-datapath-type
  fi
}

# Names the container that has the daemons: the last one that started.
owner_file=/run/openvswitch/kube-ovn-owner
own_id=$(</proc/sys/kernel/random/uuid)

is_owner() {
  [[ $(cat "$owner_file" 2>/dev/null) == "$own_id" ]]
}

# alone COMMAND...: while no other container starts or stops the daemons. They do not inherit the lock, for they outlive
# the container. A signal waits until the command is done, so that nothing is stopped that is half started.
alone() (
  flock 9
  "$@" 9>&-
) 9>/run/openvswitch/kube-ovn.lock

# The chassis stays in the Southbound and the kernel goes on forwarding: whoever comes next finds both. Daemons that
# another container took over are left to it.
stop_own_daemons() {
  if is_owner; then
    "$ovn_ctl" stop_controller --restart || true
    save_flows || true
    "$ovs_ctl" stop || true
  fi
}

# shellcheck disable=SC2317 # called by the trap
stop() {
  trap - EXIT TERM INT
  alone stop_own_daemons
  exit "${1:-0}"
}

take_over_daemons() {
  echo "$own_id" >"$owner_file"
  "$ovn_ctl" stop_controller --restart
  # ovs-vswitchd forwards on meanwhile.
  "$ovs_ctl" --no-ovs-vswitchd --system-id=random --no-mlockall restart
  ovs-appctl -t ovsdb-server vlog/set jsonrpc:file:err reconnect:file:err
  configure
  if [[ -n ${USERSPACE_TUNNEL_NIC:-} ]]; then
    declare_tunnel_bridge "$USERSPACE_TUNNEL_NIC"
  fi
  save_flows
  "$ovs_ctl" --no-ovsdb-server stop
  expect_flows
  "$ovs_ctl" --no-ovsdb-server --no-mlockall start
  restore_flows
  if [[ -n ${USERSPACE_TUNNEL_NIC:-} ]]; then
    connect_tunnel_bridge
  fi
  # shellcheck disable=SC2046 # one word an option
  "$ovn_ctl" $(ovn_ctl_tls controller) start_controller
  chmod 600 /etc/openvswitch/conf.db
}

mkdir -p /run/openvswitch /run/ovn /var/log/openvswitch /var/log/ovn
trap 'stop 1' EXIT
trap stop TERM INT

# What is wrong keeps nobody from forwarding; the readiness tells it.
tls_problem >&2
alone take_over_daemons
if [[ -n ${USERSPACE_TUNNEL_NIC:-} ]]; then
  watch_tunnel_bridge &
fi

show_logs /var/log/openvswitch/{ovsdb-server,ovs-vswitchd}.log /var/log/ovn/ovn-controller.log
until_daemon_ends /run/openvswitch/{ovsdb-server,ovs-vswitchd}.pid /run/ovn/ovn-controller.pid || true
if ! is_owner; then
  echo 'another container has taken over' >&2
  sleep infinity &
  wait $!
fi
echo 'a daemon has ended' >&2
