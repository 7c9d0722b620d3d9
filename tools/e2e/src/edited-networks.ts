import {
  applyAll,
  askHere,
  askSourceAddress,
  deleteAll,
  eventually,
  fetchText,
  machineOf,
  namespaceOf,
  ofStack,
  pingAll,
  placeOf,
  runAt,
  takeDownPod,
  untilPodsReady,
  withinStack,
  type ApiObject,
  type Cluster,
  type PodObject,
  type WatchedPath,
} from '@kube-ovn/lab'
import { expect } from 'vitest'

const namespace = 'edits'
const subnets = '/apis/kubeovn.io/v1/subnets'
const vpcs = '/apis/kubeovn.io/v1/vpcs'
const vpc = 'edits'

/** What a host behind two routers of the custom VPC is called by, which no Subnet has. */
export const behind = { ipv4: '10.47.9.1', ipv6: 'fd00:10:47:9::1' }

export const prefixes = {
  home: { ipv4: '10.47.0.0/24', ipv6: 'fd00:10:47::/120' },
  friend: { ipv4: '10.47.1.0/24', ipv6: 'fd00:10:47:1::/120' },
  stranger: { ipv4: '10.47.2.0/24', ipv6: 'fd00:10:47:2::/120' },
  left: { ipv4: '10.47.3.0/24', ipv6: 'fd00:10:47:3::/120' },
  right: { ipv4: '10.47.4.0/24', ipv6: 'fd00:10:47:4::/120' },
  centre: { ipv4: '10.47.5.0/24', ipv6: 'fd00:10:47:5::/120' },
} as const

type Name = keyof typeof prefixes

/** Those of a VPC of their own. */
const apart: readonly Name[] = ['left', 'right', 'centre']

/** On which of two nodes each pod is, and in whose Subnet. */
const residents: Readonly<Record<string, { readonly subnet: Name; readonly node: 0 | 1 }>> = {
  home: { subnet: 'home', node: 0 },
  gate: { subnet: 'home', node: 1 },
  friend: { subnet: 'friend', node: 0 },
  stranger: { subnet: 'stranger', node: 1 },
  left: { subnet: 'left', node: 0 },
  centre: { subnet: 'centre', node: 1 },
  'right-1': { subnet: 'right', node: 0 },
  'right-2': { subnet: 'right', node: 1 },
}

const servedPort = 8080
const outsidePort = 8080

/** Networks whose specifications are edited while packets flow through them. */
export class EditedNetworks {
  readonly #cluster: Cluster
  readonly #pods: ReadonlyMap<string, PodObject>

  private constructor(cluster: Cluster, pods: ReadonlyMap<string, PodObject>) {
    this.#cluster = cluster
    this.#pods = pods
  }

  static async create(cluster: Cluster): Promise<EditedNetworks> {
    const { stack } = cluster.topology
    await applyAll(
      cluster.api,
      networks.map((object) => withinStack(object, stack)),
    )
    const names = cluster.nodes.map(({ name }) => name)
    await applyAll(
      cluster.api,
      Object.entries(residents).map(([name, { subnet, node }]) => resident(name, subnet, names[node] ?? '')),
    )
    const pods = await untilPodsReady(cluster.api, namespace, 'app=resident', Object.keys(residents).length)
    const made = new EditedNetworks(cluster, new Map(pods.map((pod) => [pod.metadata.name, pod])))
    for (const router of ['right-1', 'right-2'])
      for (const address of ofStack(stack, behind))
        await runAt(made.placeOf(router), ['ip', 'address', 'add', address, 'dev', 'lo'])
    // Flows of nodes follow pods that are Ready.
    await Promise.all(
      [...made.paths(), ...made.strangerPaths()].map(({ name, from, address }) =>
        eventually(name, async () => ((await pingAll(from, [address])).size > 0 ? true : undefined)),
      ),
    )
    return made
  }

