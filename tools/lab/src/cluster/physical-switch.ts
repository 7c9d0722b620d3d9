import { linuxBridge } from './linux-bridge.ts'
import { vlanSwitch } from './vlan-switch.ts'
import type { PhysicalSwitch } from './switch.ts'
import type { Topology } from './topology.ts'

/** The plain bridge of the kernel where it does, since it is there at once; kernels differ in whether it can tell VLANs apart. */
export function physicalSwitch({ vlans }: Topology): PhysicalSwitch {
  return vlans.length === 0 ? linuxBridge : vlanSwitch(vlans)
}
