import type { Lease, Node, Pod } from '@kube-ovn/kube'
import type { Subnet, Vpc } from '@kube-ovn/kube-api'
import type { ControllerState } from '../controller-state.ts'
import type { ClusterFacts, Workload } from '../facts.ts'
import { ageText } from './age-text.ts'
import { ledNames, leadersOf, type Leaders } from './leaders.ts'
import { slowPods, type SlowPod } from './slow-pods.ts'

export interface ComponentView {
  readonly name: string
  readonly ready: number
  readonly wanted: number
  readonly restarts: number
  readonly version: string
}

export interface NodeView {
  readonly name: string
  readonly isReady: boolean
  /** Both Open vSwitch and the agent. */
  readonly isNetworkReady: boolean
  readonly pods: number
  /** Of the network of pods, and not running though they should be. */
  readonly waiting: number
}

export interface SubnetView {
  readonly name: string
  readonly vpc: string
  readonly cidr: string
  readonly gateway: string
  readonly used: number
  /** Of the family that has least left, in percent; none where nothing is counted. */
  readonly percentUsed: number | undefined
  readonly isReady: boolean
}

export interface Problem {
  readonly object: string
  readonly what: string
  readonly cure: string
}

/** The state of the whole, for people and programs. */
export interface StatusView {
  readonly isHealthy: boolean
  /** Of kube-ovn-controller. */
  readonly leader: string | undefined
  /** Of OVN. */
  readonly leaders: Leaders
  /** None where it does not answer, or may not be asked. */
  readonly controller: ControllerState | undefined
  readonly components: readonly ComponentView[]
  readonly nodes: readonly NodeView[]
  readonly subnets: readonly SubnetView[]
  /** Those that wait for their network, and those that started in the last hour and had to. */
  readonly slowPods: readonly SlowPod[]
  readonly problems: readonly Problem[]
}

/** Names of the Deployments and DaemonSets of the product, those last that need not be there. */
const componentNames = [
  'ovn-central',
  'kube-ovn-controller',
  'ovs-ovn',
  'kube-ovn-cni',
  'kube-ovn-monitor',
  'kube-ovn-pinger',
  'kube-ovn-speaker',
] as const
const required: ReadonlySet<string> = new Set(componentNames.slice(0, 4))

/** How long a pod may take to run before it counts as stuck, and a lease to be renewed before nobody holds it. */
const patienceMs = 60_000

/** Tells the state of the whole from what there is. */
export function statusView(facts: ClusterFacts, nowMs: number): StatusView {
  const components = componentViews(facts)
  const podsOf = Map.groupBy(facts.pods, ({ spec }) => spec.nodeName)
  const nodes = facts.nodes
    .map((node) => nodeView(node, podsOf.get(node.metadata.name) ?? [], facts.namespace))
    .toSorted(byName)
  const subnets = facts.subnets.map(subnetView).toSorted(byName)
  const leader = leaderOf(facts, nowMs)
  const leaders = leadersOf(facts.pods, facts.namespace)
  const problems = [
    ...componentProblems(components, facts),
    ...leaderProblems(leaders, components, facts.namespace),
    ...(leader === undefined ? [noLeader(facts)] : []),
    ...nodes.flatMap((node) => nodeProblems(node, facts.namespace)),
    ...facts.subnets.toSorted(byObjectName).flatMap(subnetProblems),
    ...facts.vpcs.toSorted(byObjectName).flatMap((vpc) => conditionProblems('Vpc', vpc)),
    ...facts.pods.flatMap((pod) => stuckProblems(pod, nowMs)),
    ...controllerProblems(facts),
  ]
  const { controller } = facts
  const slow = slowPods(facts.pods, nowMs)
  return {
    isHealthy: problems.length === 0,
    ...{ leader, leaders, controller, components, nodes, subnets, slowPods: slow, problems },
  }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name.localeCompare(b.name)
}

function byObjectName(
  a: { readonly metadata: { readonly name: string } },
  b: { readonly metadata: { readonly name: string } },
): number {
  return byName(a.metadata, b.metadata)
}

