import { networkPolicyAnnotations, primaryProvider } from '@kube-ovn/annotations'
import { refusalOf, type KubeOvnError } from '@kube-ovn/errors'
import { contains, parseCidr, tryParseCidr, type Cidr } from '@kube-ovn/ip'
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import type { LabelSelector } from '@kube-ovn/label-selector'
import type { PolicyDirection } from '@kube-ovn/ovn-names'
import { exceptionFlows, mostExceptionFlows, mostParts, partsOf } from './address-parts.ts'
import { PolicyInvalidError } from './errors.ts'
import { isPort, transports } from './ports.ts'
import type { AddressBlock, PolicyPort, PolicyRule, PolicyRules } from './rules.ts'
import { notingProblems, type Tried } from './tried.ts'

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
 * A direction is restricted when `policyTypes` says so; without that, ingress is, and egress where there are rules for it.
 *
 * @see networking.k8s.io/v1, NetworkPolicy
 */
export function parseNetworkPolicy({ metadata, spec = {} }: NetworkPolicy): ParsedNetworkPolicy {
  const problems: KubeOvnError[] = []
  const tried = notingProblems(problems)
  const types = spec.policyTypes ?? ['Ingress', ...((spec.egress ?? []).length > 0 ? ['Egress'] : [])]
  const ingress = (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
  const egress = (spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }))
  const read = (direction: PolicyDirection, rules: readonly GivenRule[]): readonly PolicyRule[] =>
    rules.map((rule, place) => readRule(rule, `spec.${direction}[${place}]`, direction, tried))
  const { annotations } = metadata
  const { enableLog, logActions, meterRate, enforcement, networks } = networkPolicyAnnotations
  const actions = tried(() => logActions.read(annotations)) ?? ['drop']
  const scope = tried(() => networks.read(annotations)) ?? []
  const providers = scope.flatMap((word) => tried(() => providerOf(word)) ?? [])
  return {
    subject: spec.podSelector ?? {},
    providers: scope.length === 0 ? undefined : providers,
    rules: {
      ...(types.includes('Ingress') ? { ingress: read('ingress', ingress) } : {}),
      ...(types.includes('Egress') ? { egress: read('egress', egress) } : {}),
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
  const [namespace = '', name = '', ...more] = word.split('/')
  if (namespace !== '' && name !== '' && more.length === 0) return `${name}.${namespace}.${primaryProvider}`
  throw new PolicyInvalidError({
    field: networkPolicyAnnotations.networks.key,
    value: word,
    cure: 'write ovn for the first network, or namespace/name of a NetworkAttachmentDefinition; it names no network',
  })
}

interface GivenRule {
  readonly peers: readonly NetworkPolicyPeer[] | undefined
  readonly ports: readonly NetworkPolicyPort[] | undefined
}

function enforcementOf(text: string | undefined): ParsedNetworkPolicy['enforcement'] {
  if (text === undefined) return undefined
  return text === 'lax' ? 'lax' : 'standard'
}

function readRule(
  { peers = [], ports = [] }: GivenRule,
  field: string,
  direction: PolicyDirection,
  tried: Tried,
): PolicyRule {
  const side = direction === 'ingress' ? 'from' : 'to'
  const blocks = peers.flatMap(({ ipBlock }, place) => {
    if (ipBlock === undefined) return []
    return tried(() => readBlock(ipBlock, `${field}.${side}[${place}].ipBlock`)) ?? []
  })
  const pods = peers.flatMap(({ ipBlock, podSelector, namespaceSelector }) =>
    ipBlock !== undefined || (podSelector ?? namespaceSelector) === undefined
      ? []
      : [{ pods: podSelector ?? {}, namespaces: namespaceSelector }],
  )
  const read = ports.flatMap((port, place) => tried(() => readPort(port, `${field}.ports[${place}]`)) ?? [])
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
  if (exceptionFlows(block) <= mostExceptionFlows || partsOf(block) !== undefined) return block
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
  const transport = transports[protocol]
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
