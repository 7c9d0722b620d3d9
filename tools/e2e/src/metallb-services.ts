import {
  addressesOfPod,
  applyAll,
  deleteAll,
  eventually,
  fetchText,
  idlePod,
  installMetallb,
  joinVlanBy,
  metallbNamespace,
  outsideHost,
  readExample,
  renderMatrix,
  runAt,
  runMatrix,
  takeDownPod,
  untilPodsReady,
  vlanAddresses,
  vlanPort,
  waitForObjects,
  type ApiObject,
  type Cluster,
  type MatrixRow,
  type MatrixRuleInput,
  type PodObject,
} from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { untilConnected, untilServedBy } from './underlay.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const why = 'MetalLB takes minutes to build: KUBE_OVN_DEEP=1 runs it'

/** Of the example: an underlay Subnet that is to have addresses of external load balancers. */
const [underlay, vlan, bridge] = ['jetty', 100, 'br-trunk']
const namespace = 'pier'
const [tcpPort, udpPort, target] = [80, 53, 18_080]
/** Backends of each Service: in the overlay, and in the underlay itself. */
const apps = ['mate', 'crane'] as const
type App = (typeof apps)[number]

const pool = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  metadata: { name: underlay, namespace: metallbNamespace },
  spec: {
    addresses: ['10.128.100.200-10.128.100.220', 'fd00:10:128:100::200-fd00:10:128:100::220'],
  },
}

/** Announced in the VLAN by nodes with these labels; by any, if there are none. */
function advertisement(nic: string, nodeSelectors: readonly object[] = []): ApiObject {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'L2Advertisement',
    metadata: { name: underlay, namespace: metallbNamespace },
    spec: { ipAddressPools: [underlay], interfaces: [nic], nodeSelectors },
  } as ApiObject
}

/** Services whose addresses MetalLB gives, in an underlay, and announces there. */
export function metallbServices(given: () => Cluster): void {
  it(
    'are reached outside by way of the node that announces them, which sees who asks, and by way of the next one',
    { timeout: 900_000 },
    async ({ skip }) => {
      skip(!isDeep, why)
      const cluster = given()
      const { api, nodes } = cluster
      const names = nodes.map(({ name }) => name)
      await using stack = new AsyncDisposableStack()
      const lend = async (objects: readonly ApiObject[]): Promise<void> => {
        stack.defer(() => deleteAll(api, objects))
        await applyAll(api, objects)
      }
      const networks = ['ProviderNetwork', 'Vlan', 'Namespace', 'Subnet']
      const example = readExample('36-address-in-an-underlay', 'dual')
      await lend(example.filter(({ kind = '' }) => networks.includes(kind)))
      await untilConnected(api, 'trunk', names)
      const hosts = await Promise.all(nodes.map((node) => joinVlanBy(cluster, node, { bridge, vlan })))
      for (const host of hosts) stack.use(host)
      const { nic } = hosts[0] ?? expect.unreachable('there are nodes')
      const byMac = new Map(hosts.map(({ mac }, index) => [mac, names[index] ?? '']))
      stack.use(await installMetallb(cluster))
      await lend([pool, advertisement(nic)])
      await lend([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
        ...apps.flatMap((app) => names.map((node) => backend(app, node))),
        ...names.map((node) =>
          idlePod({ namespace, name: `client-${node}`, labels: { app: 'client' } }, node),
        ),
        ...apps.map(service),
      ])
      await untilPodsReady(api, namespace, 'app=client', nodes.length)
      for (const app of apps) {
        await untilPodsReady(api, namespace, `app=${app}`, nodes.length)
        const addresses = await addressesGiven(cluster, app)
        await untilServedBy(api, underlay, addresses, names)
        const first = await announcerOf(cluster, byMac, addresses)
        await untilMetAt(cluster, app, addresses, first)

        // With no backend there, the other one announces it.
        const gone = backend(app, first)
        await takeDownPod(api, gone)
        const second = await announcerOf(cluster, byMac, addresses, first)
        await untilMetAt(cluster, app, addresses, second)
        await applyAll(api, [gone])
        await untilPodsReady(api, namespace, `app=${app}`, nodes.length)
        expect(await announcerOf(cluster, byMac, addresses, second)).toBe(first)
        await untilMetAt(cluster, app, addresses, first)
      }

      // Neither of them has lost its backends.
      const [app] = apps
      const addresses = await addressesGiven(cluster, app)
      const before = await announcerOf(cluster, byMac, addresses)
      const others = names.filter((name) => name !== before)
      const chosen = { key: 'kubernetes.io/hostname', operator: 'In', values: others }
      await api.apply(advertisement(nic, [{ matchExpressions: [chosen] }]))
      await untilMetAt(cluster, app, addresses, await announcerOf(cluster, byMac, addresses, before))
    },
  )
}

