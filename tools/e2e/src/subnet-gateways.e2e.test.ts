import {
  addressesOfPod,
  applyAll,
  askSourceAddress,
  controllerLeader,
  databaseLeader,
  deleteAll,
  eventually,
  idlePod,
  injectFault,
  labelNode,
  lossDuring,
  machineOf,
  nodeNamed,
  ofStack,
  pingAll,
  placeOf,
  runAt,
  standingFaults,
  startPing,
  takeDownPod,
  untilPodsReady,
  waitForObjects,
  withinStack,
  type ApiObject,
  type Cluster,
  type Fault,
  type LabNode,
  type PodObject,
} from '@kube-ovn/lab'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { gatewayTraces } from './gateway-traces.ts'
import { lostByEdits } from './lost-by-edits.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('cuts nodes off, and their power')

const namespace = 'leaving'
const subnetPath = '/apis/kubeovn.io/v1/subnets'
const outsidePort = 8080
/** Of the Subnet. */
const prefixes = { ipv4: '10.45.0.0/24', ipv6: 'fd00:10:45::/120' }

const objects: readonly ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: namespace },
    spec: { cidrBlock: Object.values(prefixes).join(), natOutgoing: true, namespaces: [namespace] },
  } as ApiObject,
]

interface SubnetObject extends ApiObject {
  readonly status?: {
    readonly egress?: {
      readonly gateways?: readonly { readonly node: string }[]
      readonly active?: readonly string[]
    }
  }
}

let cluster: Cluster
let pod: PodObject
/** The first one runs nothing that decides, and can be cut off. */
let gateways: readonly [LabNode, LabNode]

const lab = useSuiteLab({ id: 'subnet-gateways', nodes: 3, stack: 'dual' })

