#!/bin/bash
# Fails unless northd runs and both databases serve, and while the files for TLS are wrong. With the argument `live` the
# latter is fine: it is no reason to stop what has connections, for who made these has proved who he is. So it is then
# that this member waits for others (founding.sh), or for the one before it: to be started anew would not bring them.
set -euo pipefail

NODE_IPS=${NODE_IPS:-}
. /kube-ovn/databases.sh

fail() {
  echo "$*" >&2
  exit 1
}

if [[ ${1:-} != live ]]; then
  problem=$(tls_problem)
  [[ -z $problem ]] || fail "$problem"
fi
if [[ ! -e $turn_file ]]; then
  [[ ${1:-} == live ]] && exit 0
  fail 'waiting for the pod before this one on the node, which still runs'
fi
for file in /run/ovn/ovn{nb,sb}_db.awaited; do
  if [[ -e $file ]]; then
    [[ ${1:-} == live ]] && exit 0
    fail "waiting for $(<"$file")"
  fi
done
ovn-appctl --timeout=10 -t ovn-northd status >/dev/null || fail 'ovn-northd does not answer'
for db in nb sb; do
  control=/run/ovn/ovn${db}_db.ctl
  ovn-appctl --timeout=10 -t "$control" version >/dev/null || fail "the $db database does not answer"
  if ! is_clustered "$db"; then
    continue
  fi
  ! has_left "$db" || fail "the $db database: this member has left its cluster, and joins as somebody new when it starts"
  status=$(ovn-appctl --timeout=10 -t "$control" cluster/status "${schema[$db]}")
  state=$(sed -n 's/^Status: //p' <<<"$status")
  role=$(sed -n 's/^Role: //p' <<<"$status")
  case $state in
    *failed* | *joining*) fail "the $db database: $state" ;;
    *disconnected*) [[ $role != candidate ]] || fail "the $db database: $state" ;;
  esac
done
