# The flows of Open vSwitch's bridges over a restart of ovs-vswitchd, as ovs-ctl restart keeps them. Sourced.
#
# A new ovs-vswitchd has no flows until ovn-controller has computed them, and would take what the kernel forwards by to be
# wrong. With flow-restore-wait it leaves that alone until it has the old flows back. They are kept on the host, for the
# one who restores them may be another container.
# shellcheck shell=bash

saved_flows=/run/openvswitch/kube-ovn-flows

# save_flows: of the ovs-vswitchd that runs. Without one, what was saved when it was stopped stays.
save_flows() {
  local bridges
  if ! ovs-appctl --timeout=5 -t ovs-vswitchd version >/dev/null 2>&1; then
    return
  fi
  rm -rf "$saved_flows"
  mkdir -m 700 "$saved_flows"
  mapfile -t bridges < <(ovs-vsctl --timeout=5 --real list-br)
  TMPDIR=$saved_flows timeout 30 /usr/share/openvswitch/scripts/ovs-save save-flows "${bridges[@]}" \
    >"$saved_flows/restore" || rm -rf "$saved_flows"
}

# expect_flows: before ovs-vswitchd starts. Flows that nobody saved are nothing to wait for. On a full disk nothing can be
# written, and what forwards without having waited is better than nothing that does.
expect_flows() {
  if [[ -s $saved_flows/restore ]]; then
    ovs-vsctl --no-wait set Open_vSwitch . other_config:flow-restore-wait=true ||
      echo 'ovs-vswitchd starts without waiting for its flows: its database can not be written, look at its disk' >&2
  fi
}

# restore_flows: what can not be restored is computed by ovn-controller.
restore_flows() {
  if [[ -s $saved_flows/restore ]]; then
    timeout 60 sh "$saved_flows/restore" >&2 || echo 'flows could not be restored' >&2
  fi
  rm -rf "$saved_flows"
  ovs-vsctl --no-wait --if-exists remove Open_vSwitch . other_config flow-restore-wait
}