beforeAll(async () => {
  ;({ cluster } = lab)
  const { spec } = await controllerLeader(cluster)
  const leaders = await Promise.all(
    (['northbound', 'southbound'] as const).map((database) => databaseLeader(cluster, database)),
  )
  const deciding = (name: string): number => leaders.filter(({ node }) => node === name).length
  const [first, second] = cluster.nodes
    .filter(({ name }) => name !== spec.nodeName)
    .toSorted((a, b) => deciding(a.name) - deciding(b.name))
  if (first === undefined || second === undefined) expect.unreachable('there are three nodes')
  gateways = [first, second]
  await applyAll(cluster.api, [
    ...objects.map((object) => withinStack(object, cluster.topology.stack)),
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
  return ofStack(cluster.topology.stack, cluster.outside.addresses)
}

/** What is the same in each family of the cluster. */
function inEach<T>(value: T): readonly T[] {
  return targets().map(() => value)
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

/** Packets that a gateway which answers no more may cost a flow: those of three seconds. */
const mostLost = 3_000 / packetMs

/** Ways in which a gateway is lost, none of which the cluster notices at once. */
const losses = {
  'has lost its power': (node: string): Fault => ({ kind: 'stop', target: { machine: node } }),
  'is cut off': (node: string): Fault => ({ kind: 'partition', node, from: { network: 'all' } }),
} as const

/** Of nodes that are to be gateways of the subnet. */
const label = 'leaving'

const byLabel = {
  ...{ gatewayType: 'centralized', gatewayNode: null },
  gatewayNodeSelectors: [{ matchLabels: { [label]: 'true' } }],
}
const distributed = {
  ...{ gatewayType: 'distributed', enableEcmp: null },
  ...{ gatewayNode: null, gatewayNodeSelectors: null },
}

/** Makes two nodes gateways, of which the first one is active. */
async function choose(by: 'name' | 'label', first: string, second: string): Promise<void> {
  if (by === 'name') await edit({ gatewayType: 'centralized', gatewayNode: `${first},${second}` })
  else {
    await give(first, 'true')
    await edit(byLabel)
  }
  await expect.poll(seenOutside, patience).toEqual(inEach(first))
  if (by === 'label') await give(second, 'true')
  await untilEgress('both can have the traffic', ({ gateways: all = [] }) => all.length === 2)
}

async function give(node: string, value: 'true' | null): Promise<void> {
  await labelNode(cluster.api, node, label, value)
}

/** Has a test take the label from all who have it, when it is over. */
function labels(): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => void (await Promise.all(gateways.map(({ name }) => give(name, null)))),
  }
}

/** Takes a gateway away until traffic leaves by the other one, which is long before the cluster has noticed anything. */
async function failOver(from: string, to: string, how: keyof typeof losses): Promise<void> {
  const pings = targets().map((target) => startPing(placeOf(cluster, pod), target))
  await Promise.all(pings.map((ping) => ping.started()))
  await using cut = new AsyncDisposableStack()
  cut.use(await injectFault(cluster, losses[how](from)))
  await expect.poll(seenOutside, patience).toEqual(inEach(to))
  const seen = await Promise.all(pings.map((ping) => ping.stop()))
  const lost = seen.map((loss) => loss.lost.length)
  console.log(
    `${from} ${how}: ${lost.join(' and ')} of ${seen.map(({ sent }) => sent).join(' and ')} packets lost`,
  )
  for (const packets of lost) expect(packets).toBeLessThanOrEqual(mostLost)
  await cut.disposeAsync()
  gateways = [nodeNamed(cluster, gateways[0].name), nodeNamed(cluster, gateways[1].name)]
  await eventually(`${from} is reached again`, async () => {
    const own = ofStack(cluster.topology.stack, nodeNamed(cluster, from).kubernetes)
    return (await pingAll(placeOf(cluster, pod), own)).size === own.length ? true : undefined
  })
}

type Egress = NonNullable<NonNullable<SubnetObject['status']>['egress']>

/** Until what the status says of gateways is as wanted. */
async function untilEgress(what: string, isWanted: (egress: Egress) => boolean): Promise<void> {
  await waitForObjects<SubnetObject, true>(
    cluster.api,
    `${subnetPath}?fieldSelector=metadata.name%3D${namespace}`,
    what,
    ([subnet]) => (isWanted(subnet?.status?.egress ?? {}) ? true : undefined),
  )
}

async function untilActive(...nodes: readonly string[]): Promise<void> {
  await untilEgress(`${nodes.join(' and ')} share the traffic`, ({ active = [] }) =>
    nodes.every((node) => active.includes(node)),
  )
}

/** Addresses that the outside host has besides, and its way to the pods. */
async function beyond() {
  const {
    outside: { place },
    topology: { stack },
  } = cluster
  const addresses = ofStack(stack, { ipv4: '198.51.100.9', ipv6: '2001:db8:51::9' })
  const ownPrefixes = ofStack(stack, prefixes)
  const change = (lines: readonly string[]): Promise<string> =>
    runAt(place, ['ip', '-batch', '-'], { input: `${lines.join('\n')}\n` })
  const answerBy = (node: LabNode): Promise<string> => {
    const ways = ofStack(stack, node.physical)
    return change(ownPrefixes.map((prefix, index) => `route replace ${prefix} via ${ways[index]}`))
  }
  await change(addresses.map((address) => `address add ${address} dev lo`))
  await answerBy(gateways[0])
  return {
    ...{ addresses, answerBy },
    [Symbol.asyncDispose]: async () => {
      await change([
        ...addresses.map((address) => `address del ${address} dev lo`),
        ...ownPrefixes.map((prefix) => `route del ${prefix}`),
      ])
    },
  }
}

/** The port of the outside host's switch by which packets of the pod for an address come, which is named after the node. */
async function bringer(target: string): Promise<string | undefined> {
  const ping = startPing(placeOf(cluster, pod), target)
  const capture = ['timeout', '60', 'tcpdump', '-n', '-c', '1', '-i', 'any', 'dst', 'host', target]
  const packet = await runAt(cluster.outside.place, capture)
  await ping.stop()
  const [, port] = packet.split(' ')
  return port
}

/** As whom the outside host sees the pod at addresses of its own. */
function sourcesAt(addresses: readonly string[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(addresses.map((target) => askSourceAddress(placeOf(cluster, pod), target, outsidePort)))
}

describe('a subnet', () => {
  it('leaves by the node of each pod, and by its gateway when it has one', async () => {
    const [first] = gateways
    const home = pod.spec.nodeName
    await expect.poll(seenOutside, patience).toEqual(inEach(home))
    await edit({ gatewayType: 'centralized', gatewayNode: first.name })
    await expect.poll(seenOutside, patience).toEqual(inEach(first.name))
    await edit(distributed)
    await expect.poll(seenOutside, patience).toEqual(inEach(home))
  })

  it('leaves by the node that has the label of its gateways, and loses nothing when that moves', async () => {
    const [{ name: first }, { name: second }] = gateways
    const home = pod.spec.nodeName ?? ''
    const untilLeavesBy = async (node: string): Promise<void> => {
      await expect.poll(seenOutside, patience).toEqual(inEach(node))
    }
    await using _ = labels()
    await give(first, 'true')
    await edit(byLabel)
    await untilLeavesBy(first)
    const paths = targets().map((address) => ({
      ...{ name: `pod to outside ${address}`, from: placeOf(cluster, pod), address },
      dataPaths: cluster.nodes.map(({ name }) => machineOf(cluster, name)),
    }))
    const lost = await lossDuring(paths, async (flow) => {
      await give(second, 'true')
      await give(first, null)
      await untilLeavesBy(second)
      // Nobody has it for a while.
      await give(second, null)
      await untilLeavesBy(home)
      await give(first, 'true')
      await untilLeavesBy(first)
      await flow.packets(20)
    })
    expect(lostByEdits(lost)).toEqual([])
    await edit(distributed)
    await untilLeavesBy(home)
  })

  it.each([
    { by: 'name', how: 'has lost its power' },
    { by: 'label', how: 'is cut off' },
  ] as const)(
    'leaves by the next gateway, chosen by its $by, within three seconds when the active one $how',
    async ({ by, how }) => {
      const [first, second] = gateways
      await using _ = labels()
      await choose(by, first.name, second.name)
      await failOver(first.name, second.name, how)
      await expect.poll(seenOutside, patience).toEqual(inEach(second.name))
      // Until it is known to answer again, it would not be chosen next time.
      await edit({ enableEcmp: true })
      await untilActive(first.name, second.name)
      await edit(distributed)
    },
  )

  it('leaves by those that are left of gateways that share its traffic', async () => {
    const [first, second] = gateways
    const gatewayNode = `${first.name},${second.name}`
    await edit({ gatewayType: 'centralized', gatewayNode, enableEcmp: true })
    await untilActive(first.name, second.name)
    await expect
      .poll(seenOutside, patience)
      .toSatisfy((seen: readonly string[]) => seen.every((name) => [first.name, second.name].includes(name)))
    await failOver(first.name, second.name, 'has lost its power')
    await edit(distributed)
  })

  it('leaves by a gateway outside, as itself, by way of the node that is its neighbour', async () => {
    const { outside } = cluster
    const [first, second] = gateways
    const egress = {
      ...{ natOutgoing: false, gatewayType: 'centralized' },
      ...{ externalEgressGateway: ofStack(cluster.topology.stack, outside.addresses).join() },
      ...{ policyRoutingPriority: 1003, policyRoutingTableID: 1003 },
    }
    await using far = await beyond()
    for (const node of [first, second]) {
      await far.answerBy(node)
      await edit({ ...egress, gatewayNode: node.name })
      await expect.poll(() => sourcesAt(far.addresses), patience).toEqual(addressesOfPod(pod))
      for (const target of far.addresses) await expect.poll(() => bringer(target), patience).toBe(node.name)
    }
    await edit({
      ...{ ...distributed, natOutgoing: true, externalEgressGateway: null },
      ...{ policyRoutingPriority: null, policyRoutingTableID: null },
    })
    const home = pod.spec.nodeName
    await expect.poll(seenOutside, patience).toEqual(inEach(home))
  })
})

describe('a trace tells by which way, and with whose address, traffic leaves', () =>
  gatewayTraces(() => ({ cluster, pod, gateways, subnet: namespace })))
