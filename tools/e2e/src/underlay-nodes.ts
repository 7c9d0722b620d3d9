import { providerNetworkKeysOf } from '@kube-ovn/annotations'
import {
  applyAll,
  deleteAll,
  eventually,
  ofStack,
  outsideHost,
  pingAll,
  placeOf,
  readExample,
  rebootNode,
  runAt,
  tryAt,
  untilPodsReady,
  vlanAddresses,
  type ApiObject,
  type Cluster,
  type LabNode,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'

/** Of the example. */
const vlan = 100

/** Nodes whose NICs are ports of bridges to physical networks. */
export function underlayNodes(given: () => Cluster): void {
  it('have their pods in the VLAN again after a loss of power', async () => {
    const cluster = given()
    const { api, nodes, topology } = cluster
    const gateways = ofStack(topology.stack, vlanAddresses(vlan, outsideHost))
    const objects = readExample('20-underlay', topology.stack)
    const before = await linksOf(last(cluster))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => deleteAll(api, objects.toReversed()))
    await applyAll(api, objects)
    const cranes = (): Promise<readonly PodObject[]> =>
      untilPodsReady(api, 'wharf', 'app=crane', nodes.length)
    await cranes()
    await rebootNode(cluster, last(cluster).name)
    for (const pod of await cranes())
      await expect
        .poll(async () => [...(await pingAll(placeOf(cluster, pod), gateways))], { timeout: 60_000 })
        .toEqual(gateways)
    await stack.disposeAsync()
    await eventually('the NIC is given back', async () => {
      const links = await linksOf(last(cluster))
      return before.every((link) => links.includes(link)) && !links.includes('br-trunk') ? true : undefined
    })
  })

  it('take the NIC to the API server out of its bridge when it leads there no more', async () => {
    const cluster = given()
    const node = last(cluster)
    const network = 'cliff'
    const keys = providerNetworkKeysOf(network)
    const provider = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'ProviderNetwork',
      metadata: { name: network },
      spec: {
        defaultInterface: 'eth0',
        excludeNodes: cluster.nodes.flatMap(({ name }) => (name === node.name ? [] : [name])),
      },
    } as ApiObject
    const before = await addressesAndRoutes(node)
    await using stack = new AsyncDisposableStack()
    stack.defer(async () => void (await tryAt(node.place, ['nft', 'delete', 'table', 'inet', network])))
    stack.defer(() => deleteAll(cluster.api, [provider]))
    for (const words of [
      `add table inet ${network}`,
      `add chain inet ${network} output { type filter hook output priority 0 ; }`,
      `add rule inet ${network} output oifname br-${network} drop`,
    ])
      await runAt(node.place, ['nft', words])
    await applyAll(cluster.api, [provider])
    // Until it is taken back, nobody hears of the node.
    await eventually('the node says what became of it', async () => {
      const { metadata } = await cluster.api.call<ApiObject>('GET', `/api/v1/nodes/${node.name}`)
      return metadata.annotations?.[keys.problem]?.includes('taken out of the bridge again') || undefined
    })
    expect(await addressesAndRoutes(node)).toEqual(before)
  })
}

/** Where neither the databases nor the controller are. */
function last({ nodes }: Cluster): LabNode {
  return nodes.at(-1) ?? expect.unreachable('there are nodes')
}

/** Names of the links of a node, without those of pods. */
async function linksOf({ place }: LabNode): Promise<readonly string[]> {
  const text = await runAt(place, ['ip', '-o', 'link', 'show'])
  return [...text.matchAll(/^\d+: ([^:@]+)/gm)]
    .flatMap(([, link]) => link ?? [])
    .filter((link) => !link.endsWith('_h'))
}

/** Those of the NIC to the API server. */
async function addressesAndRoutes({ place }: LabNode): Promise<readonly string[]> {
  const texts = await Promise.all([
    runAt(place, ['ip', '-o', 'address', 'show', 'dev', 'eth0', 'scope', 'global']),
    ...['-4', '-6'].map((family) => runAt(place, ['ip', family, 'route', 'show', 'dev', 'eth0'])),
  ])
  return texts.flatMap((text) => text.split('\n').map((line) => line.replace(/^\d+: |\s+$/g, ''))).toSorted()
}
