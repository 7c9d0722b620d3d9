import { applyAll, deleteAll, readExample } from '../kubernetes/manifests.ts'
import {
  addressesOfPod,
  isPodReady,
  untilPod,
  untilPodsReady,
  untilRolledOut,
  type PodObject,
} from '../kubernetes/workloads.ts'
import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import { runAt } from '../namespaces.ts'
import { findColumn, ovnCentral } from '../observe/northbound.ts'
import { claimRow, equalRow, firstOf, happensRow, placeOf, type Check, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

/** Addresses that pods choose, that they leave behind, and that a roll-out of twenty pods needs. */
export const addresses: Check = {
  name: 'addresses',
  async run(cluster) {
    return [...(await staticAddressRows(cluster)), ...(await rolloutRows(cluster))]
  },
}

/** The subnet that the pod with a static address names. */
const stock = '/apis/kubeovn.io/v1/subnets/stock'

async function staticAddressRows(cluster: Cluster): Promise<CheckRow[]> {
  const example = readExample('02-static-address', cluster.topology.stack)
  await applyAll(cluster.api, example)
  const pod = firstOf(await untilPodsReady(cluster.api, 'shop', 'app=fixed', 1), 'pod fixed')
  const wanted = pod.metadata.annotations ?? {}
  const link = await linkOf(cluster, pod)
  const honoured = [
    equalRow(
      'static addresses, subnet by annotation',
      wanted['ovn.kubernetes.io/ip_address'] ?? '',
      addressesOfPod(pod).join(','),
    ),
    equalRow('static MAC', (wanted['ovn.kubernetes.io/mac_address'] ?? '').toLowerCase(), link?.address),
  ]
  await deleteAll(cluster.api, example)
  const gone = await goneRows(cluster, 'fixed.shop')
  await cluster.api.mergePatch(stock, { spec: { mtu: 1600 } })
  await applyAll(cluster.api, example)
  const again = await happensRow('the address of a deleted pod is free again', 'taken by its successor', () =>
    untilPodsReady(cluster.api, 'shop', 'app=fixed', 1),
  )
  const successor = firstOf(await untilPodsReady(cluster.api, 'shop', 'app=fixed', 1), 'pod fixed')
  const mtu = equalRow(
    'the MTU of a subnet is that of its pods',
    1600,
    (await linkOf(cluster, successor))?.mtu,
  )
  await deleteAll(cluster.api, example)
  await cluster.api.mergePatch(stock, { spec: { mtu: null } })
  return [...honoured, ...gone, again, mtu]
}

interface PodLink {
  readonly address: string
  readonly mtu: number
}

/** The first interface of a pod, as the pod sees it. */
async function linkOf(cluster: Cluster, pod: PodObject): Promise<PodLink | undefined> {
  const shown = await runAt(placeOf(cluster, pod), ['ip', '-json', 'link', 'show', 'eth0'])
  return (JSON.parse(shown) as PodLink[])[0]
}

/** What a pod leaves behind: nothing. */
async function goneRows(cluster: Cluster, port: string): Promise<CheckRow[]> {
  const central = await ovnCentral(cluster)
  const before = await findColumn(central, 'Logical_Switch_Port', '_uuid', `name=${port}`)
  await untilPod(cluster.api, 'shop', 'fixed', 'is gone', (pod) => pod === undefined)
  const portGone = await happensRow('the port of a deleted pod is gone', 'gone', () =>
    eventually(`port ${port} is gone`, async () => {
      const rows = await findColumn(central, 'Logical_Switch_Port', 'name', `name=${port}`)
      return rows.length === 0 ? true : undefined
    }),
  )
  const groups = await Promise.all(
    before.map((uuid) => findColumn(central, 'Port_Group', 'name', `ports{>=}${uuid}`)),
  )
  // It follows the transaction that takes the port away.
  const recordGone = await happensRow('its IP resource is gone', 'gone', () =>
    waitForObjects<ApiObject, true>(
      cluster.api,
      '/apis/kubeovn.io/v1/ips',
      `IP ${port} is gone`,
      (records) => (records.some(({ metadata }) => metadata.name === port) ? undefined : true),
    ),
  )
  return [
    portGone,
    claimRow(
      'its memberships in port groups are gone',
      groups.flat().length === 0,
      'none',
      groups.flat().join(' '),
    ),
    recordGone,
  ]
}

async function rolloutRows(cluster: Cluster): Promise<CheckRow[]> {
  const example = readExample('03-rolling-deployment', cluster.topology.stack)
  await applyAll(cluster.api, example)
  const started = await happensRow('a Deployment of 20 starts', '20 pods Ready', () =>
    untilRolledOut(cluster.api, 'deployments', 'fleet', 'fleet'),
  )
  await cluster.api.mergePatch('/apis/apps/v1/namespaces/fleet/deployments/fleet', {
    spec: { template: { metadata: { annotations: { 'example.com/generation': '2' } } } },
  })
  const rolled = await happensRow('it rolls without a pod stuck', '20 new pods Ready', async () => {
    await untilRolledOut(cluster.api, 'deployments', 'fleet', 'fleet')
    const pods = await untilPodsReady(cluster.api, 'fleet', 'app=fleet', 20)
    return pods.every(isPodReady)
  })
  const pods = await untilPodsReady(cluster.api, 'fleet', 'app=fleet', 20)
  const distinct = new Set(pods.flatMap(addressesOfPod)).size
  const total = pods.flatMap(addressesOfPod).length
  await deleteAll(cluster.api, example)
  // Whoever checks next that nothing is written must not see pods that are still on their way out.
  await waitForObjects(
    cluster.api,
    '/apis/kubeovn.io/v1/ips',
    'the addresses of the fleet are free',
    (records) => (records.some(({ metadata }) => metadata.name.endsWith('.fleet')) ? undefined : true),
  )
  return [started, rolled, equalRow('no address is held twice', total, distinct)]
}
