import {
  applyAll,
  deleteAll,
  dropPackets,
  eventually,
  findColumn,
  idlePod,
  labelNodes,
  ofStack,
  ovnCentral,
  placeOf,
  pingAll,
  runAt,
  startPing,
  untilPodsReady,
  type ApiObject,
  type Cluster,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { askBird, configureBird, configureFrr, type Router } from './bgp-routers.ts'

const name = 'ferry'
const apiVersion = 'kubeovn.io/v1'
const gatewayLabel = 'ovn.kubernetes.io/external-gw'
/** Addresses that both routers have. A hash of addresses chooses between the two, so there are several. */
const targets = Array.from({ length: 8 }, (_, index) => [
  `203.0.113.${index + 1}`,
  `2001:db8:7::${index + 1}`,
]).flat()
const prefixes = { ipv4: '203.0.113.0/24', ipv6: '2001:db8:7::/64' }
const pods = { ipv4: '10.48.0.0/24', ipv6: 'fd00:10:48::/112' }

/** The two routers of the lab, the address of the VPC's router beside them, and the prefixes of that network. */
function surroundings({ routers }: Cluster) {
  const [frr, bird] = routers
  if (frr === undefined || bird === undefined) return expect.unreachable('the lab has two routers')
  const { ipv4, ipv6 } = frr.addresses
  const base = { ipv4: ipv4.replace(/\d+$/, ''), ipv6: ipv6.replace(/::[0-9a-f]+$/, '::') }
  return {
    ...{ frr, bird },
    own: { ipv4: `${base.ipv4}200`, ipv6: `${base.ipv6}200` },
    cidrs: { ipv4: `${base.ipv4}0/24`, ipv6: `${base.ipv6}/64` },
    // What the lab has there is below, its routers are above.
    kept: { ipv4: `${base.ipv4}1..${base.ipv4}199`, ipv6: `${base.ipv6}1..${base.ipv6}1ff` },
  }
}

/** A VPC on the physical network that has two ways to the targets, each by a router that speaks BFD. */
function objectsOf(cluster: Cluster): readonly ApiObject[] {
  const { frr, bird, own, cidrs, kept } = surroundings(cluster)
  const both = (pair: { readonly ipv4: string; readonly ipv6: string }): string =>
    ofStack('dual', pair).join()
  const staticRoutes = (['ipv4', 'ipv6'] as const).flatMap((family) =>
    [frr, bird].map(({ addresses }) => ({
      cidr: prefixes[family],
      nextHopIP: addresses[family],
      bfdId: 'any',
    })),
  )
  return [
    { apiVersion, kind: 'ProviderNetwork', metadata: { name: 'sea' }, spec: { defaultInterface: 'phys1' } },
    { apiVersion, kind: 'Vlan', metadata: { name: 'sea' }, spec: { id: 0, provider: 'sea' } },
    {
      ...{ apiVersion, kind: 'Subnet', metadata: { name: 'sea' } },
      spec: {
        vlan: 'sea',
        cidrBlock: both(cidrs),
        gateway: both(frr.addresses),
        excludeIps: ofStack('dual', kept),
      },
    },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    {
      ...{ apiVersion, kind: 'OvnEip', metadata: { name: `${name}-sea` } },
      spec: { externalSubnet: 'sea', type: 'lrp', v4Ip: own.ipv4, v6Ip: own.ipv6 },
    },
    {
      ...{ apiVersion, kind: 'Vpc', metadata: { name } },
      spec: { namespaces: [name], enableExternal: true, extraExternalSubnets: ['sea'], staticRoutes },
    },
    {
      ...{ apiVersion, kind: 'Subnet', metadata: { name: `${name}-pods` } },
      spec: { vpc: name, cidrBlock: both(pods), namespaces: [name] },
    },
    ...cluster.nodes.map((node) => idlePod({ name: `${name}-${node.name}`, namespace: name }, node.name)),
  ] as readonly ApiObject[]
}

async function linkOf({ place, addresses }: Router): Promise<string> {
  const text = await runAt(place, ['ip', '-json', 'address', 'show', 'to', addresses.ipv4])
  const [link] = JSON.parse(text) as readonly { readonly ifname: string }[]
  return link?.ifname ?? expect.unreachable('its address is on a link')
}

/** Gives routers the targets and the way back to pods, as long as the result lives. */
async function giveTargets({ place }: Router, own: { ipv4: string; ipv6: string }): Promise<AsyncDisposable> {
  const change = (address: string, route: string): Promise<unknown> =>
    runAt(place, ['ip', '-batch', '-'], {
      input: [
        ...targets.map((target) => `address ${address} ${target}/${target.includes(':') ? 128 : 32} dev lo`),
        `route ${route} ${pods.ipv4} via ${own.ipv4}`,
        `route ${route} ${pods.ipv6} via ${own.ipv6}`,
        '',
      ].join('\n'),
    })
  await change('replace', 'replace')
  return { [Symbol.asyncDispose]: async () => void (await change('del', 'del')) }
}

/** Has both routers speak BFD with the router of the VPC, as long as the result lives. */
async function speakBfd(cluster: Cluster): Promise<AsyncDisposable> {
  const { frr, bird, own } = surroundings(cluster)
  const times = ['receive-interval 300', 'transmit-interval 300', 'exit']
  await configureFrr(
    frr,
    'bfd',
    ...[`peer ${own.ipv4}`, ...times],
    ...[`peer ${own.ipv6} local-address ${frr.addresses.ipv6}`, ...times],
  )
  const link = await linkOf(bird)
  const neighbors = (['ipv4', 'ipv6'] as const).map(
    (family) => `neighbor ${own[family]} dev "${link}" local ${bird.addresses[family]};`,
  )
  await configureBird(
    bird,
    `log stderr all;
router id ${bird.addresses.ipv4};
protocol device { }
protocol bfd { interface "*" { min rx interval 300 ms; min tx interval 300 ms; }; ${neighbors.join(' ')} }
`,
  )
  return {
    async [Symbol.asyncDispose]() {
      await configureFrr(frr, 'no bfd')
      await askBird(bird, 'configure')
    },
  }
}

/** Next hops of a VPC that speak BFD, of both families. */
export function bfdNextHops(lab: () => Cluster): void {
  it('leave a next hop that BFD finds dead, and come back to it', async () => {
    const cluster = lab()
    const { frr, bird, own } = surroundings(cluster)
    const objects = objectsOf(cluster)
    await using stack = new AsyncDisposableStack()
    stack.use(await giveTargets(frr, own))
    stack.use(await giveTargets(bird, own))
    stack.use(await speakBfd(cluster))
    stack.use(await labelNodes(cluster.api, gatewayLabel, 'true'))
    stack.defer(() => deleteAll(cluster.api, objects))
    await applyAll(cluster.api, objects)
    const central = await ovnCentral(cluster)
    const [pod] = await untilPodsReady(cluster.api, name, '', cluster.nodes.length)
    if (pod === undefined) return expect.unreachable()
    const place = placeOf(cluster, pod)
    const statesOf = async (router: Router): Promise<string> => {
      const states = await Promise.all(
        Object.values(router.addresses).map((address: string) =>
          findColumn(central, 'BFD', 'status', `dst_ip="${address}"`),
        ),
      )
      return states.flat().join()
    }
    const untilStates = (wanted: string, of: Router): Promise<unknown> =>
      eventually(`${of.name} is ${wanted}`, async () => ((await statesOf(of)) === wanted ? true : undefined))
    const untilAllAnswer = (): Promise<unknown> =>
      eventually('all targets answer', async () =>
        (await pingAll(place, targets)).size === targets.length ? true : undefined,
      )
    await untilStates('up,up', frr)
    await untilStates('up,up', bird)
    await untilAllAnswer()
    const pings = targets.map((target) => startPing(place, target))
    await Promise.all(pings.map((ping) => ping.started()))
    const silence = await dropPackets(frr.place, { input: [''], output: [''] })
    stack.use(silence)
    const sent = pings.map((ping) => ping.sent())
    // While the next hop is still dead.
    await eventually('all are answered again', () =>
      Promise.resolve(
        pings.every(
          (ping, index) => ping.answered() > (sent[index] ?? 0) + 40 && ping.sent() - ping.answered() < 10,
        ) || undefined,
      ),
    )
    expect(await statesOf(frr)).toBe('down,down')
    expect(await statesOf(bird)).toBe('up,up')
    const losses = await Promise.all(pings.map((ping) => ping.stop()))
    const lost = losses.map((loss) => loss.lost.length)
    console.log(`lost while a next hop died, of 20 a second: ${lost.join(', ')}`)
    // It had some of them, and the other one had others.
    expect(Math.min(...lost)).toBeLessThan(Math.max(...lost) / 2)
    await silence[Symbol.asyncDispose]()
    await untilStates('up,up', frr)
    await untilAllAnswer()
  })
}
