#!/bin/bash
# Fails unless the daemons of the node answer, and while the files for TLS are wrong; with the argument `live` the latter
# is fine.
set -euo pipefail

. /kube-ovn/tls.sh

ovsdb-client --timeout=10 list-dbs unix:/run/openvswitch/db.sock >/dev/null
ovs-appctl --timeout=10 -t ovs-vswitchd version >/dev/null
ovn-appctl --timeout=10 -t ovn-controller version >/dev/null

# A member that lost its data and came back with older ones is refused for ever, unless told that this is right.
if tail --lines=6 /var/log/ovn/ovn-controller.log | grep -q 'clustered database server has stale data'; then
  ovn-appctl --timeout=10 -t ovn-controller sb-cluster-state-reset
fi

if [[ ${1:-} != live ]]; then
  problem=$(tls_problem)
  if [[ -n $problem ]]; then
    echo "$problem" >&2
    exit 1
  fi
fi
