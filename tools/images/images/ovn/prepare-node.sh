#!/bin/bash
# Loads the kernel's Open vSwitch, before anything else of the node starts.
#
# DISABLE_MODULES_MANAGEMENT  "true": the host sees to its modules
# OVS_DATAPATH_TYPE           netdev needs no module
set -euo pipefail

if [[ ${OVS_DATAPATH_TYPE:-system} == netdev || ${DISABLE_MODULES_MANAGEMENT:-false} == true ]]; then
  exit 0
fi
/usr/share/openvswitch/scripts/ovs-ctl load-kmod
for module in geneve vxlan; do
  modprobe "$module" || echo "module $module could not be loaded, it may be part of the kernel" >&2
done
