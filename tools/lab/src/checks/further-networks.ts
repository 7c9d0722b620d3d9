import { runAt } from '../namespaces.ts'
import { furtherNetwork } from '../kubernetes/further-network.ts'
import { idlePod } from '../kubernetes/idle-pod.ts'
import { applyAll, deleteAll } from '../kubernetes/manifests.ts'
import { addressesOfPod, takeDownPod, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { eventually } from '../kubernetes/wait.ts'
import { equalRow, firstOf, happensRow, nodeOf, placeOf, type CheckRow } from './check.ts'
import { reachedRow } from './reached-row.ts'
import type { Cluster } from '../cluster/cluster.ts'

const { provider, objects: network } = furtherNetwork('inner', '10.98.0.0/24')

/** Of the two pods, in their further network. */
const addresses = ['10.98.0.5', '10.98.0.6']

/** Of a pod that has its first NIC there. */
const firstAddress = '10.98.0.7'

/** A prefix that one of them is asked to send to the other. */
const destination = '192.0.2.0/24'

/** Pods have NICs in a further network of OVN, with the routes and the speed that they ask for. */
export async function furtherNetworkRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const { api, nodes } = cluster
  await applyAll(api, network)
  const pods = addresses.map((address, index) => {
    const annotations = {
      'k8s.v1.cni.cncf.io/networks': 'inner',
      [`${provider}.kubernetes.io/ip_address`]: address,
      ...(index === 0
        ? {
            [`${provider}.kubernetes.io/routes`]: JSON.stringify([{ dst: destination, gw: addresses[1] }]),
            'ovn.kubernetes.io/ingress_rate': '30',
          }
        : {}),
    }
    const metadata = { name: `inner-${index}`, namespace: 'default', annotations }
    return idlePod(metadata, nodes[index % nodes.length]?.name)
  })
  await applyAll(api, pods)
  const made = await Promise.all(
    pods.map(async ({ metadata: { name } }) =>
      firstOf(await untilPodsReady(api, 'default', `app=${name}`, 1), `pod ${name}`),
    ),
  )
  const [first, second] = made
  if (first === undefined || second === undefined) return []
  const rows = [...(await rowsOf(cluster, first, second)), ...(await firstNetworkRows(cluster, second))]
  for (const pod of pods) await takeDownPod(api, pod)
  await deleteAll(api, network.toReversed())
  return rows
}

async function rowsOf(cluster: Cluster, first: PodObject, second: PodObject): Promise<readonly CheckRow[]> {
  const from = placeOf(cluster, first)
  const targets = [addresses[1] ?? '', ...addressesOfPod(second)]
  const route = await runAt(from, ['ip', 'route', 'show', destination])
  return [
    await reachedRow('a pod reaches another one by a further network of OVN and by the first', [
      { from, targets },
    ]),
    equalRow(
      'it has the route that it asks for',
      `${destination} via ${addresses[1]} dev net1`,
      routeOf(route),
    ),
    await happensRow('and is as fast as it asks for', 'its port has the rate', () =>
      eventually('the port has the rate that the Pod asks for', async () => {
        const host = await hostEnd(cluster, first)
        const classes = await runAt(nodeOf(cluster, first).place, ['tc', 'class', 'show', 'dev', host])
        return classes.includes('ceil 30Mbit') ? true : undefined
      }),
    ),
  ]
}

/** A pod whose first NIC is in the further network, in the place of the cluster's. */
async function firstNetworkRows(cluster: Cluster, other: PodObject): Promise<readonly CheckRow[]> {
  const annotations = {
    'v1.multus-cni.io/default-network': 'default/inner',
    [`${provider}.kubernetes.io/ip_address`]: firstAddress,
  }
  const pod = idlePod({ name: 'inner-first', namespace: 'default', annotations }, other.spec.nodeName)
  await applyAll(cluster.api, [pod])
  const made = firstOf(await untilPodsReady(cluster.api, 'default', 'app=inner-first', 1), 'pod inner-first')
  const [target = ''] = addresses
  const rows = [
    equalRow(
      'a pod has its first NIC in it that asks for that',
      firstAddress,
      addressesOfPod(made).join(' '),
    ),
    await reachedRow('and reaches others there', [{ from: placeOf(cluster, made), targets: [target] }]),
  ]
  await takeDownPod(cluster.api, pod)
  return rows
}

/** Without who made it. */
function routeOf(text: string): string {
  return text.trim().split(' ').slice(0, 5).join(' ')
}

/** The host's end of the first NIC: the link that has the index which the pod's end names. */
async function hostEnd(cluster: Cluster, pod: PodObject): Promise<string> {
  const inside = JSON.parse(
    await runAt(placeOf(cluster, pod), ['ip', '-json', 'link', 'show', 'eth0']),
  ) as readonly {
    readonly link_index: number
  }[]
  const outside = JSON.parse(await runAt(nodeOf(cluster, pod).place, ['ip', '-json', 'link'])) as readonly {
    readonly ifindex: number
    readonly ifname: string
  }[]
  return outside.find(({ ifindex }) => ifindex === inside[0]?.link_index)?.ifname ?? ''
}
