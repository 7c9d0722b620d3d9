import { contribution, type Answer, type NodeFeature } from '@kube-ovn/fragments'
import { rowTable } from '@kube-ovn/tables'
import { bridgeTable } from '../local-bridges.ts'
import { integrationBridge } from '../local-ovs.ts'
import { offloads, type CompleteChecksums } from '../sinks/offloads.ts'

const userspace = 'netdev'

const tapTable = rowTable({
  name: 'userspace-taps',
  of: bridgeTable,
  reads: { bridges: bridgeTable },
  row({ name, datapathType }, { bridges }): Answer<CompleteChecksums> | undefined {
    const isUserspace =
      datapathType === userspace && bridges.get(integrationBridge)?.datapathType === userspace
    return isUserspace ? { want: { link: name } } : undefined
  },
})

/**
 * Has tx checksum offload off on the tap devices of bridges with the userspace data path.
 *
 * The kernel leaves checksums of the host's own packets for the device to complete, and nobody does: ping works and
 * TCP silently does not. vswitchd makes the devices anew, with offload on, whenever it starts.
 */
export const userspaceTaps: NodeFeature = {
  name: 'userspace-taps',
  contributions: [contribution(offloads, tapTable)],
}
