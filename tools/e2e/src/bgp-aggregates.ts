import {
  applyAll,
  deleteAll,
  idlePod,
  startPing,
  takeDownPod,
  untilPodsReady,
  type ApiObject,
  type LabNode,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { annotation, patience } from './bgp-lab.ts'
import { learned } from './bgp-routers.ts'
import type { Routed } from './bgp-routed.ts'

const name = 'together'
const cidrs = { ipv4: '10.48.0.0/24', ipv6: 'fd00:10:48::/120' }
const families = ['ipv4', 'ipv6'] as const

/** That a Subnet all of whose pods are on one node is one route, and that nothing is lost when it becomes several, or one again. */
export function aggregatedSubnets(given: () => Routed): void {
  /** What FRR has of the Subnet: next hops by what is behind the prefix of its family. */
  const ways = async (): Promise<Readonly<Record<string, readonly string[]>>> => {
    const tables = await Promise.all(families.map((family) => learned(given().frr, family)))
    const all = tables.flatMap((table, index) => [...table].map((way) => ({ way, index })))
    const ours = all.filter(({ way: [dst], index }) => dst.startsWith(index === 0 ? '10.48.' : 'fd00:10:48:'))
    return Object.fromEntries(ours.map(({ way }) => way))
  }

  it('announce a Subnet of one node as a whole, and its pods while one is elsewhere; no packet is lost', async () => {
    const { cluster, frr, host, nodes } = given()
    const [elsewhere, home] = nodes
    const subnet = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name, annotations: { [annotation]: 'local' } },
      spec: { cidrBlock: `${cidrs.ipv4},${cidrs.ipv6}`, namespaces: [name] },
    } as ApiObject
    const objects = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, subnet]
    await applyAll(cluster.api, [
      ...objects,
      ...['one', 'two'].map((pod) => idlePod({ name: pod, namespace: name }, home.name)),
    ])
    const residents = [await readyPod('one'), await readyPod('two')]
    const { ipv4, ipv6 } = home.physical
    const whole = { [cidrs.ipv4]: [ipv4], [cidrs.ipv6]: [ipv6] }
    await expect.poll(ways, patience).toEqual(whole)

    const addresses = residents.flatMap(addressesOf)
    const pings = [
      // Not from FRR by IPv6: BFD ends that session where the machine stands still for a second.
      ...addresses.filter((address) => !address.includes(':')).map((to) => startPing(frr.place, to)),
      ...addresses.map((to) => startPing(host.place, to)),
    ]
    for (const ping of pings) await ping.started()
    await applyAll(cluster.api, [idlePod({ name: 'three', namespace: name }, elsewhere.name)])
    const guest = await readyPod('three')
    await expect.poll(ways, patience).toEqual({ ...hostsOf(residents, home), ...hostsOf([guest], elsewhere) })
    await takeDownPod(cluster.api, guest)
    await expect.poll(ways, patience).toEqual(whole)
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    console.log(`${losses.map(({ sent }) => sent).join(', ')} packets while a network became hosts and back`)
    expect(losses.map(({ lost }) => lost)).toEqual(pings.map(() => []))

    for (const pod of residents) await takeDownPod(cluster.api, pod)
    await deleteAll(cluster.api, objects)
    await expect.poll(ways, patience).toEqual({})
  })

  async function readyPod(pod: string): Promise<PodObject> {
    const [found] = await untilPodsReady(given().cluster.api, name, `app=${pod}`, 1)
    return found ?? expect.unreachable('one was waited for')
  }
}

function addressesOf({ status }: PodObject): readonly string[] {
  return (status?.podIPs ?? []).map(({ ip }) => ip)
}

function hostsOf(pods: readonly PodObject[], { physical }: LabNode): Record<string, readonly string[]> {
  const addresses = pods.flatMap(addressesOf)
  return Object.fromEntries(
    addresses.map((ip) => [ip, [ip.includes(':') ? physical.ipv6 : physical.ipv4]] as const),
  )
}
