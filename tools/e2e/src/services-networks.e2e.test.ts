import {
  addressesOfPod,
  applyAll,
  askHere,
  deleteAll,
  dropPackets,
  eventually,
  idlePod,
  importImages,
  LabTimeoutError,
  namespaceOf,
  placeOf,
  presets,
  readExample,
  readProbeImage,
  renderMatrix,
  runMatrix,
  takeDownPod,
  untilPodsReady,
  waitForObjects,
  withinStack,
  type ApiObject,
  type Cluster,
  type MatrixRow,
  type MatrixRuleInput,
  type PodObject,
  type Question,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { metallbServices } from './metallb-services.ts'
import { startCapture } from './packet-capture.ts'
import { policiesOfFurtherNetworks } from './policies/further-networks.ts'
import { definePolicyKinds } from './policies/policy-kinds.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('has VLANs around its nodes')
const lab = useSuiteLab(
  { id: 'service-networks', ...presets['underlay'] },
  { values: { features: { ENABLE_ANP: true } }, beforeChart: definePolicyKinds },
)

let cluster: Cluster

beforeAll(() => {
  ;({ cluster } = lab)
})

const [tcpPort, udpPort, target] = [80, 53, 18_080]
const ports = [
  { name: 'tcp', port: tcpPort, targetPort: target },
  { name: 'udp', port: udpPort, targetPort: target, protocol: 'UDP' },
]

function service(
  namespace: string,
  name: string,
  selector: object,
  {
    annotations = {},
    labels = {},
    spec = { ipFamilyPolicy: 'PreferDualStack' },
  }: { annotations?: object; labels?: object; spec?: object } = {},
): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name, annotations, labels },
    spec: { selector, ports, ...spec },
  } as ApiObject
}

