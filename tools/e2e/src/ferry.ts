import {
  applyAll,
  deleteAll,
  gatewayLabel,
  idlePod,
  labelNodes,
  ofStack,
  runAt,
  untilPodsReady,
  withinStack,
  type AddressPair,
  type ApiObject,
  type Cluster,
  type PodObject,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect } from 'vitest'
import { askBird, configureBird, configureFrr, type Router } from './bgp-routers.ts'

const sea = 'sea'

/** The VPC on the physical network; one that knows nothing of it and has the same addresses; and one that is its peer. */
const vpcNames = ['ferry', 'twin', 'quay'] as const
export type FerryVpc = (typeof vpcNames)[number]
const [ferry, twin, quay] = vpcNames

/** Addresses that both routers have. A hash of addresses chooses between the two, so there are several. */
const targetPairs = Array.from({ length: 8 }, (_, index) => ({
  ipv4: `203.0.113.${index + 1}`,
  ipv6: `2001:db8:7::${index + 1}`,
}))
const targetCidrs = { ipv4: '203.0.113.0/24', ipv6: '2001:db8:7::/64' }
const same = { ipv4: '10.48.0.0/24', ipv6: 'fd00:10:48::/112' }
const podCidrs = { [ferry]: same, [twin]: same, [quay]: { ipv4: '10.50.0.0/24', ipv6: 'fd00:10:50::/112' } }
/** Between the peers. */
const link = {
  [ferry]: { ipv4: '169.254.48.1', ipv6: 'fd00:169:48::1' },
  [quay]: { ipv4: '169.254.48.2', ipv6: 'fd00:169:48::2' },
}

/** Of each VPC, the hosts of its pods: the second one of the first VPC has the address of the first one of the second. */
const hosts: Readonly<Record<FerryVpc, readonly number[]>> = {
  [ferry]: [10, 11],
  [twin]: [11, 12],
  [quay]: [10],
}

/** What is there of the VPCs. */
export interface Ferry {
  readonly cluster: Cluster
  /** What the cluster has. */
  readonly families: readonly Family[]
  /** The next hops to the targets. */
  readonly frr: Router
  readonly bird: Router
  /** The address of the first VPC's router beside them. */
  readonly own: AddressPair
  /** The port that has it. */
  readonly ownPort: string
  /** One of each family after the other. */
  readonly targets: readonly string[]
  readonly podCidrs: Readonly<Record<FerryVpc, AddressPair>>
  readonly pods: Readonly<Record<FerryVpc, readonly PodObject[]>>
}

/** Makes the VPCs for the tests of a `describe`, after which they go. */
export function useFerry(lab: () => Cluster): () => Ferry {
  const lifetime = new AsyncDisposableStack()
  let made: Ferry | undefined
  beforeAll(async () => {
    made = await makeFerry(lab(), lifetime)
  })
  afterAll(() => lifetime.disposeAsync())
  return () => made ?? expect.unreachable('it is made before the tests')
}

async function makeFerry(cluster: Cluster, lifetime: AsyncDisposableStack): Promise<Ferry> {
  const { frr, bird, own } = surroundings(cluster)
  const objects = objectsOf(cluster)
  for (const router of [frr, bird]) lifetime.use(await giveTargets(cluster, router))
  lifetime.use(await speakBfd(cluster))
  lifetime.use(await labelNodes(cluster.api, gatewayLabel, 'true'))
  lifetime.defer(() => deleteAll(cluster.api, objects))
  await applyAll(cluster.api, objects)
  const ready = (vpc: FerryVpc): Promise<readonly PodObject[]> =>
    untilPodsReady(cluster.api, vpc, '', hosts[vpc].length)
  const pods = { [ferry]: await ready(ferry), [twin]: await ready(twin), [quay]: await ready(quay) }
  return {
    ...{ cluster, frr, bird, own, podCidrs, pods },
    families: familiesOf(cluster),
    ownPort: `${ferry}-${sea}`,
    targets: targetsOf(cluster),
  }
}

type Family = keyof AddressPair

function familiesOf({ topology }: Cluster): readonly Family[] {
  return ofStack(topology.stack, { ipv4: 'ipv4', ipv6: 'ipv6' }) as readonly Family[]
}

function targetsOf({ topology }: Cluster): readonly string[] {
  return targetPairs.flatMap((pair) => ofStack(topology.stack, pair))
}

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

function kubeOvn(kind: string, name: string, spec: object): ApiObject {
  return { ...{ apiVersion: 'kubeovn.io/v1', kind, metadata: { name } }, ...{ spec } }
}

const both = (pair: AddressPair): string => ofStack('dual', pair).join()

