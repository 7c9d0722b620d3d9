#!/bin/bash
# Tells what of this node may be in the way of its network, for the script kubectl-ko of earlier installations. `kubectl ko env-check`
# judges the same, and has it as JSON. It sees the node's processes, and its files by way of the first of them.
set -u

root=/proc/1/root

echo '1) network configurations'
for file in "$root"/etc/cni/net.d/*; do
  case $file in
    *-kube-ovn.conflist) ;;
    *.conf | *.conflist | *.json) echo "another network plugin is configured: remove ${file#"$root"} if it sorts before that of kube-ovn" ;;
  esac
done

echo '2) settings of IPv4'
setting() {
  local value
  [[ -r /proc/sys/net/ipv4/$1 ]] || return
  read -r value <"/proc/sys/net/ipv4/$1"
  [[ $value != "$2" ]] || echo "$1 is $value: set net.ipv4.$1=$3, $4"
}
setting tcp_mtu_probing 0 1 'so that connections survive a path with a smaller MTU'
setting tcp_tw_recycle 1 0 'it drops connections that come through NAT'
setting ip_forward 0 1 'pods are reached through this node'

echo '3) checksums'
while read -r title _ _ _ _ _ _ errors _; do
  [[ $title != Udp: || ! $errors =~ ^[1-9] ]] ||
    echo "$errors UDP packets came with wrong checksums: switch checksum offload of the NIC that carries tunnels off"
done </proc/net/snmp

echo '4) names'
while read -r word rest; do
  case $word in
    search | domain) [[ ! "$rest " =~ (^|[.[:space:]])com\.?[[:space:]] ]] ||
      echo "a search domain under .com makes short names be asked for outside: remove it from /etc/resolv.conf ($rest)" ;;
  esac
done 2>/dev/null <"$root/etc/resolv.conf"

echo '5) software for security'
for process in /proc/[0-9]*/comm; do
  read -r name 2>/dev/null <"$process" || continue
  case $name in
    *firewall* | *security* | *qax* | *safe* | *defence* | *vmsec*)
      echo "$name runs: see to it that it lets tunnels pass (UDP 6081 for Geneve, 4789 for VXLAN)" ;;
  esac
done

echo '6) tunnels'
tunnels=0
while read -r _ address _; do
  case $address in *:17C1 | *:12B5) tunnels=1 ;; esac
done < <(cat /proc/net/udp /proc/net/udp6 2>/dev/null)
((tunnels)) || echo 'the kernel waits for no tunnel on UDP 6081 and 4789: fine with STT, the userspace data path, or a single node; else see what ovs-ovn logs'
exit 0
