import { applyAll, readExample } from '../kubernetes/manifests.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { idlePod } from '../kubernetes/idle-pod.ts'
import { addressesOfPod, takeDownPod, untilPodsReady, type PodObject } from '../kubernetes/workloads.ts'
import { eventually, waitForObjects } from '../kubernetes/wait.ts'
import { physicalPort } from '../cluster/physical-network.ts'
import { ofStack, outsideHost, vlanAddresses } from '../cluster/topology.ts'
import { hasSentTagged } from '../cluster/vlan-switch.ts'
import { runAt } from '../namespaces.ts'
import { addressOutsideObjects, addressOutsideRows, streetVlan } from './address-outside.ts'
import { countRow, equalRow, happensRow, placeOf, type Check, type CheckRow } from './check.ts'
import { reachedRow } from './reached-row.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { ApiObject } from '../kubernetes/client.ts'

/** Of the example. */
const vlan = 100
/** Of the topology, for the subnet whose gateway is one of OVN. */
const logicalVlan = 200
const namespace = 'wharf'
const nic = 'phys1'

const networksPath = '/apis/kubeovn.io/v1/provider-networks'
const subnetPath = `/apis/kubeovn.io/v1/subnets/${namespace}`
const isTrunk = ({ metadata }: ApiObject): boolean => metadata.name === 'trunk'

interface NetworkObject extends ApiObject {
  readonly status?: { readonly ready?: boolean; readonly readyNodes?: readonly string[] }
}

/** Example `20-underlay`: pods are hosts of a VLAN, across nodes; then the router of the VPC joins them, and in the end every NIC is as it was. */
export const underlay: Check = {
  name: 'underlay',
  async run(cluster) {
    const { vlans, podNetwork } = cluster.topology
    const isPlugged = cluster.nodes.every(({ spec }) => spec.physicalNics > 1)
    const hasVlans = [vlan, logicalVlan, streetVlan].every((wanted) => vlans.includes(wanted))
    if (!isPlugged || !hasVlans || podNetwork !== 'kube-ovn') return []
    const { stack } = cluster.topology
    const objects = [
      ...readExample('20-underlay', stack),
      ...logicalObjects(cluster),
      ...overlayPods(cluster),
      ...addressOutsideObjects(cluster),
    ]
    await applyAll(cluster.api, objects)
    const rows = [
      await connectedRow(cluster),
      ...(await physicalRows(cluster)),
      ...(await leaseRows(cluster)),
    ]
    rows.push(...(await addressOutsideRows(cluster)))
    rows.push(...(await logicalRows(cluster)), ...(await routerRows(cluster)))
    await Promise.all(objects.map((object) => cluster.api.delete(object)))
    return [...rows, await backRow(cluster)]
  },
}

async function connectedRow({ api, nodes }: Cluster): Promise<CheckRow> {
  const name = 'every node is connected, and says so'
  const wanted = nodes.map((node) => node.name).toSorted()
  return happensRow(name, wanted.join(' '), () =>
    waitForObjects<NetworkObject, true>(api, networksPath, name, (all) => {
      const { ready, readyNodes = [] } = all.find(isTrunk)?.status ?? {}
      return ready === true && readyNodes.toSorted().join(' ') === wanted.join(' ') ? true : undefined
    }),
  )
}

/** The VLAN alone: nothing of OVN is between a pod and its gateway. */
async function physicalRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const { stack } = cluster.topology
  const pods = await cranes(cluster)
  const gateways = ofStack(stack, vlanAddresses(vlan, outsideHost))
  const mtus = await Promise.all(pods.map((pod) => mtuOf(cluster, pod)))
  const reached = [
    await pingRow('pods reach their gateway outside', cluster, pods, () => gateways),
    await pingRow('pods reach each other, across nodes', cluster, pods, (pod) => others(pods, pod)),
    await outsideRow(cluster, pods),
  ]
  // By what has just come from them: the switch forgets whom it has not heard for a while.
  const tagged = await Promise.all(
    cluster.nodes.map(({ name }) => hasSentTagged(cluster.outside.place, physicalPort(name, 1), vlan)),
  )
  return [
    ...reached,
    countRow('the switch has seen their tag from each node', tagged.filter(Boolean).length, tagged.length),
    equalRow('their packets are as long as those of the NIC', '1500', [...new Set(mtus)].join()),
  ]
}

/** What udhcpc calls with what it was answered. */
const leaseScript = '#!/bin/sh\n[ "$1" != bound ] || echo "$ip $router"\n'

/** OVN answers on each node, and the machine that is the gateway is told as such. The client is one of IPv4. */
async function leaseRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const { api, topology } = cluster
  const [gateway] = ofStack(topology.stack, vlanAddresses(vlan, outsideHost))
  if (gateway === undefined || topology.stack === 'ipv6') return []
  await api.mergePatch(subnetPath, { spec: { enableDHCP: true } })
  const ask = `printf '%b' '${leaseScript}' > /tmp/told && chmod +x /tmp/told && busybox udhcpc -f -n -q -t 3 -T 1 -i eth0 -s /tmp/told`
  const pods = await cranes(cluster)
  const leases = pods.map((pod) =>
    happensRow(
      `a DHCP client on ${pod.spec.nodeName} gets the address of its pod, in the VLAN`,
      'leased',
      () =>
        eventually('a lease', async () => {
          const { name, namespace: of = namespace } = pod.metadata
          const text = await kubectl(cluster, 'exec', '-n', of, name, '--', 'sh', '-c', ask).catch(() => '')
          return text.split('\n').includes(`${addressesOfPod(pod)[0]} ${gateway}`) ? true : undefined
        }),
    ),
  )
  const rows = await Promise.all(leases)
  await api.mergePatch(subnetPath, { spec: { enableDHCP: false } })
  return rows
}

