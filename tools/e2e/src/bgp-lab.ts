import { limitedAs } from './bgp-limited.ts'
import { nodeNamed, runAt, type ApiObject, type Cluster } from '@kube-ovn/lab'
import {
  bfd,
  birdConfiguration,
  configureBird,
  configureFrr,
  frrLines,
  frrPassword,
  type Router,
} from './bgp-routers.ts'

export const namespace = 'routed'
export const annotation = 'ovn.kubernetes.io/bgp'
/** What a router may take beyond, until its kernel is without the route; and a lab until the node is cut off. */
export const reactionMs = 1_000
/** What routers and speakers may take for what is not measured. */
export const patience = { timeout: 180_000, interval: 100 }
export const cidrs = { ipv4: '10.46.0.0/24', ipv6: 'fd00:10:46::/120' }

const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bgp', namespace: 'kube-system' },
  stringData: { frr: frrPassword },
} as ApiObject

export const objects: readonly ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: namespace, annotations: { [annotation]: 'local' } },
    spec: { cidrBlock: `${cidrs.ipv4},${cidrs.ipv6}`, namespaces: [namespace] },
  } as ApiObject,
]

export function routersOf({ routers }: Cluster): { readonly frr: Router; readonly bird: Router } {
  const [frr, bird] = routers
  if (frr === undefined || bird === undefined) throw new Error('the lab has two routers')
  return { frr, bird }
}

export function speakerValues(made: Cluster): object {
  const { frr, bird } = routersOf(made)
  return {
    enabled: true,
    args: [
      ...['--cluster-as=65000', '--graceful-restart', '--graceful-restart-time=60s', '--announce-cluster-ip'],
      '--aggregate',
      ...['--enable-bfd', `--bfd-min-tx=${bfd.ms}`, `--bfd-min-rx=${bfd.ms}`],
      `--bfd-detection-multiplier=${bfd.multiplier}`,
    ],
    passwordSecret: { name: 'bgp', key: '' },
    neighbors: [
      {
        ...{ address: frr.addresses.ipv4, as: 65_001, bfd: false },
        ...{ passwordFile: '/run/bgp/frr', communities: ['65000:7'] },
      },
      { address: frr.addresses.ipv6, as: 65_001 },
      { address: bird.addresses.ipv6, as: 65_002, extendedNexthop: true, communities: ['65000:1:2'] },
      { address: bird.behind.ipv4, as: 65_002, ebgpMultihop: 2 },
      { address: nobodyOf(made), as: 65_009 },
      { address: made.outside.addresses.ipv4, as: limitedAs, passive: true },
    ],
  }
}

/** An address of the physical network that nothing has. */
export function nobodyOf({ outside }: Cluster): string {
  return outside.addresses.ipv4.replace(/\d+$/, '200')
}

/** Gives the routers the settings of the suite, and the nodes their ways. */
export async function prepareRouters(made: Cluster): Promise<void> {
  await made.api.create(secret)
  const { frr, bird } = routersOf(made)
  await configureFrr(frr, ...frrLines)
  await configureBird(bird, birdConfiguration(bird, made.outside.addresses))
  for (const { name } of made.nodes) await leadBehind(made, name)
}

/** Gives a node a way to the address behind the second router, until the node is started again. */
export async function leadBehind(made: Cluster, node: string): Promise<void> {
  const { bird } = routersOf(made)
  const { place } = nodeNamed(made, node)
  await runAt(place, ['ip', 'route', 'add', bird.behind.ipv4, 'via', bird.addresses.ipv4])
}