function backend(app: App, node: string): ApiObject {
  const annotations = app === 'crane' ? { 'ovn.kubernetes.io/logical_switch': underlay } : {}
  return idlePod({ namespace, name: `${app}-${node}`, labels: { app, on: node }, annotations }, node)
}

function service(app: App): ApiObject {
  const ports = [
    { name: 'tcp', port: tcpPort, targetPort: target },
    { name: 'udp', port: udpPort, targetPort: target, protocol: 'UDP' },
  ]
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ipFamilyPolicy: 'RequireDualStack' }
  return {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: app } },
    spec: { ...spec, selector: { app }, ports },
  } as ApiObject
}

interface ServiceObject extends ApiObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

/** The addresses that MetalLB has given a Service, one of each family. */
function addressesGiven({ api }: Cluster, app: App): Promise<readonly string[]> {
  return waitForObjects<ServiceObject, readonly string[]>(
    api,
    `/api/v1/namespaces/${namespace}/services?fieldSelector=metadata.name%3D${app}`,
    `${app} has addresses`,
    ([found]) => {
      const given = found?.status?.loadBalancer?.ingress?.flatMap(({ ip }) => ip ?? []) ?? []
      return given.length === 2 ? given : undefined
    },
  )
}

/** Nodes by the MAC addresses that they have in the VLAN. */
type NodesByMac = ReadonlyMap<string, string>

/**
 * The node at which who is outside finds both addresses, and that is another one.
 *
 * MetalLB says so in ServiceL2Statuses, too, which go on to name the former node where the next one takes over before that has taken its back.
 */
function announcerOf(
  { outside }: Cluster,
  nodes: NodesByMac,
  addresses: readonly string[],
  former?: string,
): Promise<string> {
  const what = `${addresses.join(' and ')} are at a node${former === undefined ? '' : ` other than ${former}`}`
  return eventually(what, async () => {
    // Has it look for them, whoever answers.
    for (const address of addresses) await fetchText(outside.place, address, tcpPort, '/', '1')
    const shown = await runAt(outside.place, ['ip', '-json', 'neigh', 'show', 'dev', vlanPort(vlan)])
    const known = JSON.parse(shown) as readonly { readonly dst: string; readonly lladdr?: string }[]
    const found = addresses.map((address) =>
      nodes.get(known.find(({ dst }) => dst === address)?.lladdr ?? ''),
    )
    const [node] = found
    return node !== former && found.every((one) => one === node) ? node : undefined
  })
}

/**
 * Waits until who is outside, and is seen as that, comes to the backend on a node, by both protocols and families, and Pods to the one on
 * their own node, or to any where there is none.
 */
async function untilMetAt(
  cluster: Cluster,
  app: App,
  addresses: readonly string[],
  node: string,
): Promise<void> {
  const pods = await cluster.api.list<PodObject>(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`,
  )
  const backendsOn = (name: string): readonly string[] =>
    pods.filter(({ spec }) => spec.nodeName === name).flatMap(addressesOfPod)
  const isWanted = ({ from, at = '' }: MatrixRow): boolean => {
    const own = backendsOn(from === 'outside' ? node : from.replace(/^.*\/client-/, ''))
    return (own.length === 0 ? pods.flatMap(addressesOfPod) : own).includes(at)
  }
  const client = vlanAddresses(vlan, outsideHost)
  const rules = (['ipv4', 'ipv6'] as const).flatMap((family) =>
    (['tcp', 'udp'] as const).flatMap((protocol): readonly MatrixRuleInput[] => {
      const own = addresses.filter((address) => address.includes(':') === (family === 'ipv6'))
      const port = protocol === 'tcp' ? tcpPort : udpPort
      const rule = {
        to: [{ namespace, service: app, port, addresses: own }],
        ...{ by: [protocol], families: [family] },
      }
      return [
        { ...rule, from: ['outside'], expect: { source: client[family] } },
        { ...rule, from: [{ namespace, pods: 'app=client' }], expect: { source: 'own' } },
      ]
    }),
  )
  const ask = async (): Promise<readonly MatrixRow[]> => (await runMatrix(cluster, rules)).rows
  let wrong: readonly MatrixRow[] = []
  const isAsWanted = (rows: readonly MatrixRow[]): true | undefined => {
    wrong = rows.filter((row) => row.verdict !== 'as expected' || !isWanted(row))
    return rows.length === 4 * (1 + cluster.nodes.length) && wrong.length === 0 ? true : undefined
  }
  const told = (): never => expect.unreachable(`${app} at ${node}: ${renderMatrix({ rows: wrong, ms: 0 })}`)
  await eventually(`${app} is met at ${node}`, async () => isAsWanted(await ask())).catch(told)
  // And goes on to be.
  if (isAsWanted(await ask()) !== true) told()
}