  async delete(): Promise<void> {
    for (const pod of this.#pods.values()) await takeDownPod(this.#cluster.api, pod)
    await deleteAll(this.#cluster.api, networks)
  }

  /** Whatever no edit forbids: within a subnet, from another one, from a node, to the outside, and through a router of a custom VPC. */
  paths(): readonly WatchedPath[] {
    const [node] = this.#cluster.nodes
    const outside = ofStack(this.#cluster.topology.stack, this.#cluster.outside.addresses)
    const ends = [
      { who: 'home', from: this.placeOf('home'), whom: 'gate', to: this.addressesOf('gate') },
      { who: 'friend', from: this.placeOf('friend'), whom: 'gate', to: this.addressesOf('gate') },
      { who: 'node', from: node?.place ?? this.placeOf('home'), whom: 'gate', to: this.addressesOf('gate') },
      { who: 'gate', from: this.placeOf('gate'), whom: 'outside', to: outside },
      { who: 'left', from: this.placeOf('left'), whom: 'right-2', to: this.addressesOf('right-2') },
    ]
    return ends.flatMap(({ who, from, whom, to }) =>
      to.map((address) => ({
        name: `${who} to ${whom} ${address}`,
        from,
        address,
        dataPaths: this.#machines,
      })),
    )
  }

  /** From a subnet that no list names. */
  strangerPaths(): readonly WatchedPath[] {
    const from = this.placeOf('stranger')
    return this.addressesOf('gate').map((address) => ({
      ...{ name: `stranger to gate ${address}`, from, address },
      dataPaths: this.#machines,
    }))
  }

  editSubnet(name: Name, spec: object): Promise<unknown> {
    return this.#cluster.api.mergePatch(`${subnets}/${subnetName(name)}`, { spec })
  }

  editVpc(edit: object): Promise<unknown> {
    return this.#cluster.api.mergePatch(`${vpcs}/${vpc}`, edit)
  }

  /** What becomes of a connection from a pod to the gate: `reached`, or why it is not; a family each. */
  async gateAnswers(pod: string): Promise<readonly string[]> {
    const outcomes = await askHere(
      this.addressesOf('gate').map((target) => ({
        netns: namespaceOf(this.placeOf(pod)),
        target,
        port: servedPort,
        protocol: 'tcp',
        isOurs: false,
        timeoutMs: 400,
      })),
    )
    return outcomes.map((outcome) => (outcome.kind === 'lost' ? outcome.reason : outcome.kind))
  }

  /** The nodes as whose packets of a pod the outside host sees its own; `nobody` where nothing comes back. */
  async leavesBy(pod: string): Promise<readonly string[]> {
    const targets = ofStack(this.#cluster.topology.stack, this.#cluster.outside.addresses)
    const sources = await Promise.all(
      targets.map((target) => askSourceAddress(this.placeOf(pod), target, outsidePort)),
    )
    return sources.map((source) => {
      if (source === undefined) return 'nobody'
      const found = this.#cluster.nodes.find(({ kubernetes, physical }) =>
        [kubernetes, physical].some(({ ipv4, ipv6 }) => source === ipv4 || source === ipv6),
      )
      return found?.name ?? source
    })
  }

  /** Who answered a pod at the address that no Subnet has, in each family, when asked so many times; `nobody` among them where one got no answer. */
  async behindAnswers(pod: string, times: number): Promise<readonly string[]> {
    const pages = await Promise.all(
      ofStack(this.#cluster.topology.stack, behind).flatMap((address) =>
        Array.from({ length: times }, async () => {
          const page = await fetchText(this.placeOf(pod), address, servedPort)
          return `${address} ${page ?? 'nobody'}`
        }),
      ),
    )
    return [...new Set(pages)].toSorted()
  }

  addressesOf(pod: string): readonly string[] {
    return (this.#pod(pod).status?.podIPs ?? []).map(({ ip }) => ip)
  }

  placeOf(pod: string): ReturnType<typeof placeOf> {
    return placeOf(this.#cluster, this.#pod(pod))
  }

  get #machines(): NonNullable<WatchedPath['dataPaths']> {
    return this.#cluster.nodes.map(({ name }) => machineOf(this.#cluster, name))
  }

  #pod(name: string): PodObject {
    return this.#pods.get(name) ?? expect.unreachable(`${name} was waited for`)
  }
}

function subnetName(name: Name): string {
  return `edits-${name}`
}

const networks: readonly ApiObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
  { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name: vpc } },
  ...Object.entries(prefixes).map(
    ([name, { ipv4, ipv6 }]): ApiObject =>
      ({
        apiVersion: 'kubeovn.io/v1',
        kind: 'Subnet',
        metadata: { name: subnetName(name as Name) },
        spec: {
          cidrBlock: `${ipv4},${ipv6}`,
          ...(apart.includes(name as Name) ? { vpc } : { natOutgoing: true }),
        },
      }) as ApiObject,
  ),
]

/** Serves its name. */
function resident(name: string, subnet: Name, node: string): ApiObject {
  const page = 'mkdir -p /www && hostname > /www/index.html'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { app: 'resident' },
      annotations: { 'ovn.kubernetes.io/logical_switch': subnetName(subnet) },
    },
    spec: {
      terminationGracePeriodSeconds: 0,
      nodeSelector: { 'kubernetes.io/hostname': node },
      containers: [
        {
          name: 'main',
          image: 'docker.io/library/busybox:stable',
          command: ['sh', '-c', `${page} && exec busybox httpd -f -p ${servedPort} -h /www`],
        },
      ],
    },
  } as ApiObject
}