function componentViews({ workloads, pods, namespace }: ClusterFacts): readonly ComponentView[] {
  const ofNamespace = pods.filter(({ metadata }) => metadata.namespace === namespace)
  return componentNames.flatMap((name) => {
    const workload = workloads.find(({ metadata }) => metadata.name === name)
    if (workload === undefined) return []
    const own = ofNamespace.filter(({ metadata }) => isOf(metadata, name))
    const images = own.flatMap(({ spec }) => spec.containers[0]?.image ?? [])
    return [{ name, ...countsOf(workload), restarts: restartsOf(own), version: versionsOf(images) }]
  })
}

/** Pods of Deployments and DaemonSets are named after these. */
function isOf({ name, ownerReferences = [] }: Pod['metadata'], workload: string): boolean {
  return (
    name.startsWith(`${workload}-`) &&
    ownerReferences.some(({ name }) => name === workload || name.startsWith(`${workload}-`))
  )
}

function countsOf({ spec, status }: Workload): { readonly ready: number; readonly wanted: number } {
  return {
    ready: status?.numberReady ?? status?.readyReplicas ?? 0,
    wanted: status?.desiredNumberScheduled ?? spec?.replicas ?? 1,
  }
}

function restartsOf(pods: readonly Pod[]): number {
  const counts = pods.flatMap(({ status }) => status?.containerStatuses ?? [])
  return counts.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0)
}

/** The tags of images, without digests. */
function versionsOf(images: readonly string[]): string {
  const tags = images.map((image) => /:([^:/@]+)(@.*)?$/.exec(image)?.[1] ?? 'latest')
  return [...new Set(tags)].toSorted().join(',')
}

function leaderOf({ lease }: ClusterFacts, nowMs: number): string | undefined {
  return isLeaseHeld(lease, nowMs) ? lease?.spec?.holderIdentity : undefined
}

export function isLeaseHeld(lease: Lease | undefined, nowMs: number): boolean {
  const { holderIdentity = '', renewTime = '' } = lease?.spec ?? {}
  return holderIdentity !== '' && nowMs - Date.parse(renewTime) < patienceMs
}

/** Of nodes, pods and our own kinds. */
interface Conditioned {
  readonly status?:
    | {
        readonly conditions?:
          readonly { readonly type?: string | undefined; readonly status?: string | undefined }[] | undefined
      }
    | undefined
}

