import { uninstallChart } from '../chart.ts'
import { ApiError } from '../errors.ts'
import { deleteAll, listExamples, readExample } from '../kubernetes/manifests.ts'
import { runAt, tryAt } from '../namespaces.ts'
import { claimRow, type Check, type CheckRow } from './check.ts'
import type { Cluster, LabNode } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

/** `helm uninstall` leaves nothing that blocks and nothing on the nodes. */
export const uninstall: Check = {
  name: 'helm uninstall',
  async run(cluster) {
    for (const example of listExamples().reverse())
      await deleteAll(cluster.api, readExample(example, cluster.topology.stack))
    await uninstallChart(cluster)
    const onNodes = await Promise.all(cluster.nodes.map((node) => nodeRows(node)))
    return [await finalizerRow(cluster), ...onNodes.flat()]
  },
}

async function finalizerRow(cluster: Cluster): Promise<CheckRow> {
  const blocked = await Promise.all(['vpcs', 'subnets', 'ips'].map((plural) => finalizersOf(cluster, plural)))
  const names = blocked.flat()
  return claimRow('no finalizer is left', names.length === 0, 'none', names.join(', '))
}

async function finalizersOf(cluster: Cluster, plural: string): Promise<string[]> {
  try {
    const objects = await cluster.api.list<ApiObject>(`/apis/kubeovn.io/v1/${plural}`)
    return objects
      .filter(({ metadata }) => (metadata.finalizers ?? []).length > 0)
      .map(({ metadata }) => `${plural}/${metadata.name}`)
  } catch (error) {
    // The definitions may be gone with the chart.
    if (error instanceof ApiError && error.details.status === 404) return []
    throw error
  }
}

async function nodeRows({ name, place, tunnel }: LabNode): Promise<CheckRow[]> {
  const files = await tryAt(place, [
    'sh',
    '-c',
    'ls /opt/cni/bin/kube-ovn /etc/cni/net.d/*kube-ovn* 2>/dev/null',
  ])
  const links = JSON.parse(await runAt(place, ['ip', '-json', 'address'])) as Link[]
  const left = links
    .map(({ ifname }) => ifname)
    .filter((ifname) => /^(ovn0|ovn-probes|br-|ovs-|genev_|mirror|.*_h$)/.test(ifname))
  const holder = links.find(({ addr_info }) => addr_info.some(({ local }) => local === tunnel.ipv4))?.ifname
  const rules = await runAt(place, ['nft', 'list', 'ruleset'])
  const ours = rules.split('\n').filter((line) => /^table .*(kube-?ovn|ovn)/.test(line))
  return [
    claimRow(`${name}: no plugin and no conflist`, files.stdout === '', 'none', files.stdout.trim()),
    claimRow(`${name}: no link of ours`, left.length === 0, 'none', left.join(', ')),
    claimRow(`${name}: no rule of ours`, ours.length === 0, 'none', ours.join(', ')),
    claimRow(
      `${name}: the tunnel NIC has its address back`,
      holder?.startsWith('eth') === true,
      'on the NIC',
      holder ?? 'nowhere',
    ),
  ]
}

/** As ip(8) prints it. */
interface Link {
  readonly ifname: string
  readonly addr_info: readonly { readonly local?: string }[]
}
