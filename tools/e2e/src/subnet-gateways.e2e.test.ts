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
let gateways: readonly [LabNode, LabNode]

const lab = useSuiteLab({ id: 'subnet-gateways', nodes: 3, stack: 'dual' })

beforeAll(async () => {
  ;({ cluster } = lab)
  const { spec } = await controllerLeader(cluster)
  const { node: database } = await databaseLeader(cluster, 'northbound')
  const [first, second] = cluster.nodes
    .filter(({ name }) => name !== spec.nodeName)
    .toSorted((a, b) => Number(a.name === database) - Number(b.name === database))
  if (first === undefined || second === undefined) expect.unreachable('there are three nodes')
  gateways = [first, second]
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
  const standing = standingFaults(cluster)
  if (standing.length > 0) throw new Error(`still broken: ${JSON.stringify(standing)}`)
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

const patience = { timeout: 180_000 }

/** Between two packets of a ping. */
const packetMs = 50

/** Cuts a gateway off until traffic leaves by the other one, before the cluster has noticed anything. */
async function failOver(from: string, to: string): Promise<void> {
  const pings = targets().map((target) => startPing(placeOf(cluster, pod), target))
  await Promise.all(pings.map((ping) => ping.started()))
  await using cut = new AsyncDisposableStack()
  cut.use(await injectFault(cluster, { kind: 'partition', node: from, from: { network: 'all' } }))
  await expect.poll(seenOutside, patience).toEqual([to, to])
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

async function isReady(name: string): Promise<boolean> {
  const { status } = await cluster.api.call<NodeObject>('GET', `/api/v1/nodes/${name}`)
  return status.conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True')
}

describe('a subnet', () => {
  it('leaves by the node of each pod, and by its gateway when it has one', async () => {
    const [first] = gateways
    const home = pod.spec.nodeName
    await expect.poll(seenOutside, patience).toEqual([home, home])
    await edit({ gatewayType: 'centralized', gatewayNode: first.name })
    await expect.poll(seenOutside, patience).toEqual([first.name, first.name])
    await edit({ gatewayType: 'distributed', gatewayNode: null })
    await expect.poll(seenOutside, patience).toEqual([home, home])
  })

  it('leaves by the next gateway long before the cluster knows that the active one is gone', async () => {
    const [first, second] = gateways
    await edit({ gatewayType: 'centralized', gatewayNode: `${first.name},${second.name}` })
    await expect.poll(seenOutside, patience).toEqual([first.name, first.name])
    await failOver(first.name, second.name)
    await expect.poll(seenOutside, patience).toEqual([second.name, second.name])
    await edit({ gatewayType: 'distributed', gatewayNode: null })
  })

  it('leaves by those that are left of gateways that share its traffic', async () => {
    const [first, second] = gateways
    const gatewayNode = `${first.name},${second.name}`
    await edit({ gatewayType: 'centralized', gatewayNode, enableEcmp: true })
    await untilActive(first.name, second.name)
    await expect
      .poll(seenOutside, patience)
      .toSatisfy((seen: readonly string[]) => seen.every((name) => [first.name, second.name].includes(name)))
    await failOver(first.name, second.name)
    await edit({ gatewayType: 'distributed', gatewayNode: null, enableEcmp: null })
  })
})
