import {
  applyAll,
  deleteAll,
  eventually,
  idlePod,
  labelNodes,
  nbctl,
  ofStack,
  ovnCentral,
  renderMatrix,
  runAt,
  runMatrix,
  untilPod,
  untilPodsReady,
  upgradeChart,
  waitForObjects,
  withinStack,
  zoneLabel,
  type AddressPair,
  type ApiObject,
  type Cluster,
  type LabNode,
  type MatrixRow,
  type MatrixRuleInput,
  type PodObject,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { flowsHeldDuring } from './held-flows.ts'
import { all, tally } from './row-tally.ts'
import { rollOnce, servedDuring, stickyVisits } from './service-traffic.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('listens in the namespaces of its pods and nodes')

const namespace = 'market'
const [tcpPort, udpPort, sctpPort] = [80, 53, 81]
const [httpTarget, udpTarget, sctpTarget] = [18_080, 18_081, 18_082]

type Party = MatrixRuleInput['from'][number]

/** Of the ranges for documentation, so that nobody else has them. */
const announced = {
  externalIp: { ipv4: '192.0.2.80', ipv6: '2001:db8::80' },
  ingress: { ipv4: '192.0.2.81', ipv6: '2001:db8::81' },
}
/** What a balancer outside would have given to Services. */
const ingress = { balanced: announced.ingress, front: { ipv4: '192.0.2.82', ipv6: '2001:db8::82' } }

const ports = [
  { name: 'tcp', port: tcpPort, targetPort: httpTarget },
  { name: 'udp', port: udpPort, targetPort: udpTarget, protocol: 'UDP' },
  { name: 'sctp', port: sctpPort, targetPort: sctpTarget, protocol: 'SCTP' },
]

interface ServiceObject extends ApiObject {
  readonly spec: {
    readonly clusterIPs: readonly string[]
    readonly ports: readonly { readonly name: string; readonly nodePort?: number }[]
  }
}

function service(name: string, spec: object): ApiObject & { readonly spec: object } {
  const metadata = { name, namespace }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ipFamilyPolicy: 'PreferDualStack', ports, ...spec },
  }
}

function pod(name: string, app: string, node: string): ApiObject {
  return idlePod({ name, namespace, labels: { app, on: node } }, node)
}

/** Backends on both nodes, clients on both nodes, one that is alone behind its Service, and one that is never ready. */
const pods: readonly ApiObject[] = [
  pod('echo-1', 'echo', 'node-1'),
  pod('echo-2', 'echo', 'node-2'),
  pod('echo-3', 'echo', 'node-2'),
  pod('client-1', 'client', 'node-1'),
  pod('client-2', 'client', 'node-2'),
  pod('alone', 'alone', 'node-1'),
]

function neverReady(): ApiObject {
  const idle = pod('shy', 'shy', 'node-2') as ApiObject & { readonly spec: { readonly containers: object[] } }
  const readinessProbe = { exec: { command: ['false'] }, periodSeconds: 60 }
  return {
    ...idle,
    spec: { ...idle.spec, containers: idle.spec.containers.map((one) => ({ ...one, readinessProbe })) },
  } as ApiObject
}

const selector = { app: 'echo' }
const onFirst = { app: 'echo', on: 'node-1' }

const services: readonly ApiObject[] = [
  service('all', { selector }),
  service('own-node', { selector, internalTrafficPolicy: 'Local' }),
  service('first-node', { selector: onFirst, internalTrafficPolicy: 'Local' }),
  service('near', { selector, trafficDistribution: 'PreferSameNode' }),
  service('zoned', { selector, trafficDistribution: 'PreferSameZone' }),
  service('itself', { selector: { app: 'alone' } }),
  service('shy', { selector: { app: 'shy' }, publishNotReadyAddresses: true }),
  service('nobody', { selector: { app: 'nobody' } }),
  service('door', { selector, type: 'NodePort' }),
  service('first-door', { selector: onFirst, type: 'NodePort', externalTrafficPolicy: 'Local' }),
  service('announced', { selector, externalIPs: Object.values(announced.externalIp) }),
  service('balanced', { selector, type: 'LoadBalancer' }),
  service('front', { selector, type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
  service('names', { selector, clusterIP: 'None' }),
  service('of-a-node', {}),
  service('of-outside', {}),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'elsewhere', namespace },
    spec: { type: 'ExternalName', externalName: `all.${namespace}.svc.cluster.local` },
  } as ApiObject,
]

