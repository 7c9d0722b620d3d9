# The bridge (br-phy) through which the userspace data path sends tunnels. Sourced.
#
# The userspace data path reaches the network only by ports of its bridges, so the NIC that has the tunnels' address
# becomes a port of br-phy, and br-phy takes over its addresses and routes. What they were is kept with the bridge in
# Open vSwitch's database: the bridge's interface vanishes with ovs-vswitchd, and the NIC may be given back one day.
# When the NIC has addresses again, the machine was started anew, and they may be others.
# shellcheck shell=bash

tunnel_bridge=${USERSPACE_TUNNEL_BRIDGE:-br-phy}

# find_nic WANTED: the NIC by name, or by an address or prefix that one of its addresses is in.
find_nic() {
  if [[ -e /sys/class/net/$1 ]]; then
    echo "$1"
    return
  fi
  ip -oneline address show to "$1" 2>/dev/null | awk -v bridge="$tunnel_bridge" '$2 != bridge { print $2; exit }'
}

nic_addresses() {
  ip -oneline address show dev "$1" scope global 2>/dev/null | awk '{ printf "%s%s", sep, $4; sep = " " }'
}

bridge_id() {
  ovs-vsctl --no-wait --if-exists get Bridge "$tunnel_bridge" "external_ids:$1" 2>/dev/null | tr -d '"'
}

# declare_tunnel_bridge WANTED: adds the bridge and its port to the database, before ovs-vswitchd reads it.
declare_tunnel_bridge() {
  local nic addresses routes
  nic=$(bridge_id tunnel-nic)
  if [[ -n $nic && -z $(nic_addresses "$nic") ]]; then
    return
  fi
  nic=$(find_nic "${nic:-$1}")
  if [[ -z $nic ]]; then
    echo "no NIC has the name or an address in $1: correct ovsOvn.tunnelNic or agent.interface" >&2
    return 1
  fi
  addresses=$(nic_addresses "$nic")
  # Routes of the kernel's own come back with the addresses.
  routes=$({ ip -4 route show dev "$nic"; ip -6 route show dev "$nic"; } |
    awk '!/proto kernel/ && !/^(fe80|ff00|multicast)/ { printf "%s%s", sep, $0; sep = ";" }')
  ovs-vsctl --no-wait --may-exist add-br "$tunnel_bridge" -- --may-exist add-port "$tunnel_bridge" "$nic" -- \
    set Bridge "$tunnel_bridge" datapath_type=netdev fail_mode=standalone \
    "other_config:hwaddr=\"$(cat "/sys/class/net/$nic/address")\"" \
    "external_ids:tunnel-nic=\"$nic\"" \
    "external_ids:tunnel-addresses=\"$addresses\"" \
    "external_ids:tunnel-routes=\"$routes\""
}

# complete_checksums: the userspace data path does not complete checksums that the kernel left to the NIC. ovs-vswitchd
# turns that on some time after it made the interface, also when that was turned off before.
complete_checksums() {
  if ! ethtool --show-offload "$tunnel_bridge" 2>/dev/null | grep -q '^tx-checksumming: off'; then
    ethtool --offload "$tunnel_bridge" tx off >/dev/null
  fi
}

# connect_tunnel_bridge: moves what is still on the NIC to the bridge's interface; nothing to do when all is in place.
connect_tunnel_bridge() {
  local nic address route missing=false
  nic=$(bridge_id tunnel-nic)
  for address in $(bridge_id tunnel-addresses); do
    if ! ip -oneline address show dev "$tunnel_bridge" 2>/dev/null | grep -qF " $address "; then
      missing=true
    fi
  done
  complete_checksums
  if [[ $missing == false ]] && (($(cat "/sys/class/net/$tunnel_bridge/flags") & 1)); then
    return
  fi
  # With IPv6 off for new interfaces the addresses could not be added.
  echo 0 >"/proc/sys/net/ipv6/conf/$tunnel_bridge/disable_ipv6" 2>/dev/null || true
  ip address flush dev "$nic" scope global
  ip link set "$nic" up
  ip link set "$tunnel_bridge" up
  for address in $(bridge_id tunnel-addresses); do
    if [[ $address == *:* ]]; then
      ip address replace "$address" dev "$tunnel_bridge" nodad
    else
      ip address replace "$address" dev "$tunnel_bridge"
    fi
  done
  bridge_id tunnel-routes | tr ';' '\n' | while read -r route; do
    if [[ -n $route ]]; then
      # shellcheck disable=SC2086 # one word an argument
      ip route replace $route dev "$tunnel_bridge" || true
    fi
  done
  ovs-ofctl add-flow "$tunnel_bridge" priority=0,actions=NORMAL
}

# watch_tunnel_bridge: puts things right again when ovs-vswitchd died and its monitor started another one.
watch_tunnel_bridge() {
  local event
  ip -oneline monitor link | while read -r event; do
    if [[ $event == *" $tunnel_bridge: "* && $event != Deleted* ]]; then
      connect_tunnel_bridge || true
    fi
  done
}
