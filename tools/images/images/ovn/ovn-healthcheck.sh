#!/bin/bash
# Fails unless northd runs and both databases serve.
set -euo pipefail

NODE_IPS=${NODE_IPS:-}
. /kube-ovn/databases.sh

fail() {
  echo "$*" >&2
  exit 1
}

ovn-appctl --timeout=10 -t ovn-northd status >/dev/null || fail 'ovn-northd does not answer'
for db in nb sb; do
  control=/run/ovn/ovn${db}_db.ctl
  ovn-appctl --timeout=10 -t "$control" version >/dev/null || fail "the $db database does not answer"
  if ! is_clustered "$db"; then
    continue
  fi
  status=$(ovn-appctl --timeout=10 -t "$control" cluster/status "${schema[$db]}")
  state=$(sed -n 's/^Status: //p' <<<"$status")
  role=$(sed -n 's/^Role: //p' <<<"$status")
  case $state in
    *failed* | *joining*) fail "the $db database: $state" ;;
    *disconnected*) [[ $role != candidate ]] || fail "the $db database: $state" ;;
  esac
done