/** A subnet of another VLAN whose gateway is the router of the VPC. */
async function logicalRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const pods = await untilPodsReady(cluster.api, 'shoal', 'tier=shoal', cluster.nodes.length)
  const decks = await deckPods(cluster)
  return [
    await pingRow('pods with a gateway of OVN reach each other by their VLAN', cluster, pods, (pod) =>
      others(pods, pod),
    ),
    await pingRow('and overlay pods by that gateway', cluster, pods, () => decks.flatMap(addressesOfPod)),
  ]
}

/** The router of the VPC beside the gateway outside: new pods go by it, and overlay pods reach those that were there before. */
async function routerRows(cluster: Cluster): Promise<readonly CheckRow[]> {
  const { api, topology } = cluster
  await api.mergePatch(subnetPath, { spec: { u2oInterconnection: true } })
  await waitForObjects<ApiObject & { readonly status?: { readonly u2oInterconnectionIP?: string } }, true>(
    api,
    '/apis/kubeovn.io/v1/subnets',
    'the router has an address in the underlay',
    (all) =>
      all.some(
        ({ metadata, status }) => metadata.name === namespace && (status?.u2oInterconnectionIP ?? '') !== '',
      )
        ? true
        : undefined,
  )
  const before = await cranes(cluster)
  // Members of a list do not say what they are.
  for (const pod of before) await takeDownPod(api, { ...pod, apiVersion: 'v1', kind: 'Pod' })
  const pods = await cranes(cluster)
  const decks = await deckPods(cluster)
  const gateways = ofStack(topology.stack, vlanAddresses(vlan, outsideHost))
  return [
    await pingRow('pods reach overlay pods by the router', cluster, pods, () =>
      decks.flatMap(addressesOfPod),
    ),
    await pingRow('overlay pods reach them', cluster, decks, () => pods.flatMap(addressesOfPod)),
    await pingRow('they reach their gateway outside still', cluster, pods, () => gateways),
    await outsideRow(cluster, pods),
  ]
}

/** Bridges are gone, and the NIC is nobody's. */
async function backRow(cluster: Cluster): Promise<CheckRow> {
  const name = 'every NIC is given back when the network is deleted'
  return happensRow(name, 'no bridge', () =>
    eventually(name, async () => {
      const links = await Promise.all(
        cluster.nodes.map(({ place }) => runAt(place, ['ip', '-o', 'link', 'show'])),
      )
      return links.every((text) => !text.includes('br-trunk') && text.includes(`${nic}@`)) ? true : undefined
    }),
  )
}

function cranes({ api, nodes }: Cluster): Promise<readonly PodObject[]> {
  return untilPodsReady(api, namespace, 'app=crane', nodes.length)
}

function deckPods({ api, nodes }: Cluster): Promise<readonly PodObject[]> {
  return untilPodsReady(api, 'default', 'tier=deck', nodes.length)
}

function others(pods: readonly PodObject[], own: PodObject): readonly string[] {
  return pods.filter((pod) => pod !== own).flatMap(addressesOfPod)
}

function pingRow(
  name: string,
  cluster: Cluster,
  from: readonly PodObject[],
  targetsOf: (pod: PodObject) => readonly string[],
): Promise<CheckRow> {
  return reachedRow(
    name,
    from.map((pod) => ({ from: placeOf(cluster, pod), targets: targetsOf(pod) })),
  )
}

function outsideRow(cluster: Cluster, pods: readonly PodObject[]): Promise<CheckRow> {
  const targets = pods.flatMap(addressesOfPod)
  return reachedRow('their gateway outside reaches them', [{ from: cluster.outside.place, targets }])
}

async function mtuOf(cluster: Cluster, pod: PodObject): Promise<string> {
  const links = await runAt(placeOf(cluster, pod), ['ip', '-o', 'link', 'show', 'eth0'])
  return /mtu (\d+)/.exec(links)?.[1] ?? 'unknown'
}

/** A pod on each node in the default subnet. */
function overlayPods({ nodes }: Cluster): readonly ApiObject[] {
  return nodes.map(({ name }) =>
    idlePod({ name: `deck-${name}`, namespace: 'default', labels: { tier: 'deck' } }, name),
  )
}

function logicalObjects({ nodes, topology }: Cluster): readonly ApiObject[] {
  const name = 'shoal'
  const apiVersion = 'kubeovn.io/v1'
  const router = vlanAddresses(logicalVlan, 1)
  const cidrBlock = ofStack(topology.stack, {
    ipv4: `${router.ipv4.replace(/\d+$/, '0')}/24`,
    ipv6: `${router.ipv6.replace(/1$/, '')}/64`,
  }).join()
  const subnet = {
    ...{ vlan: `vlan-${logicalVlan}`, logicalGateway: true, cidrBlock, namespaces: [name] },
    gateway: ofStack(topology.stack, router).join(),
    excludeIps: ofStack(topology.stack, vlanAddresses(logicalVlan, outsideHost)),
  }
  return [
    {
      apiVersion,
      kind: 'Vlan',
      metadata: { name: `vlan-${logicalVlan}` },
      spec: { id: logicalVlan, provider: 'trunk' },
    },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    { apiVersion, kind: 'Subnet', metadata: { name }, spec: subnet },
    ...nodes.map((node) =>
      idlePod({ name: `shoal-${node.name}`, namespace: name, labels: { tier: 'shoal' } }, node.name),
    ),
  ] as readonly ApiObject[]
}
