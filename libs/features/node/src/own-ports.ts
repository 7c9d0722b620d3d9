import { vendor } from '@kube-ovn/ovn-names'
import {
  integrationBridge,
  removePortOperations,
  findAttached,
  openVswitchRow,
  type LocalOvs,
} from './local-ovs.ts'
import { recordedKeys } from './sinks/ovs-rows.ts'
import { nodeNicName } from './node-nic/desired.ts'

/** Names of what was removed. */
export interface OwnPorts {
  readonly ports: readonly string[]
  readonly bridges: readonly string[]
}

/** Keys of the Open_vSwitch row that every agent has owned; later ones record theirs. */
const ownKeys = ['ovn-encap-ip', 'ovn-encap-ip-default', 'ovn-encap-csum']

/**
 * Removes all ports and bridges of the product, in one transaction. For an uninstallation only.
 *
 * The integration bridge goes too: ovn-controller makes a new one when it is wanted again.
 */
export async function removeOwnPorts(ovs: LocalOvs): Promise<OwnPorts> {
  const root = openVswitchRow(ovs)
  const ports = [...ovs.cache.scan('Interface')]
    .filter((row) => row.external_ids['vendor'] === vendor || row.name === nodeNicName)
    .map((row) => row.name)
  const bridges = [...ovs.cache.scan('Bridge')].filter(
    (bridge) => bridge.name === integrationBridge || bridge.external_ids['vendor'] === vendor,
  )
  if (root === undefined) return { ports: [], bridges: [] }
  await ovs.transact([
    ...ports.flatMap((name) => {
      const attached = findAttached(ovs, name)
      return attached === undefined ? [] : removePortOperations(ovs, attached)
    }),
    ovs.operations.mutate('Open_vSwitch', root._uuid, [
      ['bridges', 'delete', bridges.map((bridge) => bridge._uuid)],
      ['external_ids', 'delete', [...new Set([...ownKeys, ...recordedKeys(root.external_ids)])]],
    ]),
  ])
  return { ports, bridges: bridges.map((bridge) => bridge.name) }
}
