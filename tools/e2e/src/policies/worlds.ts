import {
  addressesOfPod,
  ApiError,
  askHere,
  deleteAll,
  eventually,
  idlePod,
  namespaceOf,
  placeOf,
  untilPodsReady,
  type ApiObject,
  type Cluster,
  type PodObject,
  type Question,
} from '@kube-ovn/lab'
import {
  isAllowed,
  packetText,
  smallWorld,
  type Packet,
  type PolicyObjects,
  type SmallWorld,
} from '@kube-ovn/testing-policy'
import { afterAll, beforeAll, expect, it } from 'vitest'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
/** Kept; deep runs draw others each time, and what fails names its own. */
const seeds = isDeep
  ? Array.from({ length: 25 }, (_, index) => Math.floor(Date.now() / 1000) + index)
  : [1, 2, 3, 4, 5]

const namespaces = ['ant', 'bee', 'cat'] as const
const podsEach = 2
const ports = [80, 8080, 53] as const
/** How long the answer to a question may take that another round asks again. */
const timeoutMs = 1500

const homes: readonly ApiObject[] = namespaces.map((name) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
}))
const people: readonly ApiObject[] = namespaces.flatMap((namespace) =>
  Array.from({ length: podsEach }, (_, index) => {
    const idle = idlePod({ name: `p${index}`, namespace, labels: {} }, `node-${index + 1}`)
    const { containers } = idle.spec as { readonly containers: readonly object[] }
    const listed = [
      { name: 'http', containerPort: index === 0 ? 80 : 8080 },
      { name: 'names', containerPort: 53, protocol: 'UDP' },
    ]
    const spec = {
      ...(idle.spec as object),
      containers: containers.map((one) => ({ ...one, ports: listed })),
    }
    return { ...idle, spec } as ApiObject
  }),
)

/** Random policies of a few pods, judged by packets, and by the specifications of their APIs. */
export function worlds(lab: () => Cluster): void {
  beforeAll(async () => {
    for (const object of [...homes, ...people]) await lab().api.apply(object)
    for (const namespace of namespaces) await untilPodsReady(lab().api, namespace, '', podsEach)
  })

  afterAll(() => deleteAll(lab().api, [...homes, ...people]))

  it.each(seeds)('do with packets what the specifications say: seed %i', async (seed) => {
    const cluster = lab()
    const world = smallWorld(seed, namespaces, people.length)
    await label(cluster, world)
    const policies = await accepted(cluster, [...world.networkPolicies, ...world.adminNetworkPolicies])
    try {
      const pods = (
        await Promise.all(namespaces.map((name) => untilPodsReady(cluster.api, name, '', podsEach)))
      ).flat()
      const objects = objectsOf(world, pods, policies)
      const packets = packetsBetween(pods)
      const wanted = packets.map((packet) =>
        (['egress', 'ingress'] as const).every((direction) => isAllowed(objects, direction, packet)),
      )
      const wrong = async (): Promise<readonly string[]> => {
        const seen = await ask(cluster, pods, packets)
        return packets.flatMap((packet, index) =>
          seen[index] === wanted[index]
            ? []
            : [
                `seed ${seed}: ${packetText(packet)}: specified ${wanted[index] === true ? 'to pass' : 'not to pass'}`,
              ],
        )
      }
      let last: readonly string[] = []
      await eventually('packets do what is specified', async () => {
        last = await wrong()
        return last.length === 0 || undefined
      }).catch(() => expect(last).toEqual([]))
    } finally {
      await deleteAll(cluster.api, policies)
    }
  })
}

async function label(cluster: Cluster, { namespaceLabels, podLabels }: SmallWorld): Promise<void> {
  const none = { world: null, team: null, env: null, app: null, tier: null }
  for (const [index, name] of namespaces.entries())
    await cluster.api.mergePatch(`/api/v1/namespaces/${name}`, {
      metadata: { labels: { ...none, ...namespaceLabels[index] } },
    })
  for (const [index, { metadata }] of people.entries())
    await cluster.api.mergePatch(`/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, {
      metadata: { labels: { ...none, ...podLabels[index] } },
    })
}

/** Those that the API server takes: it knows some things to be none that the controller has to live with. */
async function accepted(cluster: Cluster, drawn: readonly unknown[]): Promise<readonly ApiObject[]> {
  const taken: ApiObject[] = []
  for (const object of drawn as readonly ApiObject[])
    try {
      await cluster.api.apply(object)
      taken.push(object)
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 422].includes(error.details.status)) throw error
    }
  return taken
}

function objectsOf(
  { namespaceLabels }: SmallWorld,
  pods: readonly PodObject[],
  policies: readonly ApiObject[],
): PolicyObjects {
  const ofKind = (kind: string): readonly ApiObject[] => policies.filter((one) => one.kind === kind)
  return {
    ...{ nodes: [], subnets: [], securityGroups: [], egressFirewalls: [] },
    ...{ baselineAdminNetworkPolicies: [], clusterNetworkPolicies: [] },
    ...{ networkAttachments: [], multiNetworkPolicies: [], dnsNameResolvers: [] },
    namespaces: namespaces.map((name, index) => ({
      metadata: { name, labels: namespaceLabels[index] ?? {} },
    })),
    pods: pods as unknown as PolicyObjects['pods'],
    networkPolicies: ofKind('NetworkPolicy'),
    adminNetworkPolicies: ofKind('AdminNetworkPolicy'),
  }
}

function packetsBetween(pods: readonly PodObject[]): readonly Packet[] {
  const endOf = ({ metadata }: PodObject, address: string): Packet['from'] => ({
    ...{ kind: 'pod', namespace: metadata.namespace ?? '', name: metadata.name, address },
  })
  return pods.flatMap((from) =>
    pods
      .filter((to) => to !== from)
      .flatMap((to) =>
        addressesOfPod(to).flatMap((address) => {
          const family = address.includes(':') ? 6 : 4
          const own = addressesOfPod(from).find((one) => one.includes(':') === (family === 6)) ?? ''
          const ends = { family, from: endOf(from, own), to: endOf(to, address) } as const
          return [
            ...ports.map((port): Packet => ({ ...ends, protocol: 'tcp', port })),
            { ...ends, protocol: 'udp' as const, port: 53 },
          ]
        }),
      ),
  )
}

/** For each packet whether who is asked by it answers. */
async function ask(
  cluster: Cluster,
  pods: readonly PodObject[],
  packets: readonly Packet[],
): Promise<readonly boolean[]> {
  const netnsOf = (end: Packet['from']): string => {
    const pod = pods.find(
      ({ metadata }) =>
        end.kind === 'pod' && metadata.name === end.name && metadata.namespace === end.namespace,
    )
    if (pod === undefined) throw new Error(`there is no pod with ${end.address}`)
    return namespaceOf(placeOf(cluster, pod))
  }
  const questions = packets.map(({ from, to, port, protocol }): Question => {
    const listener = { netns: netnsOf(to), address: to.address, port, protocol: protocol as 'tcp' | 'udp' }
    const asked = { target: to.address, port, protocol: listener.protocol }
    return { ...asked, netns: netnsOf(from), isOurs: true, timeoutMs, listeners: [listener] }
  })
  return (await askHere(questions)).map(({ kind }) => kind === 'reached')
}
