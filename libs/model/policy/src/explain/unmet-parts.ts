import { problemText, type KubeOvnError } from '@kube-ovn/errors'
import { matchesLabels, type Labels, type LabelSelector } from '@kube-ovn/label-selector'
import type { PolicyDirection } from '@kube-ovn/ovn-names'
import type { ParsedAdminPolicy } from '../admin-policy.ts'
import type { ParsedEgressFirewall } from '../egress-firewall.ts'
import type { ParsedNetworkPolicy } from '../network-policy.ts'
import type { PodSelection } from '../rules.ts'

/** A pod that policies can be for or about. */
export interface PolicyPod {
  readonly namespace: string
  readonly labels: Labels
  /** Networks in which it has a NIC, as their providers are called. */
  readonly providers: readonly string[]
  /** Those that have a name, with protocols as OVN names them. */
  readonly ports: readonly { readonly protocol: string; readonly name: string }[]
}

/** The world in which a policy is to be in effect. */
export interface PolicyWorld {
  /** Labels of each namespace, by its name. */
  readonly namespaces: ReadonlyMap<string, Labels>
  readonly pods: readonly PolicyPod[]
  /** Labels of each node. */
  readonly nodes: readonly Labels[]
}

/** A part of a policy that does nothing, and why. */
export interface UnmetPart {
  readonly field: string
  readonly what: string
}

/**
 * Which parts of a NetworkPolicy do nothing: those that can not be read, selectors without match, named ports that no pod has. Of one about certain
 * networks, a MultiNetworkPolicy for example, pods count that have a NIC there; networks are told in which no pod has any.
 */
export function unmetInNetworkPolicy(
  { subject, providers, rules, problems }: ParsedNetworkPolicy,
  namespace: string,
  everything: PolicyWorld,
): readonly UnmetPart[] {
  const own = { pods: subject, namespaces: undefined }
  const world = inNetworks(everything, providers)
  return [
    ...unread(problems),
    ...networksUnmet(providers ?? [], world),
    ...unmetRules(own, namespace, world, 'spec.podSelector', (direction) =>
      (rules[direction] ?? []).map(({ peers, ports = [] }) => ({
        ...{ pods: peers?.pods, nodes: [] },
        names: ports.flatMap((port) => (port.kind === 'named' ? [port] : [])),
      })),
    ),
  ]
}

/** The same of a policy of an administrator. */
export function unmetInAdminPolicy(
  { subject, rules, problems }: ParsedAdminPolicy,
  world: PolicyWorld,
): readonly UnmetPart[] {
  return [
    ...unread(problems),
    ...unmetRules(subject, '', world, 'spec.subject', (direction) =>
      rules[direction].map(({ peers, ports = [] }) => ({
        ...{ pods: peers.isAll ? undefined : peers.pods, nodes: peers.nodes },
        // A name is that of a port of any protocol.
        names: [...new Set(ports.flatMap((port) => (port.kind === 'named' ? [port.name] : [])))].map(
          (name) => ({
            name,
          }),
        ),
      })),
    ),
  ]
}

/** The same of an EgressFirewall. */
export function unmetInFirewall(
  { rules, problems }: ParsedEgressFirewall,
  namespace: string,
  world: PolicyWorld,
): readonly UnmetPart[] {
  const hasPods = world.pods.some((pod) => pod.namespace === namespace)
  return [
    ...unread(problems),
    ...(hasPods ? [] : [{ field: 'metadata.namespace', what: 'has no pod that it could be for' }]),
    ...rules.flatMap(({ to }, at) =>
      to.kind === 'nodes' ? nodesUnmet([to.selector], `spec.egress[${at}].to.nodeSelector`, world) : [],
    ),
  ]
}

function inNetworks(world: PolicyWorld, providers: readonly string[] | undefined): PolicyWorld {
  if (providers === undefined) return world
  return { ...world, pods: world.pods.filter((pod) => pod.providers.some((one) => providers.includes(one))) }
}

