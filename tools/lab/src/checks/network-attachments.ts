import { ApiError } from '../errors.ts'
import { runAt } from '../namespaces.ts'
import { networkAttachment } from '../kubernetes/further-network.ts'
import { idlePod } from '../kubernetes/idle-pod.ts'
import { addressesOfPod, takeDownPod, untilPodsReady } from '../kubernetes/workloads.ts'
import { furtherNetworkRows } from './further-networks.ts'
import { claimRow, equalRow, nodeOf, placeOf, type Check, type CheckRow } from './check.ts'
import type { ApiClient } from '../kubernetes/client.ts'
import type { Cluster } from '../cluster/cluster.ts'

/** The address that a pod has in its further network. */
const address = '10.99.0.2'

/** A bridge of the node, which the plugin that makes it leaves there. */
const bridge = 'lab-attached'

const config = JSON.stringify({
  cniVersion: '1.0.0',
  name: 'attached',
  type: 'bridge',
  bridge,
  ipam: { type: 'static', addresses: [{ address: `${address}/24` }] },
})

/** Pods' further networks can be described, also by those who make mistakes, and Multus attaches them beside ours. */
export const networkAttachments: Check = {
  name: 'network attachments',
  async run(cluster) {
    const { api, topology } = cluster
    if (!topology.hasNetworkAttachments) return []
    const wanted = networkAttachment('attached', config)
    const stored = await api.apply(wanted)
    const rows = [
      equalRow('a NetworkAttachmentDefinition is stored', config, stored.spec.config),
      claimRow(
        'one whose configuration is no text is refused',
        await isRefused(api),
        'refused',
        'stored all the same',
      ),
      ...(await attachedRows(cluster)),
      ...(await furtherNetworkRows(cluster)),
    ]
    await api.delete(wanted)
    return rows
  },
}

async function attachedRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const annotations = { 'k8s.v1.cni.cncf.io/networks': 'attached' }
  const pod = idlePod({ name: 'attached', namespace: 'default', annotations })
  await cluster.api.apply(pod)
  const [made] = await untilPodsReady(cluster.api, 'default', 'app=attached', 1)
  if (made === undefined) return []
  const links = JSON.parse(await runAt(placeOf(cluster, made), ['ip', '-json', 'address'])) as readonly {
    readonly ifname: string
    readonly addr_info: readonly { readonly local: string; readonly scope: string }[]
  }[]
  const seen = (name: string): readonly string[] =>
    links
      .filter(({ ifname }) => ifname === name)
      .flatMap(({ addr_info: info }) => info.filter(({ scope }) => scope === 'global'))
      .map(({ local }) => local)
  const rows = [
    equalRow('a pod has what it describes', address, seen('net1').join(' ')),
    equalRow(
      'beside its address',
      addressesOfPod(made).toSorted().join(' '),
      seen('eth0').toSorted().join(' '),
    ),
  ]
  await takeDownPod(cluster.api, pod)
  await runAt(nodeOf(cluster, made).place, ['ip', 'link', 'delete', bridge])
  return rows
}

async function isRefused(api: ApiClient): Promise<boolean> {
  const wrong = networkAttachment('wrong', { type: 'bridge' })
  try {
    await api.create(wrong)
  } catch (error) {
    if (error instanceof ApiError && error.details.status === 422) return true
    throw error
  }
  await api.delete(wrong)
  return false
}
