#!/bin/bash
# Takes Open vSwitch off a node after its daemons are gone for good: only the hook of an uninstallation runs it.
set -euo pipefail

. /kube-ovn/tunnel-bridge.sh

ovs_ctl=/usr/share/openvswitch/scripts/ovs-ctl

# The last pods may still be on their way out.
for daemon in /run/openvswitch/ovs-vswitchd.pid /run/openvswitch/ovsdb-server.pid /run/ovn/ovn-controller.pid; do
  if pid=$(cat "$daemon" 2>/dev/null) && [[ -e /proc/$pid ]]; then
    timeout 120 tail --pid="$pid" -f /dev/null
  fi
done

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
for datapath in $(ovs-dpctl dump-dps 2>/dev/null || true); do
  ovs-dpctl del-dp "$datapath"
done
for tap in ovs-netdev "$tunnel_bridge" br-int; do
  ip link delete "$tap" 2>/dev/null || true
done
rm -rf /etc/openvswitch/* /etc/openvswitch/.conf.db.~lock~ /etc/ovn/* /run/openvswitch/* /run/ovn/*