function networksUnmet(providers: readonly string[], { pods }: PolicyWorld): readonly UnmetPart[] {
  return providers
    .filter((provider) => !pods.some((pod) => pod.providers.includes(provider)))
    .map((provider) => ({
      field: 'metadata.annotations',
      what: `no pod has a NIC of the network ${provider}`,
    }))
}

function unread(problems: readonly KubeOvnError[]): readonly UnmetPart[] {
  return problems.map((problem) => {
    const { field } = problem.details as { readonly field?: unknown }
    return { field: typeof field === 'string' ? field : 'spec', what: problemText(problem) }
  })
}

interface Rule {
  /** Absent where it is about everybody. */
  readonly pods: readonly PodSelection[] | undefined
  readonly nodes: readonly LabelSelector[]
  /** Named ports. */
  readonly names: readonly { readonly name: string; readonly protocol?: string }[]
}

/** @param namespace of the policy; empty where selections name theirs */
function unmetRules(
  subject: PodSelection | undefined,
  namespace: string,
  world: PolicyWorld,
  subjectField: string,
  rulesIn: (direction: PolicyDirection) => readonly Rule[],
): readonly UnmetPart[] {
  const select = (selection: PodSelection): readonly PolicyPod[] => selected(selection, namespace, world)
  const subjects = subject === undefined ? [] : select(subject)
  const ofRules = (['ingress', 'egress'] as const).flatMap((direction) =>
    rulesIn(direction).flatMap(({ pods, nodes, names }, at) => {
      const field = `spec.${direction}[${at}]`
      const end = direction === 'ingress' ? 'from' : 'to'
      const peers = pods?.flatMap(select)
      // A port's name is the server's: for egress the peers', or those of the policy's namespace where it is about everybody.
      const around = world.pods.filter((pod) => namespace === '' || pod.namespace === namespace)
      const servers = direction === 'ingress' ? subjects : (peers ?? around)
      return [
        ...(pods ?? [])
          .filter((selection) => select(selection).length === 0)
          .map((selection) => ({ field: `${field}.${end}`, what: `${textOf(selection)} selects no pod` })),
        ...nodesUnmet(nodes, `${field}.${end}`, world),
        ...namesUnmet(names, `${field}.ports`, servers),
      ]
    }),
  )
  return subjects.length > 0 || subject === undefined
    ? ofRules
    : [{ field: subjectField, what: `${textOf(subject)} selects no pod: it is for nobody` }, ...ofRules]
}

function selected({ pods, namespaces }: PodSelection, own: string, world: PolicyWorld): readonly PolicyPod[] {
  return world.pods.filter(
    ({ namespace, labels }) =>
      (namespaces === undefined
        ? namespace === own
        : matchesLabels(namespaces, world.namespaces.get(namespace) ?? {})) && matchesLabels(pods, labels),
  )
}

function nodesUnmet(
  selectors: readonly LabelSelector[],
  field: string,
  world: PolicyWorld,
): readonly UnmetPart[] {
  return selectors
    .filter((selector) => !world.nodes.some((labels) => matchesLabels(selector, labels)))
    .map((selector) => ({ field, what: `${JSON.stringify(selector)} selects no node` }))
}

function namesUnmet(
  names: Rule['names'],
  field: string,
  servers: readonly PolicyPod[],
): readonly UnmetPart[] {
  return names.flatMap(({ name, protocol }) => {
    const isThere = servers.some((pod) =>
      pod.ports.some((one) => one.name === name && (protocol === undefined || one.protocol === protocol)),
    )
    const ofProtocol = protocol === undefined ? '' : ` of ${protocol.toUpperCase()}`
    return isThere ? [] : [{ field, what: `no pod has a port ${name}${ofProtocol}` }]
  })
}

function textOf({ pods, namespaces }: PodSelection): string {
  const own = JSON.stringify(pods)
  return namespaces === undefined ? own : `${own} in namespaces ${JSON.stringify(namespaces)}`
}
