import {
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  pingAll,
  placeOf,
  runAt,
  takeDownPod,
  tryAt,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { annotation, cidrs, namespace, patience } from './bgp-lab.ts'
import { learned } from './bgp-routers.ts'
import type { Routed } from './bgp-routed.ts'
import { countEntering } from './bgp-traffic.ts'

/** A Subnet whose traffic leaves by the first node. */
const fronted = { name: 'fronted', cidr: '10.47.0.0/24', gateway: '10.47.0.1', vip: '10.47.0.200' }

/** Who announces Vips, and that those outside get answers from them. */
export function announcedVips(given: () => Routed): void {
  const ways = async (address: string): Promise<readonly string[] | undefined> =>
    (await learned(given().frr, 'ipv4')).get(address)

  it('announce a Vip from where pods share it, or from all nodes', async () => {
    const { cluster, nodes, pods } = given()
    const address = cidrs.ipv4.replace(/0\/24$/, '200')
    await cluster.api.create(vip(namespace, address, 'local'))
    const share = (vips: string | null): Promise<unknown> =>
      cluster.api.mergePatch(`/api/v1/namespaces/${namespace}/pods/${pods[1].metadata.name}`, {
        metadata: { annotations: { 'ovn.kubernetes.io/aaps': vips } },
      })
    await share('front')
    await expect.poll(() => ways(address), patience).toEqual([nodes[1].physical.ipv4])
    await cluster.api.mergePatch('/apis/kubeovn.io/v1/vips/front', {
      metadata: { annotations: { [annotation]: 'cluster' } },
    })
    await expect
      .poll(() => ways(address), patience)
      .toEqual(nodes.map(({ physical }) => physical.ipv4).toSorted())
    await share(null)
    await deleteAll(cluster.api, [vip(namespace, address, '')])
    await expect.poll(() => ways(address), patience).toBe(undefined)
  })

  it('bring packets to the pod that has a Vip, whose answers leave by a centralized gateway', async () => {
    const { cluster, frr, host, nodes } = given()
    const [gateway, node] = nodes
    const { name, cidr: cidrBlock, vip: address } = fronted
    const objects = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      {
        apiVersion: 'kubeovn.io/v1',
        kind: 'Subnet',
        metadata: { name },
        spec: { cidrBlock, gatewayType: 'centralized', gatewayNode: gateway.name, namespaces: [name] },
      } as ApiObject,
      vip(name, address, 'local'),
    ]
    await applyAll(cluster.api, [
      ...objects,
      idlePod(
        {
          name: 'front',
          namespace: name,
          labels: { app: 'front' },
          annotations: { 'ovn.kubernetes.io/aaps': 'front' },
        },
        node.name,
      ),
    ])
    const [pod] = await untilPodsReady(cluster.api, name, 'app=front', 1)
    if (pod === undefined) expect.unreachable('one was waited for')
    await takeVip(cluster, pod, address, fronted.gateway)
    await expect.poll(() => ways(address), patience).toEqual([node.physical.ipv4])
    await expect
      .poll(async () => (await learned(host, 'ipv4')).get(address), patience)
      .toEqual([node.physical.ipv4])
    const places = [frr.place, host.place]
    await eventually('a router and a host outside get answers of the Vip', async () =>
      (await Promise.all(places.map((place) => pingAll(place, [address])))).every(({ size }) => size === 1)
        ? true
        : undefined,
    )
    const counts = await countEntering(nodes, [address], async () => {
      for (const place of places) expect((await pingAll(place, [address])).size).toBe(1)
    })
    expect(counts.map((count) => count > 0)).toEqual([false, true])
    await takeDownPod(cluster.api, pod)
    await deleteAll(cluster.api, objects)
    await expect.poll(() => ways(address), patience).toBe(undefined)
  })
}

function vip(subnet: string, v4ip: string, policy: string): ApiObject {
  return {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Vip',
    metadata: { name: 'front', annotations: { [annotation]: policy } },
    spec: { subnet, namespace: subnet, v4ip },
  } as ApiObject
}

/** Has a pod have a Vip that it shares, as keepalived does: OVN gives it to who asks by ARP in its name. */
async function takeVip(cluster: Cluster, pod: PodObject, address: string, gateway: string): Promise<void> {
  const place = placeOf(cluster, pod)
  await runAt(place, ['ip', 'address', 'add', `${address}/32`, 'dev', 'eth0'])
  await eventually(`${pod.metadata.name} has ${address}`, async () => {
    await runAt(place, ['ip', 'neighbor', 'flush', 'dev', 'eth0'])
    const ping = await tryAt(place, ['ping', '-c', '1', '-W', '1', '-I', address, gateway])
    return ping.exitCode === 0 ? true : undefined
  })
}