function namespaceObject(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

function kubeOvn(kind: 'Vpc' | 'Subnet', name: string, spec: object): ApiObject {
  return { apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec } as ApiObject
}

/** A pod on each node. */
function onEachNode(namespace: string, app: string): readonly ApiObject[] {
  return cluster.nodes.map(({ name }) =>
    idlePod({ namespace, name: `${app}-${name}`, labels: { app } }, name),
  )
}

/** Objects for a test, which go with it. */
async function applied(objects: readonly ApiObject[]): Promise<AsyncDisposable> {
  await applyAll(
    cluster.api,
    objects.map((object) => withinStack(object, cluster.topology.stack)),
  )
  return { [Symbol.asyncDispose]: () => deleteAll(cluster.api, objects) }
}

type Ends = Pick<MatrixRuleInput, 'from' | 'expect'> & {
  readonly to: { readonly namespace: string } & ({ readonly service: string } | { readonly pods: string })
}

/** How many families the cluster has. */
function families(): number {
  return cluster.topology.stack === 'dual' ? 2 : 1
}

/** By TCP and UDP, in each family. */
function rulesOf(ends: readonly Ends[]): readonly MatrixRuleInput[] {
  // Of a Service the port is one that it has, of pods any.
  const at = (to: Ends['to'], port: number): Pick<MatrixRuleInput, 'to' | 'port'> =>
    'service' in to ? { to: [{ ...to, port }] } : { to: [to], port }
  return ends.flatMap(({ from, to, expect: wanted = 'reach' }) => [
    { from, ...at(to, tcpPort), by: ['tcp'], expect: wanted },
    { from, ...at(to, udpPort), by: ['udp'], expect: wanted },
  ])
}

/** Asks until all is as expected; how many pairs there were. */
async function asExpected(ends: readonly Ends[]): Promise<number> {
  const rules = rulesOf(ends)
  let rows: readonly MatrixRow[] = []
  await eventually('all is as expected', async () => {
    ;({ rows } = await runMatrix(cluster, rules))
    return rows.every(({ verdict }) => verdict === 'as expected') ? true : undefined
  }).catch((error: unknown) => {
    if (!(error instanceof LabTimeoutError)) throw error
    const wrong = rows.filter(({ verdict }) => verdict !== 'as expected')
    expect.unreachable(renderMatrix({ rows: wrong, ms: 0 }))
  })
  return rows.length
}

describe('a Service whose backends are in another network than the default one', () => {
  it('serves the pods of its VPC, which it sees as themselves, and nobody elsewhere', async () => {
    const [isle, main] = ['isle', 'main']
    const cidrBlock = '10.44.0.0/24,fd00:10:44::/112'
    await using _ = await applied([
      kubeOvn('Vpc', isle, { namespaces: [isle] }),
      kubeOvn('Subnet', 'shore', { vpc: isle, namespaces: [isle], cidrBlock }),
      ...[isle, main].map(namespaceObject),
      ...[...onEachNode(isle, 'echo'), ...onEachNode(isle, 'client'), ...onEachNode(main, 'client')],
      service(isle, 'well', { app: 'echo' }),
    ])
    await untilPodsReady(cluster.api, isle, 'app', 4)
    await untilPodsReady(cluster.api, main, 'app', 2)
    const to = { namespace: isle, service: 'well' }
    const pairs = await asExpected([
      { from: [{ namespace: isle, pods: 'app=client' }], to, expect: { source: 'own' } },
      { from: [{ namespace: isle, pods: 'app=echo' }], to },
      { from: [{ namespace: main, pods: 'app=client' }], to, expect: 'no-reach' },
    ])
    expect(pairs).toBe(3 * 2 * 2 * families())
  })

  it('is reached by way of the node from a Subnet without load balancers', async () => {
    const [plain, main] = ['plain', 'town']
    const cidrBlock = '10.45.0.0/24,fd00:10:45::/112'
    await using _ = await applied([
      kubeOvn('Subnet', plain, { namespaces: [plain], cidrBlock, enableLb: false, natOutgoing: true }),
      ...[plain, main].map(namespaceObject),
      ...[...onEachNode(plain, 'client'), ...onEachNode(main, 'echo')],
      service(main, 'well', { app: 'echo' }),
    ])
    await untilPodsReady(cluster.api, plain, 'app', 2)
    await untilPodsReady(cluster.api, main, 'app', 2)
    const to = { namespace: main, service: 'well' }
    const from = [{ namespace: plain, pods: 'app=client' }]
    expect(await asExpected([{ from, to }])).toBe(2 * 2 * families())

    // A prefix that nodes know of for as long as a Service has an address in it.
    const [cidrBlockOfMore, clusterIP] =
      cluster.topology.stack === 'ipv6'
        ? ['fd00:10:200::/120', 'fd00:10:200::10']
        : ['10.200.0.0/24', '10.200.0.10']
    const more = {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
      ...{ metadata: { name: 'more' }, spec: { cidrs: [cidrBlockOfMore] } },
    }
    await using _prefix = await applied([more])
    await untilPrefix('True')
    await using _late = await applied([service(main, 'late', { app: 'echo' }, { spec: { clusterIP } })])
    const late = { from, to: { namespace: main, service: 'late' } }
    expect(await asExpected([late])).toBe(2 * 2)
    await cluster.api.delete(more)
    await untilPrefix('False')
    expect(await asExpected([late])).toBe(2 * 2)
  })
})

describe('a Service of an overlay, and an underlay that is connected', () => {
  const deck = 'deck'
  const [cranes, mates] = [
    { namespace: 'wharf', pods: 'app=crane' },
    { namespace: deck, pods: 'app=mate' },
  ]
  const ofMates = { from: [cranes], to: { namespace: deck, service: 'mates' } }
  /** Nothing but OVN leads to its backends. */
  const byOvn = { from: [cranes], to: { namespace: deck, service: 'mates-by-ovn' } }
  const own = { source: 'own' } as const
  const lifetime = new AsyncDisposableStack()

  beforeAll(async () => {
    lifetime.use(
      await applied([
        ...readExample('20-underlay', cluster.topology.stack),
        namespaceObject(deck),
        ...onEachNode(deck, 'mate'),
        service(deck, 'mates', { app: 'mate' }),
        service(deck, 'mates-by-ovn', { app: 'mate' }, { labels: { [keptFromProxy]: 'none' } }),
        service('wharf', 'cranes', { app: 'crane' }),
      ]),
    )
    await connectUnderlay()
    await untilPodsReady(cluster.api, deck, 'app=mate', 2)
  })

  afterAll(() => lifetime.disposeAsync())

  it('serves its pods, and has backends there', async () => {
    const pairs = await asExpected([
      { ...ofMates, expect: own },
      { ...byOvn, expect: own },
      { from: [mates], to: { namespace: 'wharf', service: 'cranes' }, expect: own },
    ])
    expect(pairs).toBe(3 * 2 * 2 * families())
  })

  it('is reached by way of the node of each pod where OVN does not balance', async () => {
    await editUnderlay({ enableLb: false })
    const pairs = await asExpected([ofMates, { ...byOvn, expect: 'no-reach' }])
    expect(pairs).toBe(2 * 2 * 2 * families())
  })

  it('is looked for in the physical network where only what is for overlays comes to the router', async () => {
    await editUnderlay({ enableLb: false, u2oFeatures: { overlayOnlyRouting: true } })
    const addresses = await clusterAddresses(deck, 'mates')
    const toThem = addresses.map((address) => `dst host ${address}`).join(' or ')
    const capture = await startCapture(cluster.outside.place, ['-i', 'any', toThem])
    await using stack = new AsyncDisposableStack()
    stack.defer(async () => void (await capture.stop()))
    const pairs = await asExpected([
      { ...ofMates, expect: 'no-reach' },
      // Pods that are not behind it are found as before.
      { from: [cranes], to: mates, expect: own },
      { from: [mates], to: cranes, expect: own },
    ])
    expect(pairs).toBe((2 * 2 + 2 * 4 * 2) * families())
    const arrived = async (): Promise<readonly string[]> => {
      await runMatrix(cluster, rulesOf([ofMates]))
      return addresses.filter((address) => capture.seen().includes(`> ${address}.`))
    }
    await expect.poll(arrived, { timeout: 60_000 }).toEqual(addresses)

    // Where OVN balances, packets are for a backend before they are routed.
    await editUnderlay({ enableLb: true })
    const balanced = await asExpected([
      { ...ofMates, expect: own },
      { ...byOvn, expect: own },
    ])
    expect(balanced).toBe(2 * 2 * 2 * families())
  })
})

/** The label of a Service that kube-proxy leaves to somebody else. */
const keptFromProxy = 'service.kubernetes.io/service-proxy-name'

function editUnderlay(spec: object): Promise<unknown> {
  return cluster.api.mergePatch('/apis/kubeovn.io/v1/subnets/wharf', { spec })
}

async function clusterAddresses(namespace: string, name: string): Promise<readonly string[]> {
  const path = `/api/v1/namespaces/${namespace}/services/${name}`
  const { spec } = await cluster.api.call<
    ApiObject & { readonly spec: { readonly clusterIPs: readonly string[] } }
  >('GET', path)
  return spec.clusterIPs
}

/** Until Kubernetes says of the ServiceCIDR whether new Services get addresses in it. */
async function untilPrefix(isReady: 'True' | 'False'): Promise<void> {
  interface Prefix extends ApiObject {
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
  }
  await waitForObjects<Prefix, true>(
    cluster.api,
    '/apis/networking.k8s.io/v1/servicecidrs?fieldSelector=metadata.name%3Dmore',
    `the ServiceCIDR is ready: ${isReady}`,
    ([prefix]) =>
      prefix?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === isReady) === true
        ? true
        : undefined,
  )
}

