import {
  multiNetworkPolicyAnnotations,
  networkPolicyAnnotations,
  primaryProvider,
} from '@kube-ovn/annotations'
import { refusalOf, type KubeOvnError } from '@kube-ovn/errors'
import { contains, parseCidr, tryParseCidr, type Cidr } from '@kube-ovn/ip'
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import type { MultiNetworkPolicy } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/label-selector'
import type { PolicyDirection } from '@kube-ovn/ovn-names'
import { exceptionFlows, mostExceptionFlows, mostParts, mostPartsOf, partsOf } from './address-parts.ts'
import { PolicyInvalidError } from './errors.ts'
import { FlowRoom, flowsOfRule, mostPolicyFlows } from './flow-budget.ts'
import { isPort, transportOf } from './ports.ts'
import type { AddressBlock, PolicyPort, PolicyRule, PolicyRules } from './rules.ts'
import { notingProblems, type Tried } from './tried.ts'
import { readUnchecked, type GivenPolicy, type GivenRule } from './unchecked-policy.ts'

/** What a NetworkPolicy says, read once. */
export interface ParsedNetworkPolicy {
  readonly subject: LabelSelector
  /** Providers of the NICs that it is about, its peers' as well; absent where it is about all. */
  readonly providers: readonly string[] | undefined
  readonly rules: PolicyRules
  /** Absent where the controller's flag decides. */
  readonly enforcement: 'standard' | 'lax' | undefined
  readonly log: {
    readonly isOn: boolean
    readonly logsAllowed: boolean
    /** Packets a second; absent for no bound. */
    readonly rate: number | undefined
  }
  /** Parts that have no effect. None of them allows more than the policy says. */
  readonly problems: readonly KubeOvnError[]
}

/**
 * Reads a NetworkPolicy.
 *
 * A direction is restricted when `policyTypes` says so; without that, ingress is, and egress where there are rules for it. An API server made sure of
 * it, but that may be of a newer version, which knows fields, operators and types that are not known here.
 *
 * @see networking.k8s.io/v1, NetworkPolicy
 */
export function parseNetworkPolicy(object: NetworkPolicy): ParsedNetworkPolicy {
  const problems: KubeOvnError[] = []
  const given = readUnchecked(object.spec, notingProblems(problems))
  return parsePolicy(object.metadata, given, problems, (tried) => {
    const scope = tried(() => networkPolicyAnnotations.networks.read(object.metadata.annotations)) ?? []
    const providers = scope.flatMap((word) => tried(() => providerOf(word)) ?? [])
    return scope.length === 0 ? undefined : providers
  })
}

/**
 * Reads a MultiNetworkPolicy. One that names no network is about none. Whatever is written, it is read: what is none of a policy is told, and allows nothing.
 *
 * @see https://github.com/k8snetworkplumbingwg/multi-networkpolicy
 */
export function parseMultiNetworkPolicy(object: MultiNetworkPolicy): ParsedNetworkPolicy {
  const { networks } = multiNetworkPolicyAnnotations
  const { annotations, namespace = '' } = object.metadata
  const problems: KubeOvnError[] = []
  const given = readUnchecked(object.spec, notingProblems(problems))
  return parsePolicy(object.metadata, given, problems, (tried) => {
    const words = tried(() => networks.read(annotations)) ?? []
    if (words.length === 0)
      tried(() => {
        throw new PolicyInvalidError({
          field: networks.key,
          value: annotations?.[networks.key] ?? '',
          cure: 'write names of NetworkAttachmentDefinitions; until then it is about no network',
        })
      })
    return words.flatMap((word) => tried(() => attachmentProvider(word, namespace, networks.key)) ?? [])
  })
}

/** @param problems those that are known before */
function parsePolicy(
  { annotations }: NetworkPolicy['metadata'],
  { subject, restricted, rules }: GivenPolicy,
  problems: KubeOvnError[],
  providersOf: (tried: Tried) => readonly string[] | undefined,
): ParsedNetworkPolicy {
  const tried = notingProblems(problems)
  const read = (direction: PolicyDirection): readonly PolicyRule[] => {
    const room = new FlowRoom()
    return rules[direction].map((rule, place) => {
      const field = `spec.${direction}[${place}]`
      const parsed = readRule(rule, field, direction, tried)
      const flows = flowsOfRule(parsed)
      if (room.take(flows)) return parsed
      return tried(() => tooMany(field, flows)) ?? { ...parsed, peers: { pods: [], blocks: [] } }
    })
  }
  const { enableLog, logActions, meterRate, enforcement } = networkPolicyAnnotations
  const actions = tried(() => logActions.read(annotations)) ?? ['drop']
  return {
    subject,
    providers: providersOf(tried),
    rules: {
      ...(restricted.includes('ingress') ? { ingress: read('ingress') } : {}),
      ...(restricted.includes('egress') ? { egress: read('egress') } : {}),
    },
    enforcement: enforcementOf(enforcement.read(annotations)),
    log: {
      isOn: enableLog.read(annotations) ?? false,
      logsAllowed: actions.includes('allow'),
      rate: tried(() => meterRate.read(annotations)),
    },
    problems,
  }
}