function objectsOf(cluster: Cluster): readonly ApiObject[] {
  const all = [...seaOf(cluster), ...vpcsOf(cluster), ...vpcNames.flatMap((vpc) => insideOf(cluster, vpc))]
  return all.map((object) => withinStack(object, cluster.topology.stack))
}

/** The physical network with both routers, and the address of the VPC's router there. */
function seaOf(cluster: Cluster): readonly ApiObject[] {
  const { frr, own, cidrs, kept } = surroundings(cluster)
  const network = { cidrBlock: both(cidrs), gateway: both(frr.addresses), excludeIps: ofStack('dual', kept) }
  return [
    kubeOvn('ProviderNetwork', sea, { defaultInterface: 'phys1' }),
    kubeOvn('Vlan', sea, { id: 0, provider: sea }),
    kubeOvn('Subnet', sea, { vlan: sea, ...network }),
    kubeOvn('OvnEip', `${ferry}-${sea}`, {
      ...{ externalSubnet: sea, type: 'lrp', v4Ip: own.ipv4, v6Ip: own.ipv6 },
    }),
  ]
}

/** The first one has two ways to the targets, each by a router that speaks BFD. */
function vpcsOf(cluster: Cluster): readonly ApiObject[] {
  const { frr, bird } = surroundings(cluster)
  const peering = (own: 'ferry' | 'quay', remoteVpc: 'ferry' | 'quay') => ({
    vpcPeerings: [{ remoteVpc, localConnectIP: `${link[own].ipv4}/30,${link[own].ipv6}/64` }],
    staticRoutes: familiesOf(cluster).map((family) => ({
      cidr: podCidrs[remoteVpc][family],
      nextHopIP: link[remoteVpc][family],
    })),
  })
  const outwards = familiesOf(cluster).flatMap((family) =>
    [frr, bird].map(({ addresses }) => ({
      cidr: targetCidrs[family],
      nextHopIP: addresses[family],
      bfdId: 'any',
    })),
  )
  const { vpcPeerings, staticRoutes } = peering(ferry, quay)
  const specs: Readonly<Record<FerryVpc, object>> = {
    [ferry]: {
      ...{ enableExternal: true, extraExternalSubnets: [sea], vpcPeerings },
      staticRoutes: [...outwards, ...staticRoutes],
    },
    [twin]: {},
    [quay]: peering(quay, ferry),
  }
  return vpcNames.map((name) => kubeOvn('Vpc', name, { namespaces: [name], ...specs[name] }))
}

/** What is of one VPC alone: a subnet, and pods on nodes in turn. */
function insideOf({ nodes }: Cluster, vpc: FerryVpc): readonly ApiObject[] {
  const { ipv4, ipv6 } = podCidrs[vpc]
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: vpc } },
    kubeOvn('Subnet', `${vpc}-pods`, { vpc, cidrBlock: both(podCidrs[vpc]), namespaces: [vpc] }),
    ...hosts[vpc].map((host, index) => {
      const addresses = [ipv4.replace('0/24', String(host)), ipv6.replace('/112', host.toString(16))]
      return idlePod(
        {
          ...{ name: `${vpc}-${index + 1}`, namespace: vpc },
          annotations: { 'ovn.kubernetes.io/ip_address': addresses.join() },
        },
        nodes[index % nodes.length]?.name,
      )
    }),
  ]
}

/** The link of a router by which the VPC's router is beside it. */
export async function linkOf({ place, addresses }: Router): Promise<string> {
  const text = await runAt(place, ['ip', '-json', 'address', 'show', 'to', addresses.ipv4])
  const [found] = JSON.parse(text) as readonly { readonly ifname: string }[]
  return found?.ifname ?? expect.unreachable('its address is on a link')
}

/** Gives a router the targets and the ways back to pods, as long as the result lives. */
async function giveTargets(cluster: Cluster, { place }: Router): Promise<AsyncDisposable> {
  const { own } = surroundings(cluster)
  const change = (address: string, route: string): Promise<unknown> =>
    runAt(place, ['ip', '-batch', '-'], {
      input: [
        ...targetsOf(cluster).map(
          (target) => `address ${address} ${target}/${target.includes(':') ? 128 : 32} dev lo`,
        ),
        ...familiesOf(cluster).map(
          (family) => `route ${route} ${podCidrs[ferry][family]} via ${own[family]}`,
        ),
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
  const peers = { ipv4: `peer ${own.ipv4}`, ipv6: `peer ${own.ipv6} local-address ${frr.addresses.ipv6}` }
  await configureFrr(frr, 'bfd', ...familiesOf(cluster).flatMap((family) => [peers[family], ...times]))
  const name = await linkOf(bird)
  const neighbors = familiesOf(cluster).map(
    (family) => `neighbor ${own[family]} dev "${name}" local ${bird.addresses[family]};`,
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
