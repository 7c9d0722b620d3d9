#!/bin/bash
# Takes Open vSwitch off a node after its daemons are gone for good: only the hook of an uninstallation runs it.
set -euo pipefail

. /kube-ovn/tunnel-bridge.sh

ovs_ctl=/usr/share/openvswitch/scripts/ovs-ctl

# until_gone PATTERN: waits for the processes whose command line has it. The last pods may still be on their way out.
until_gone() {
  local process pid
  for process in /proc/[0-9]*; do
    pid=${process#/proc/}
    if ((pid != $$)) && tr '\0' ' ' <"$process/cmdline" 2>/dev/null | grep -q -- "$1"; then
      timeout 120 tail --pid="$pid" --follow /dev/null
    fi
  done
}

until_gone '^node /kube-ovn/cni-agent.mjs'
until_gone '^ovn-controller '
until_gone '^ovs-vswitchd '
until_gone '^ovsdb-server .*/etc/openvswitch/conf.db'
until_gone '^ovsdb-server .*/etc/ovn/ovn[ns]b_db.db'

if [[ ! -e /etc/openvswitch/conf.db ]]; then
  exit 0
fi

# The database alone tells what was where; without ovs-vswitchd nothing is brought back.
"$ovs_ctl" --no-ovs-vswitchd --system-id=random start
nic=$(bridge_id tunnel-nic)
addresses=$(bridge_id tunnel-addresses)
routes=$(bridge_id tunnel-routes)
"$ovs_ctl" --no-ovs-vswitchd stop

if [[ -n $nic && -e /sys/class/net/$nic ]]; then
  ip link set "$nic" up
  for address in $addresses; do
    ip address replace "$address" dev "$nic"
  done
  tr ';' '\n' <<<"$routes" | while read -r route; do
    if [[ -n $route ]]; then
      # shellcheck disable=SC2086 # one word an argument
      ip route replace $route dev "$nic" || true
    fi
  done
fi
if [[ -d /sys/class/net/ovs-system ]]; then
  ovs-dpctl del-dp system@ovs-system
fi
for tap in ovs-netdev "$tunnel_bridge" br-int; do
  ip link delete "$tap" 2>/dev/null || true
done
rm -rf /etc/openvswitch/* /etc/openvswitch/.conf.db.~lock~ /etc/ovn/* /run/openvswitch/* /run/ovn/*