/** Written by hand, for a Service without a selector. */
function slices(of: string, addresses: readonly string[]): readonly ApiObject[] {
  return addresses.map((address) => {
    const family = address.includes(':') ? 'IPv6' : 'IPv4'
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${of}-${family.toLowerCase()}`,
        namespace,
        labels: { 'kubernetes.io/service-name': of },
      },
      addressType: family,
      ports: ports.map(({ name, targetPort, protocol }) => ({
        name,
        port: targetPort,
        protocol: protocol ?? 'TCP',
      })),
      endpoints: [{ addresses: [address] }],
    } as ApiObject
  })
}

const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }

let cluster: Cluster
/** Those of the cluster. */
const addressesOf = (pair: AddressPair): readonly string[] => ofStack(cluster.topology.stack, pair)
/** So many families the cluster has: each pair is asked in all of them. */
const families = (): number => addressesOf({ ipv4: 'ipv4', ipv6: 'ipv6' }).length
/** Addresses of the backends, by their pod. */
let backends: ReadonlyMap<string, PodObject>

/** Deep runs are about the other way in which kube-proxy has its part. */
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const proxyMode = isDeep ? 'iptables' : 'nftables'
const lab = useSuiteLab({ id: 'services', nodes: 2, stack: 'dual', proxyMode })
const applied: ApiObject[] = []
let zones: AsyncDisposable

beforeAll(async () => {
  ;({ cluster } = lab)
  // Slices say of backends in which zone they are from when these are ready.
  zones = await labelNodes(cluster.api, zoneLabel, (node) => `zone-of-${node}`)
  const byHand = [
    ...slices('of-a-node', addressesOf(cluster.nodes[0]?.kubernetes ?? expect.unreachable('there are two'))),
    ...slices('of-outside', addressesOf(cluster.outside.addresses)),
  ]
  const own = services.map((one) => withinStack(one, cluster.topology.stack))
  applied.push(home, ...pods, neverReady(), ...own, ...byHand)
  await applyAll(cluster.api, applied)
  for (const [name, pair] of Object.entries(ingress))
    await cluster.api.mergePatch(`/api/v1/namespaces/${namespace}/services/${name}/status`, {
      status: { loadBalancer: { ingress: addressesOf(pair).map((ip) => ({ ip })) } },
    })
  const [echoes] = await Promise.all([
    untilPodsReady(cluster.api, namespace, 'app=echo', 3),
    untilPodsReady(cluster.api, namespace, 'app=client', 2),
    untilPodsReady(cluster.api, namespace, 'app=alone', 1),
    untilPod(
      cluster.api,
      namespace,
      'shy',
      'runs',
      (found) => (found?.status?.podIPs ?? []).length === families(),
    ),
  ])
  backends = new Map(echoes.map((one) => [one.metadata.name, one]))
})

afterAll(async () => {
  await deleteAll(cluster.api, applied)
  await zones[Symbol.asyncDispose]()
})

const clients: Party = { namespace, pods: 'app=client' }
const echoes: Party = { namespace, pods: 'app=echo' }

/** Who asks, where, and which of the backends may answer whom. */
interface Claim {
  readonly from: readonly Party[]
  readonly to: string
  readonly addresses?: readonly string[]
  /** In place of the Service's own. */
  readonly nodePorts?: boolean
  readonly expect?: MatrixRuleInput['expect']
  readonly isWanted?: (at: string, row: MatrixRow) => boolean
  readonly isBalanced?: boolean
}

/** Asks by all protocols and families until all is as it is claimed; what is not so in the end, as text, and which rows there were. */
async function seen(claims: readonly Claim[]): Promise<readonly MatrixRow[]> {
  const rules = (await Promise.all(claims.map(rulesOf))).flat()
  let last: readonly MatrixRow[] = []
  let wrong: readonly MatrixRow[] = []
  await eventually('all is as it is claimed', async () => {
    const { rows } = await runMatrix(cluster, rules)
    last = rows
    wrong = rows.filter((row) => isWrong(row, claims[Number(row.rule.split(' ')[0])]))
    return wrong.length === 0 ? true : undefined
  }).catch((error: unknown) => {
    if (wrong.length === 0) throw error
  })
  if (wrong.length > 0) expect.unreachable(renderMatrix({ rows: wrong, ms: 0 }))
  return last
}

async function rulesOf(claim: Claim, index: number): Promise<readonly MatrixRuleInput[]> {
  const object = await cluster.api.call<ServiceObject>(
    'GET',
    `/api/v1/namespaces/${namespace}/services/${claim.to}`,
  )
  return ports.map(({ name, port }) => {
    const nodePort = object.spec.ports.find((one) => one.name === name)?.nodePort
    const { from, to, addresses } = claim
    return {
      name: `${index} ${to} ${name}`,
      from: [...from],
      to: [
        { namespace, service: to, port, ...(addresses === undefined ? {} : { addresses: [...addresses] }) },
      ],
      by: [name as 'tcp' | 'udp' | 'sctp'],
      ...(claim.nodePorts === true && nodePort !== undefined ? { port: nodePort } : {}),
      expect: claim.expect ?? 'reach',
    }
  })
}

function isWrong(row: MatrixRow, claim: Claim | undefined): boolean {
  if (row.verdict === 'skipped') return row.protocol !== 'sctp'
  if (row.verdict === 'differs') return true
  return row.at !== undefined && claim?.isWanted?.(row.at, row) === false
}

function nodeOfBackend(at: string): string | undefined {
  return [...backends.values()].find(({ status }) => status?.podIPs?.some(({ ip }) => ip === at))?.spec
    .nodeName
}

const isEcho = (at: string): boolean => nodeOfBackend(at) !== undefined

/** Has the world lead addresses to a node, as whoever announces them would, until this is disposed of. */
async function routed(addresses: readonly string[], { physical }: LabNode): Promise<AsyncDisposable> {
  const change = (verb: 'add' | 'del'): Promise<string> =>
    runAt(cluster.outside.place, ['ip', '-batch', '-'], {
      input: addresses
        .map((ip) => `route ${verb} ${ip} via ${ip.includes(':') ? physical.ipv6 : physical.ipv4}\n`)
        .join(''),
    })
  await change('add')
  return { [Symbol.asyncDispose]: async () => void (await change('del')) }
}

/** Names of clients end with the number of their node. */
function isOnNodeOf(at: string, { from }: MatrixRow): boolean {
  return nodeOfBackend(at) === `node-${from.at(-1)}`
}

describe('a Service', () => {
  it('leads pods, which it sees as themselves, nodes, and its own backends to what is behind it', async () => {
    const rows = await seen([
      { from: [clients], to: 'all', expect: { source: 'own' }, isWanted: isEcho },
      { from: ['nodes', echoes], to: 'all', isWanted: isEcho },
      { from: [{ namespace, pods: 'app=alone' }], to: 'itself' },
      { from: [clients], to: 'shy', expect: { source: 'own' } },
    ])
    expect(tally(rows)).toEqual(all(families() * (2 + 5 + 1 + 2), rows))
  })

  it('leads to backends near the client, where it says so', async () => {
    const rows = await seen([
      { from: [clients], to: 'own-node', expect: { source: 'own' }, isWanted: isOnNodeOf },
      { from: ['nodes'], to: 'own-node', isWanted: isOnNodeOf },
      { from: [clients], to: 'near', expect: { source: 'own' }, isWanted: isOnNodeOf },
      { from: ['nodes'], to: 'near', isWanted: isOnNodeOf },
      { from: [clients], to: 'zoned', expect: { source: 'own' }, isWanted: isOnNodeOf },
      { from: ['nodes'], to: 'zoned', isWanted: isOnNodeOf },
    ])
    expect(tally(rows)).toEqual(all(families() * 12, rows))
  })

  it('leads nowhere where there is nobody', async () => {
    const rows = await seen([
      { from: [{ namespace, pods: 'app=client,on=node-1' }], to: 'first-node', expect: { source: 'own' } },
      { from: [{ namespace, pods: 'app=client,on=node-2' }], to: 'first-node', expect: 'no-reach' },
      { from: [clients, 'nodes'], to: 'nobody', expect: 'no-reach' },
    ])
    expect(tally(rows)).toEqual(all(families() * (1 + 1 + 4), rows))
  })

  it('leads to nodes, and to addresses outside', async () => {
    const node = cluster.nodes[0]?.kubernetes ?? expect.unreachable('there are two')
    const rows = await seen([
      { from: [clients, 'nodes'], to: 'of-a-node', isWanted: (at) => addressesOf(node).includes(at) },
      { from: [clients], to: 'of-outside', expect: { source: 'node' } },
    ])
    expect(tally(rows)).toEqual(all(families() * (4 + 2), rows))
  })

  it('has a door at each node, and at announced addresses', async () => {
    const doors = cluster.nodes.flatMap(({ kubernetes }) => addressesOf(kubernetes))
    const [node] = cluster.nodes
    if (node === undefined) expect.unreachable('there are nodes')
    const [externalIps, ofBalancer] = [announced.externalIp, announced.ingress].map(addressesOf)
    if (externalIps === undefined || ofBalancer === undefined) expect.unreachable('there are both')
    await using _ = await routed([...externalIps, ...ofBalancer], node)
    const rows = await seen([
      { from: [clients, 'nodes'], to: 'door', addresses: doors, nodePorts: true, isWanted: isEcho },
      { from: [clients, 'nodes', 'outside'], to: 'announced', addresses: externalIps, isWanted: isEcho },
      { from: [clients, 'nodes', 'outside'], to: 'balanced', addresses: ofBalancer, isWanted: isEcho },
    ])
    expect(tally(rows)).toEqual(all(families() * (4 * 2 + 5 * 2), rows))
  })

  it('shows its backends who comes from outside, at the doors of their nodes only', async () => {
    const [first, second] = cluster.nodes.map(({ physical }) => addressesOf(physical))
    if (first === undefined || second === undefined) expect.unreachable('there are two nodes')
    const rows = await seen([
      { from: ['outside'], to: 'door', addresses: [...first, ...second], nodePorts: true, isWanted: isEcho },
      { from: ['outside'], to: 'first-door', addresses: first, nodePorts: true, expect: { source: 'own' } },
      { from: ['outside'], to: 'first-door', addresses: second, nodePorts: true, expect: 'no-reach' },
    ])
    expect(tally(rows)).toEqual(all(families() * (2 + 1 + 1), rows))
  })

  it('is a list of addresses, or another name, to the DNS', async () => {
    const dns = { namespace: 'kube-system', service: 'kube-dns', port: 53 }
    const lookUp = async (name: string): Promise<readonly string[]> => {
      const lookup = `${name}.${namespace}.svc.cluster.local`
      const { rows } = await runMatrix(cluster, [{ from: [clients], to: [dns], by: ['dns'], lookup }])
      return [...new Set(rows.flatMap(({ detail }) => detail?.split(' ') ?? []))].sort()
    }
    const behind = [...backends.values()].flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? [])
    await expect.poll(() => lookUp('names'), { timeout: 90_000 }).toEqual(behind.sort())
    const own = await cluster.api.call<ServiceObject>('GET', `/api/v1/namespaces/${namespace}/services/all`)
    await expect.poll(() => lookUp('elsewhere'), { timeout: 90_000 }).toEqual([...own.spec.clusterIPs].sort())
  })
})

/** Addresses of choice: one of each family, or of one alone. */
const chosen = {
  berth: ['192.0.2.60', '2001:db8::60'],
  'berth-of-ipv4': ['192.0.2.64'],
  'berth-of-ipv6': ['2001:db8::66'],
} as const

/** Those that the cluster has a family for. */
const chosenHere = (): readonly (readonly [name: string, addresses: readonly string[]])[] =>
  Object.entries(withinStack(chosen, cluster.topology.stack)).filter(([, addresses]) => addresses.length > 0)

/** Its backends listen only while they are asked something, and so are not to be asked how they are. */
function rule(name: string, addresses: readonly string[], spec: object): ApiObject {
  const annotations = { 'ovn.kubernetes.io/service_health_check': 'false' }
  const common = { namespace, selector: ['app:echo'], vip: addresses.join() }
  return {
    ...{ apiVersion: 'kubeovn.io/v1', kind: 'SwitchLBRule', metadata: { name, annotations } },
    spec: { ...common, ports: ports.map((port) => ({ protocol: 'TCP', ...port })), ...spec },
  } as ApiObject
}

describe('a SwitchLBRule', () => {
  it('leads pods, which are seen as themselves, in its families, keeps whom it is to keep, and leads nobody when it is gone', async () => {
    const rules = chosenHere().map(([name, addresses]) =>
      rule(name, addresses, name === 'berth' ? { sessionAffinity: 'ClientIP' } : {}),
    )
    const claims = chosenHere().map(([name, addresses]): Claim => {
      const to = { to: `slr-${name}`, addresses }
      return { from: [clients], ...to, expect: { source: 'own' }, isWanted: isEcho }
    })
    try {
      await applyAll(cluster.api, rules)
      for (const { to } of claims)
        await waitForObjects<ServiceObject, true>(
          cluster.api,
          `/api/v1/namespaces/${namespace}/services?fieldSelector=metadata.name%3D${to}`,
          `${to} is made`,
          ([made]) => (made === undefined ? undefined : true),
        )
      const rows = await seen(claims)
      expect(tally(rows)).toEqual(all(families() * 4, rows))
      const [sticky = expect.unreachable()] = claims
      const stays = async (): Promise<readonly string[]> =>
        (await seen([sticky])).map(({ from, address, protocol, at }) =>
          [from, address, protocol, at].join(' '),
        )
      const before = await stays()
      for (let again = 0; again < 3; again++) expect(await stays()).toEqual(before)
    } finally {
      await deleteAll(cluster.api, rules)
    }
    const addresses = chosenHere().flatMap(([, some]) => some)
    const rows = await seen([{ from: [clients], to: 'all', addresses, expect: 'no-reach' }])
    expect(tally(rows)).toEqual(all(families() * 4, rows))
  })
})

describe('session affinity', () => {
  it('keeps a client at its backend as long as its Service says, whatever others come, and no longer', async () => {
    let seconds = 15
    let visits = await stickyVisits(cluster, namespace, seconds)
    // Where clients could not come again in time, they were forgotten as they should be.
    for (; visits.longestPauseMs >= seconds * 1000 && seconds < 120; seconds *= 2)
      visits = await stickyVisits(cluster, namespace, 2 * seconds)
    // The choice of many may be that of few: the address of the client makes it, and there are two for each family.
    for (let again = 0; again < 2 && visits.later.join() === visits.few.join(); again++)
      visits = await stickyVisits(cluster, namespace, seconds)
    const { few, many, later } = visits
    expect(many).toEqual(few)
    expect(later).not.toEqual(few)
  })
})

/** Who asks a node port at their own node is led by OVN: the backend sees the Pod. At others it is the node who leads. */
function doorsOfNodes(): readonly Claim[] {
  return cluster.nodes.flatMap(({ kubernetes }, index) =>
    cluster.nodes.map((_, asker): Claim => {
      const from = [{ namespace, pods: `app=client,on=node-${asker + 1}` }]
      const addresses = addressesOf(kubernetes)
      const common = { from, to: 'door', addresses, nodePorts: true, isWanted: isEcho } as const
      return asker === index ? { ...common, expect: { source: 'own' } } : common
    }),
  )
}

describe('under traffic', () => {
  it('flows of UDP stay with their backend while those of another Service come and go', async () => {
    const { backend, flows } = await flowsHeldDuring(cluster, namespace, () => rollOnce(cluster, namespace))
    expect(flows).toHaveLength(8)
    for (const flow of flows) expect(flow).toEqual({ at: [expect.toBeOneOf([...backend])], isAnswered: true })
  })

  it('all Services move to load balancers of their own, where they are the same, and back', async () => {
    const central = await ovnCentral(cluster)
    const ofBalancer = (to: keyof typeof ingress): Claim => {
      const addresses = addressesOf(ingress[to])
      return { from: [clients], to, addresses, expect: { source: 'own' } }
    }
    const sharedEntries = () => nbctl(central, 'get', 'Load_Balancer', 'cluster-tcp-loadbalancer', 'vips')
    const { failed, unanswered } = await servedDuring(cluster, namespace, async () => {
      const all = {
        loadBalancerLayout: 'per-service',
        ovnLbNodePorts: true,
        ENABLE_OVN_LB_PREFER_LOCAL: true,
      }
      await upgradeChart(cluster, { features: all })
      await expect.poll(sharedEntries, { timeout: 180_000 }).toBe('{}')
      await seen([
        { from: [clients], to: 'all', expect: { source: 'own' }, isWanted: isEcho },
        { from: [clients], to: 'own-node', expect: { source: 'own' }, isWanted: isOnNodeOf },
        { from: [{ namespace, pods: 'app=alone' }], to: 'itself' },
        ...doorsOfNodes(),
        // Whom OVN leads is seen as himself.
        { ...ofBalancer('balanced'), isWanted: isEcho },
        { ...ofBalancer('front'), isWanted: isOnNodeOf },
      ])
      await upgradeChart(cluster, {})
      await expect.poll(sharedEntries, { timeout: 180_000 }).not.toBe('{}')
      const groups = () => nbctl(central, '--bare', '--columns=name', 'list', 'Load_Balancer_Group')
      await expect.poll(groups, { timeout: 180_000 }).toBe('')
    })
    expect({ failed, unanswered }).toEqual({ failed: [], unanswered: 0 })
  })
})