/** The router of the VPC has an address in the underlay, and new pods go by it. */
async function connectUnderlay(): Promise<void> {
  const { api } = cluster
  const before = await untilPodsReady(api, 'wharf', 'app=crane', 2)
  await editUnderlay({ u2oInterconnection: true })
  await waitForObjects<ApiObject & { readonly status?: { readonly u2oInterconnectionIP?: string } }, true>(
    api,
    '/apis/kubeovn.io/v1/subnets?fieldSelector=metadata.name%3Dwharf',
    'the router has an address in the underlay',
    ([subnet]) => ((subnet?.status?.u2oInterconnectionIP ?? '') === '' ? undefined : true),
  )
  for (const pod of before) await takeDownPod(api, { ...pod, apiVersion: 'v1', kind: 'Pod' })
  await untilPodsReady(api, 'wharf', 'app=crane', 2)
}

describe('packets under policies', () => policiesOfFurtherNetworks(() => cluster))

describe('a backend that does not answer any more, whatever Kubernetes says of it', () => {
  const namespace = 'clinic'

  /** Answers by itself, and Kubernetes does not ask it how it is. */
  function well(name: string, nodeName: string): ApiObject {
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels: { app: 'well' } },
      spec: {
        nodeName,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'probe', image: readProbeImage(), imagePullPolicy: 'IfNotPresent' }],
      },
    } as ApiObject
  }

  it('is left out by OVN, which asks it, in each family, and is back when it answers', async () => {
    const annotations = { 'ovn.kubernetes.io/service_health_check': 'true' }
    await importImages(cluster, [{ name: readProbeImage() }])
    await using _ = await applied([
      namespaceObject(namespace),
      well('well-1', 'node-1'),
      well('well-2', 'node-2'),
      idlePod({ name: 'client', namespace, labels: { app: 'client' } }, 'node-1'),
      service(namespace, 'checked', { app: 'well' }, { annotations }),
    ])
    const [one, two] = await wells()
    const [client = expect.unreachable('there is one')] = await untilPodsReady(
      ...([cluster.api, namespace, 'app=client', 1] as const),
    )
    const questions = await questionsOf(client)
    const both = [...addressesOfPod(one), ...addressesOfPod(two)].sort()
    await eventually('both answer', async () => (isEqual(await seenBy(questions), both) ? true : undefined))
    {
      await using _dead = await dropPackets(placeOf(cluster, two), { input: [`tcp dport ${target}`] })
      const left = [...addressesOfPod(one)].sort()
      await eventually('one answers all that is asked', async () =>
        isEqual(await seenBy(questions), left) ? true : undefined,
      )
    }
    await eventually('both answer again', async () =>
      isEqual(await seenBy(questions), both) ? true : undefined,
    )
    // Kubernetes has known of nothing.
    expect((await wells()).map(({ metadata }) => metadata.uid)).toEqual([one.metadata.uid, two.metadata.uid])
  })

  async function wells(): Promise<readonly [PodObject, PodObject]> {
    const pods = await untilPodsReady(cluster.api, namespace, 'app=well', 2)
    const [one, two] = pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    return one === undefined || two === undefined ? expect.unreachable('there are two') : [one, two]
  }

  /** So many by each family that each of two backends gets some, but in one of thousands of cases. */
  async function questionsOf(client: PodObject): Promise<readonly Question[]> {
    const question = { port: tcpPort, protocol: 'tcp', isOurs: true, timeoutMs: 3_000 } as const
    const netns = namespaceOf(placeOf(cluster, client))
    const addresses = await clusterAddresses(namespace, 'checked')
    return addresses.flatMap((address) =>
      Array.from({ length: 16 }, () => ({ netns, target: address, ...question })),
    )
  }

  /** The backends that have answered, and that some questions were not answered. */
  async function seenBy(questions: readonly Question[]): Promise<readonly string[]> {
    const outcomes = await askHere(questions)
    const at = outcomes.map((one) => (one.kind === 'reached' ? (one.seen?.at ?? 'nobody') : 'nobody'))
    return [...new Set(at)].sort()
  }

  function isEqual(some: readonly string[], others: readonly string[]): boolean {
    return some.join() === others.join()
  }
})

describe('Services with addresses in an underlay that MetalLB announces', () =>
  metallbServices(() => cluster))