/** A network as the annotation names it: `ovn` for the first one, else by namespace and name of what attaches to it. */
function providerOf(word: string): string {
  if (word.toLowerCase() === primaryProvider) return primaryProvider
  const cure =
    'write ovn for the first network, or namespace/name of a NetworkAttachmentDefinition; it names no network'
  return attachmentProvider(word, undefined, networkPolicyAnnotations.networks.key, cure)
}

/** The provider of an attachment. @param own the namespace of one that is named without */
function attachmentProvider(
  word: string,
  own: string | undefined,
  field: string,
  cure = 'write namespace/name of a NetworkAttachmentDefinition, or name of one in the own namespace; it names no network',
): string {
  const parts = word.split('/')
  const [namespace = '', name = ''] = parts.length === 1 && own !== undefined ? [own, ...parts] : parts
  if (namespace !== '' && name !== '' && parts.length <= 2) return `${name}.${namespace}.${primaryProvider}`
  throw new PolicyInvalidError({ field, value: word, cure })
}

function enforcementOf(text: string | undefined): ParsedNetworkPolicy['enforcement'] {
  if (text === undefined) return undefined
  return text === 'lax' ? 'lax' : 'standard'
}

/** Nobody is a peer of a rule that a node would have no room for. */
function tooMany(field: string, flows: number): never {
  const cure = `write fewer peers or ports, or ranges of these: all rules of a direction may come to ${mostPolicyFlows} on a node; until then it allows nothing`
  throw new PolicyInvalidError({ field, value: `${flows} OpenFlow rules`, cure })
}

function readRule(
  { peers = [], ports = [] }: GivenRule,
  field: string,
  direction: PolicyDirection,
  tried: Tried,
): PolicyRule {
  const side = direction === 'ingress' ? 'from' : 'to'
  const blocks = peers.flatMap((peer, place) => {
    const ipBlock = peer?.ipBlock
    if (ipBlock === undefined) return []
    return tried(() => readBlock(ipBlock, `${field}.${side}[${place}].ipBlock`)) ?? []
  })
  const pods = peers.flatMap(({ ipBlock, podSelector, namespaceSelector } = {}) =>
    ipBlock !== undefined || (podSelector ?? namespaceSelector) === undefined
      ? []
      : [{ pods: podSelector ?? {}, namespaces: namespaceSelector }],
  )
  const read = ports.flatMap((port, place) =>
    port === undefined ? [] : (tried(() => readPort(port, `${field}.ports[${place}]`)) ?? []),
  )
  return {
    peers: peers.length === 0 ? undefined : { pods, blocks },
    ports: ports.length === 0 ? undefined : read,
  }
}

/** A block of which an exception can not be read counts for nothing: it would allow what is excepted. */
function readBlock(
  { cidr, except = [] }: NonNullable<NetworkPolicyPeer['ipBlock']>,
  field: string,
): AddressBlock {
  const prefix = refused(`${field}.cidr`, cidr, () => parseCidr(cidr))
  const excepted = except.map((text, place): Cidr => {
    const inner = tryParseCidr(text)
    if (inner !== undefined && isInside(inner, prefix)) return inner
    const cure = `write a prefix inside of ${cidr}, like the block has; until then the block allows nothing`
    throw new PolicyInvalidError({ field: `${field}.except[${place}]`, value: text, cure })
  })
  const block = { prefix, except: excepted }
  const hasRoom = exceptionFlows(block) <= mostExceptionFlows || mostPartsOf(block) <= mostParts
  if (hasRoom || partsOf(block) !== undefined) return block
  const cure = `write fewer exceptions, so that at most ${mostParts} prefixes are left; until then the block allows nothing`
  throw new PolicyInvalidError({ field: `${field}.except`, value: `${except.length} exceptions`, cure })
}

function isInside(inner: Cidr, outer: Cidr): boolean {
  return inner.prefixLength >= outer.prefixLength && contains(outer, inner.network)
}

function refused<T>(field: string, value: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new PolicyInvalidError({ field, value, cure: refusalOf(error).cure }, { cause: error })
  }
}

function readPort({ protocol = 'TCP', port, endPort }: NetworkPolicyPort, field: string): PolicyPort {
  const transport = transportOf(protocol)
  if (transport === undefined) {
    const cure = 'write TCP, UDP or SCTP; until then the port allows nothing'
    throw new PolicyInvalidError({ field: `${field}.protocol`, value: protocol, cure })
  }
  if (port === undefined) return { kind: 'any', protocol: transport }
  if (typeof port === 'string') {
    if (endPort === undefined) return { kind: 'named', protocol: transport, name: port }
    const cure = 'write port as a number beside it; until then the port allows nothing'
    throw new PolicyInvalidError({ field: `${field}.endPort`, value: String(endPort), cure })
  }
  const to = endPort ?? port
  if (isPort(port) && isPort(to) && port <= to)
    return { kind: 'numbers', protocol: transport, from: port, to }
  const cure = 'write numbers from 1 to 65535, endPort not below port; until then the port allows nothing'
  throw new PolicyInvalidError({ field: `${field}.port`, value: `${port}-${to}`, cure })
}
