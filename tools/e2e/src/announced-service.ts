import {
  eventually,
  fetchText,
  joinVlanBy,
  ofStack,
  outsideHost,
  pingAll,
  runAt,
  untilRolledOut,
  vlanAddresses,
  vlanPort,
  type Cluster,
  type PodObject,
  type VlanHost,
} from '@kube-ovn/lab'
import { expect } from 'vitest'
import { fetchFrom, type SeenCluster } from './fetch-from.ts'
import { untilConnected, untilServedBy } from './underlay.ts'

/** Of the example. */
const [namespace, vlan, bridge] = ['jetty', 100, 'br-trunk']
const pair = { ipv4: '10.128.100.200', ipv6: 'fd00:10:128:100::200' }
/** So many that another backend would be met but in one of a million cases. */
const visits = 20

/**
 * Expects that whoever is outside comes to the backend of the node that announces the address of a Service, whichever node that is, and Pods
 * to the one of their own node.
 *
 * What MetalLB does is done in its place: it gives the addresses, and has who is outside find them at a node.
 */
export async function expectAnnouncedService(cluster: SeenCluster, lab: Cluster): Promise<void> {
  const { api, stack } = cluster
  const { nodes, outside } = lab
  const names = nodes.map(({ name }) => name)
  const addresses = ofStack(stack, pair)
  await untilRolledOut(api, 'daemonsets', namespace, 'booth')
  await untilConnected(api, 'trunk', names)
  await api.mergePatch(`/api/v1/namespaces/${namespace}/services/booth/status`, {
    status: { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } },
  })
  await untilServedBy(api, namespace, addresses, names)
  for (const node of nodes) {
    await using host = await joinVlanBy(lab, node, { bridge, vlan })
    // So that the switch knows at which port it is.
    const gateways = ofStack(stack, vlanAddresses(vlan, outsideHost))
    await eventually(`${node.name} is in the VLAN`, async () =>
      (await pingAll(node.place, gateways)).size === gateways.length ? true : undefined,
    )
    await using _ = await announced(lab, host, addresses)
    const pages = (): Promise<readonly (string | undefined)[]> =>
      Promise.all(addresses.map((address) => fetchText(outside.place, address, 80)))
    const wanted = addresses.map(() => node.name)
    await eventually(`${node.name} is met outside`, async () =>
      (await pages()).join() === wanted.join() ? true : undefined,
    )
    for (let visit = 0; visit < visits; visit++) expect(await pages()).toEqual(wanted)
  }
  const booths = await api.list<PodObject>(`/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dbooth`)
  expect(booths).toHaveLength(nodes.length)
  for (const from of booths)
    for (const address of addresses) {
      const page = await eventually(`a booth answers inside at ${address}`, () =>
        fetchFrom(cluster, from, address, 80).catch(() => undefined),
      )
      expect(page.trim()).toBe(from.spec.nodeName)
    }
}

/** Has who is outside find addresses at a host of the VLAN, until this is disposed of. */
async function announced(
  { outside: { place } }: Cluster,
  { mac }: VlanHost,
  addresses: readonly string[],
): Promise<AsyncDisposable> {
  const dev = ['dev', vlanPort(vlan)]
  for (const address of addresses)
    await runAt(place, ['ip', 'neigh', 'replace', address, 'lladdr', mac, ...dev])
  return {
    async [Symbol.asyncDispose]() {
      for (const address of addresses) await runAt(place, ['ip', 'neigh', 'del', address, ...dev])
    },
  }
}
