import {
  applyAll,
  askSourceAddress,
  controllerLeader,
  databaseLeader,
  deleteAll,
  eventually,
  idlePod,
  injectFault,
  nodeNamed,
  ofStack,
  pingAll,
  placeOf,
  standingFaults,
  startPing,
  takeDownPod,
  untilPodsReady,
  waitForObjects,
  type ApiObject,
  type Cluster,
  type LabNode,
  type PodObject,
} from '@kube-ovn/lab'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('cuts nodes off')

const namespace = 'leaving'
const subnetPath = '/apis/kubeovn.io/v1/subnets'
const outsidePort = 8080

const objects: readonly ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: namespace },
    spec: { cidrBlock: '10.45.0.0/24,fd00:10:45::/120', natOutgoing: true, namespaces: [namespace] },
  } as ApiObject,
]

interface NodeObject extends ApiObject {
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] }
}

interface SubnetObject extends ApiObject {
  readonly status?: { readonly egress?: { readonly active?: readonly string[] } }
}

let cluster: Cluster
let pod: PodObject
/** The first one runs nothing that decides, and can be cut off. */
let gateways: readonly LabNode[]

const lab = useSuiteLab({ id: 'subnet-gateways', nodes: 3, stack: 'dual' })

beforeAll(async () => {
  ;({ cluster } = lab)
  const { spec } = await controllerLeader(cluster)
  const { node: database } = await databaseLeader(cluster, 'northbound')
  gateways = cluster.nodes
    .filter(({ name }) => name !== spec.nodeName)
    .toSorted((a, b) => Number(a.name === database) - Number(b.name === database))
  await applyAll(cluster.api, [
    ...objects,
    idlePod({ name: 'sender', namespace }, spec.nodeName ?? expect.unreachable('it runs')),
  ])
  const [ready] = await untilPodsReady(cluster.api, namespace, 'app=sender', 1)
  pod = ready ?? expect.unreachable('one was waited for')
})

afterAll(async () => {
  await takeDownPod(cluster.api, pod)
  await deleteAll(cluster.api, objects)
})

afterEach(() => {
  expect(standingFaults(cluster)).toEqual([])
})

function edit(spec: object): Promise<unknown> {
  return cluster.api.mergePatch(`${subnetPath}/${namespace}`, { spec })
}

function targets(): readonly string[] {
  return ofStack('dual', cluster.outside.addresses)
}

/** Whose address the outside host sees, in each family. */
async function seenOutside(): Promise<readonly (string | undefined)[]> {
  const sources = await Promise.all(
    targets().map((target) => askSourceAddress(placeOf(cluster, pod), target, outsidePort)),
  )
  return sources.map((source) =>
    source === undefined
      ? undefined
      : cluster.nodes.find(({ kubernetes, physical }) =>
          [kubernetes, physical].some(({ ipv4, ipv6 }) => source === ipv4 || source === ipv6),
        )?.name,
  )
}

async function untilSeenFrom(...nodes: readonly (string | undefined)[]): Promise<void> {
  await eventually(`traffic leaves by ${nodes.join(' or ')}`, async () => {
    const seen = await seenOutside()
    return seen.every((name) => nodes.includes(name)) ? true : undefined
  })
}

/** Between two packets of a ping. */
const packetMs = 50

/** Cuts a gateway off until traffic leaves by the other one, before the cluster has noticed anything. */
async function failOver(from: string, to: string): Promise<void> {
  const pings = targets().map((target) => startPing(placeOf(cluster, pod), target))
  await Promise.all(pings.map((ping) => ping.started()))
  await using cut = new AsyncDisposableStack()
  cut.use(await injectFault(cluster, { kind: 'partition', node: from, from: { network: 'all' } }))
  await untilSeenFrom(to)
  expect(await isReady(from)).toBe(true)
  const losses = await Promise.all(pings.map((ping) => ping.stop()))
  const lostMs = losses.map(({ lost }) => lost.length * packetMs)
  console.log(`without ${from}: ${lostMs.join(' and ')} ms without answers`)
  await cut.disposeAsync()
  await eventually(`${from} is reached again`, async () => {
    const { ipv4, ipv6 } = nodeNamed(cluster, from).kubernetes
    return (await pingAll(placeOf(cluster, pod), [ipv4, ipv6])).size === 2 ? true : undefined
  })
}

async function untilActive(...nodes: readonly string[]): Promise<void> {
  await waitForObjects<SubnetObject, true>(
    cluster.api,
    `${subnetPath}?fieldSelector=metadata.name%3D${namespace}`,
    `${nodes.join(' and ')} share the traffic`,
    ([subnet]) => (nodes.every((node) => subnet?.status?.egress?.active?.includes(node)) ? true : undefined),
  )
}

function nameOf(node: LabNode | undefined): string {
  return node?.name ?? expect.unreachable('there are three nodes')
}

async function isReady(name: string): Promise<boolean> {
  const { status } = await cluster.api.call<NodeObject>('GET', `/api/v1/nodes/${name}`)
  return status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True')
}

describe('a subnet', () => {
  it('leaves by the node of each pod, and by its gateway when it has one', async () => {
    const [first] = gateways
    await untilSeenFrom(pod.spec.nodeName)
    await edit({ gatewayType: 'centralized', gatewayNode: first?.name })
    await untilSeenFrom(first?.name)
    await edit({ gatewayType: 'distributed', gatewayNode: null })
    await untilSeenFrom(pod.spec.nodeName)
  }, 600_000)

  it('leaves by the next gateway long before the cluster knows that the active one is gone', async () => {
    const [first, second] = gateways
    await edit({ gatewayType: 'centralized', gatewayNode: `${first?.name},${second?.name}` })
    await untilSeenFrom(first?.name)
    await failOver(nameOf(first), nameOf(second))
    await edit({ gatewayType: 'distributed', gatewayNode: null })
    await untilSeenFrom(pod.spec.nodeName)
  }, 900_000)

  it('leaves by those that are left of gateways that share its traffic', async () => {
    const [first, second] = gateways
    await edit({
      gatewayType: 'centralized',
      gatewayNode: `${first?.name},${second?.name}`,
      enableEcmp: true,
    })
    await untilActive(nameOf(first), nameOf(second))
    await untilSeenFrom(first?.name, second?.name)
    await failOver(nameOf(first), nameOf(second))
    await edit({ gatewayType: 'distributed', gatewayNode: null, enableEcmp: null })
    await untilSeenFrom(pod.spec.nodeName)
  }, 900_000)
})