export function isReady(object: Conditioned): boolean {
  return object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

function nodeView(node: Node, own: readonly Pod[], namespace: string): NodeView {
  const { name } = node.metadata
  const runs = (app: string): boolean =>
    own.some(
      (pod) => pod.metadata.namespace === namespace && pod.metadata.labels?.['app'] === app && isReady(pod),
    )
  return {
    name,
    isReady: isReady(node),
    isNetworkReady: runs('ovs') && runs('kube-ovn-cni'),
    pods: own.length,
    waiting: own.filter((pod) => pod.status?.phase === 'Pending' && pod.spec.hostNetwork !== true).length,
  }
}

function subnetView({ metadata: { name }, spec = {}, status = {} }: Subnet): SubnetView {
  const families = [
    { using: Number(status.v4usingIPs ?? 0), available: Number(status.v4availableIPs ?? 0) },
    { using: Number(status.v6usingIPs ?? 0), available: Number(status.v6availableIPs ?? 0) },
  ]
  const shares = families.flatMap(({ using, available }) =>
    using + available > 0 ? [(100 * using) / (using + available)] : [],
  )
  return {
    name,
    vpc: spec.vpc ?? '',
    cidr: spec.cidrBlock ?? '',
    gateway: spec.gatewayType === 'centralized' ? status.activateGateway || 'centralized' : 'distributed',
    used: Math.max(...families.map(({ using }) => using)),
    percentUsed: shares.length === 0 ? undefined : Math.max(...shares),
    isReady: isReady({ status }),
  }
}

function componentProblems(
  components: readonly ComponentView[],
  { namespace }: ClusterFacts,
): readonly Problem[] {
  const present = new Set(components.map(({ name }) => name))
  const missing = [...required].filter((name) => !present.has(name))
  return [
    ...missing.map((name) => ({
      object: name,
      what: `is not in namespace ${namespace}`,
      cure: 'install the chart, or name its namespace with --system-namespace',
    })),
    ...components
      .filter(({ ready, wanted }) => ready < wanted)
      .map(({ name, ready, wanted }) => ({
        object: name,
        what: `${ready} of ${wanted} ready`,
        cure: `kubectl -n ${namespace} get pods -o wide | grep ${name}`,
      })),
  ]
}

function noLeader({ namespace }: ClusterFacts): Problem {
  return {
    object: 'kube-ovn-controller',
    what: 'nobody leads: changes wait',
    cure: `kubectl -n ${namespace} logs -l app=kube-ovn-controller --tail=50`,
  }
}

/** Of databases that are not there it is said already. */
function leaderProblems(
  leaders: Leaders,
  components: readonly ComponentView[],
  namespace: string,
): readonly Problem[] {
  if (!components.some(({ name, ready }) => name === 'ovn-central' && ready > 0)) return []
  return (['nb', 'sb', 'northd'] as const)
    .filter((led) => leaders[led] === undefined)
    .map((led) => ({
      object: 'ovn-central',
      what: `nobody leads ${ledNames[led]}`,
      cure: `kubectl ko ${led === 'northd' ? 'nb' : led} dbstatus; kubectl -n ${namespace} get pods -l app=ovn-central --show-labels`,
    }))
}

function controllerProblems({ controller, namespace }: ClusterFacts): readonly Problem[] {
  if (controller === undefined) return []
  const { longestSeconds, orphansHeld } = controller
  const cure = `kubectl -n ${namespace} logs -l app=kube-ovn-controller --tail=50`
  return [
    ...(longestSeconds * 1000 < patienceMs
      ? []
      : [
          {
            object: 'kube-ovn-controller',
            what: `works on one key for ${ageText(longestSeconds * 1000)}`,
            cure,
          },
        ]),
    ...(orphansHeld === 0
      ? []
      : [
          {
            object: 'kube-ovn-controller',
            what: `holds the deletion of ${orphansHeld} rows that nobody owns: they are too many to be right`,
            cure,
          },
        ]),
  ]
}

function nodeProblems({ name, isReady, isNetworkReady }: NodeView, namespace: string): readonly Problem[] {
  if (!isReady)
    return [{ object: `Node ${name}`, what: 'is not ready', cure: `kubectl describe node ${name}` }]
  if (isNetworkReady) return []
  const cure = `kubectl -n ${namespace} get pods -o wide --field-selector spec.nodeName=${name}`
  return [
    { object: `Node ${name}`, what: 'Open vSwitch or the agent is not ready: no pod starts there', cure },
  ]
}

/** Above it an address may soon not be had. */
const nearlyFull = 95

function subnetProblems(subnet: Subnet): readonly Problem[] {
  const { name, percentUsed } = subnetView(subnet)
  const full =
    percentUsed !== undefined && percentUsed >= nearlyFull
      ? [
          {
            object: `Subnet ${name}`,
            what: `${percentUsed.toFixed(0)} % of its addresses are in use`,
            cure: 'bind namespaces to a further Subnet, or see what is left behind: kubectl ko ipam leaks',
          },
        ]
      : []
  return [...conditionProblems('Subnet', subnet), ...full]
}

function conditionProblems(kind: string, object: Subnet | Vpc): readonly Problem[] {
  const { name } = object.metadata
  const conditions = object.status?.conditions ?? []
  const failed = conditions.find(({ type, status }) => type === 'Error' && status === 'True')
  const ignored = conditions.find(({ type, status }) => type === 'FieldsIgnored' && status === 'True')
  const unready = conditions.find(({ type, status }) => type === 'Ready' && status === 'False')
  const told = failed ?? unready ?? ignored
  if (told === undefined) return []
  const what = told.message || told.reason || `${told.type ?? ''} is ${told.status ?? ''}`
  return [{ object: `${kind} ${name}`, what, cure: `kubectl describe ${kind.toLowerCase()} ${name}` }]
}

function stuckProblems({ metadata, spec, status }: Pod, nowMs: number): readonly Problem[] {
  const { namespace = '', name, creationTimestamp = '', deletionTimestamp } = metadata
  if (status?.phase !== 'Pending' || spec.hostNetwork === true || !spec.nodeName) return []
  if (deletionTimestamp !== undefined || nowMs - Date.parse(creationTimestamp) < patienceMs) return []
  // What has its sandbox has its network: it waits for images or volumes.
  const hasSandbox = status.conditions?.some(
    ({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True',
  )
  if (hasSandbox === true) return []
  return [
    {
      object: `Pod ${namespace}/${name}`,
      what: `has no network for ${ageText(nowMs - Date.parse(creationTimestamp))}`,
      cure: `kubectl ko why ${namespace}/${name}`,
    },
  ]
}
