import {
  applyAll,
  askSourceAddress,
  controllerLeader,
  deleteAll,
  eventually,
  idlePod,
  injectFault,
  ofStack,
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

let cluster: Cluster
let pod: PodObject
let gateways: readonly LabNode[]

const lab = useSuiteLab({ id: 'subnet-gateways', nodes: 3, stack: 'dual' })

beforeAll(async () => {
  ;({ cluster } = lab)
  // Whoever leads stays where it is, and so does the pod; the others are cut off.
  const { spec } = await controllerLeader(cluster)
  gateways = cluster.nodes.filter(({ name }) => name !== spec.nodeName)
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

/** Cuts a node off until the cluster notices, by when traffic has found another way for long; says what was lost. */
async function cutOff(node: string): Promise<void> {
  const pings = targets().map((target) => startPing(placeOf(cluster, pod), target))
  await Promise.all(pings.map((ping) => ping.started()))
  await using cut = new AsyncDisposableStack()
  cut.use(await injectFault(cluster, { kind: 'partition', node, from: { network: 'all' } }))
  const cutAt = performance.now()
  await untilReady(node, false)
  const noticedMs = performance.now() - cutAt
  const lossMs = await Promise.all(pings.map(async (ping) => (await ping.stop()).lost.length * packetMs))
  await cut.disposeAsync()
  await untilReady(node, true)
  console.log(
    `without ${node}: nothing answered for ${lossMs.join(' and ')} ms; the cluster noticed after ${Math.round(noticedMs)} ms`,
  )
  for (const ms of lossMs) expect(ms).toBeLessThan(noticedMs / 4)
}

/** Between two packets of a ping. */
const packetMs = 50

async function untilReady(name: string, isReady: boolean): Promise<void> {
  await waitForObjects<NodeObject, true>(
    cluster.api,
    `/api/v1/nodes?fieldSelector=metadata.name%3D${name}`,
    `node ${name} is ${isReady ? '' : 'not '}ready`,
    ([node]) =>
      node?.status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') === isReady
        ? true
        : undefined,
    240_000,
  )
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
    await cutOff(first?.name ?? expect.unreachable('there are three nodes'))
    await untilSeenFrom(second?.name)
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
    await untilSeenFrom(first?.name, second?.name)
    const [carrier] = await seenOutside()
    await cutOff(carrier ?? expect.unreachable('it was seen'))
    await edit({ gatewayType: 'distributed', gatewayNode: null, enableEcmp: null })
    await untilSeenFrom(pod.spec.nodeName)
  }, 900_000)
})
