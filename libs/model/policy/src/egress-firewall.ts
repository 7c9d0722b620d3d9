import { refusalOf, type KubeOvnError } from '@kube-ovn/errors'
import { parseCidr, type Cidr } from '@kube-ovn/ip'
import { egressFirewallName, type EgressFirewall, type EgressFirewallRule } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/label-selector'
import { readDomainName, type NameService } from './domain-name.ts'
import { PolicyInvalidError } from './errors.ts'
import { FlowRoom, flowsAt, mostPolicyFlows } from './flow-budget.ts'
import { egressFirewallFields, isKnown } from './known-fields.ts'
import { isPort, transportOf } from './ports.ts'
import type { PolicyPort } from './rules.ts'
import { notingProblems, type Tried } from './tried.ts'
import { readSelector, type SelectorContext } from './unchecked-selector.ts'

/** What a rule does: what is allowed is left to all other policies. */
type FirewallAction = 'pass' | 'drop'

/** A rule of an EgressFirewall, read. */
export interface FirewallRule {
  readonly action: FirewallAction
  readonly to:
    | { readonly kind: 'prefix'; readonly prefix: Cidr }
    | { readonly kind: 'nodes'; readonly selector: LabelSelector }
    /** A DNS name as resolvers have it. */
    | { readonly kind: 'name'; readonly name: string }
    | { readonly kind: 'all' | 'nobody' }
  /** Absent where it is about all traffic. */
  readonly ports: readonly PolicyPort[] | undefined
}

/** What an EgressFirewall says, read once. */
export interface ParsedEgressFirewall {
  /** In the order in which they are asked. */
  readonly rules: readonly FirewallRule[]
  /** Parts that have no effect. None of them allows more than the firewall says. */
  readonly problems: readonly KubeOvnError[]
}

/** As many rules have a place of their own. */
export const mostFirewallRules = 8000

/**
 * Reads an EgressFirewall.
 *
 * What can not be read fails closed: a rule that allows is about nobody, one that denies is about everybody outside of the cluster. So does
 * one whose ports a node would have no room for: one that denies is about all ports.
 *
 * @see https://ovn-kubernetes.io/features/network-security-controls/egress-firewall/
 */
export function parseEgressFirewall(
  { metadata, spec }: Pick<EgressFirewall, 'metadata' | 'spec'>,
  names: NameService = { followsNames: false },
): ParsedEgressFirewall {
  if (metadata.name !== egressFirewallName) {
    const cure = `call it ${egressFirewallName}, the only one that counts in a namespace; until then nothing of it is in effect`
    const problem = new PolicyInvalidError({ field: 'metadata.name', value: metadata.name, cure })
    return { rules: [], problems: [problem] }
  }
  const problems: KubeOvnError[] = []
  const tried = notingProblems(problems)
  const given = listOf(spec?.egress)
  const isSpecKnown = isKnown(spec, egressFirewallFields.spec, {
    ...{ field: 'spec', tried },
    until: 'until then it allows nothing, and denies what it says',
  })
  const room = new FlowRoom()
  const rules = given
    .map((rule, at) => withRoom(readRule(rule, `spec.egress[${at}]`, { tried, ...names }), at, room, tried))
    .map((rule) => (isSpecKnown || rule.action === 'drop' ? rule : aboutNobody))
  if (rules.length <= mostFirewallRules) return { rules, problems }
  const cure = `write at most ${mostFirewallRules}; until then those behind them allow nothing, and deny what they say`
  tried(() => refuse('spec.egress', `${rules.length} rules`, cure))
  return {
    rules: rules.filter(({ action }, at) => at < mostFirewallRules || action === 'drop'),
    problems,
  }
}

/** A rule, or what is left of it where there is no room for its ports: without them it is one for each of at most {@link mostFirewallRules}. */
function withRoom(rule: FirewallRule, at: number, room: FlowRoom, tried: Tried): FirewallRule {
  if (rule.ports === undefined || rule.to.kind === 'nobody') return rule
  const flows = flowsAt(1, rule.ports)
  if (room.take(flows)) return rule
  const until =
    rule.action === 'pass' ? 'until then the rule allows nothing' : 'until then the rule denies all ports'
  const cure = `write fewer ports: those of all rules may come to ${mostPolicyFlows} on a node; ${until}`
  tried(() => refuse(`spec.egress[${at}].ports`, `${flows} OpenFlow rules`, cure))
  return rule.action === 'pass' ? aboutNobody : { ...rule, ports: undefined }
}

const aboutNobody: FirewallRule = { action: 'pass', to: { kind: 'nobody' }, ports: undefined }

interface RuleContext extends NameService {
  readonly tried: Tried
}

function readRule(
  rule: EgressFirewallRule | null,
  field: string,
  { tried, followsNames }: RuleContext,
): FirewallRule {
  const action = tried(() => readAction(rule?.type, field)) ?? 'drop'
  const until =
    action === 'pass'
      ? 'until then it allows nothing'
      : 'until then the rule denies everything outside of the cluster'
  const isRuleKnown = isKnown(rule, egressFirewallFields.rule, { field, until, tried })
  const to = tried(() => readDestination(rule?.to, { field: `${field}.to`, until, followsNames, tried }))
  const ports = listOf(rule?.ports).map((port, at) =>
    tried(() => readPort(port, `${field}.ports[${at}]`, until)),
  )
  const isWhole = isRuleKnown && to !== undefined && !ports.includes(undefined)
  if (!isWhole && action === 'drop') return { action, to: { kind: 'all' }, ports: undefined }
  if (!isRuleKnown) return aboutNobody
  return {
    action,
    to: to ?? { kind: 'nobody' },
    ports: ports.length === 0 ? undefined : ports.flatMap((port) => port ?? []),
  }
}

function readAction(type: string | undefined, field: string): FirewallAction {
  if (type === 'Allow') return 'pass'
  if (type === 'Deny') return 'drop'
  return refuse(`${field}.type`, type ?? '', 'write Allow or Deny; until then it denies')
}

/** `undefined` where a selector in it can not be read, which is told. */
function readDestination(
  to: EgressFirewallRule['to'] | null | undefined,
  about: NameService & SelectorContext & { readonly field: string },
): FirewallRule['to'] | undefined {
  const { field, until } = about
  const { cidrSelector, dnsName, nodeSelector } = to ?? {}
  const given = Object.entries({ cidrSelector, dnsName, nodeSelector }).filter(([, value]) => isThere(value))
  if (given.length !== 1) {
    const value = given.map(([name]) => name).join()
    return refuse(field, value, `write one of cidrSelector, dnsName and nodeSelector; ${until}`)
  }
  if (isThere(nodeSelector)) {
    const selector = readSelector(nodeSelector, `${field}.nodeSelector`, about)
    return selector && { kind: 'nodes', selector }
  }
  if (isThere(cidrSelector)) return { kind: 'prefix', prefix: readPrefix(cidrSelector, field, until) }
  return { kind: 'name', name: readDomainName(dnsName, { ...about, field: `${field}.dnsName` }) }
}

function readPrefix(text: string, field: string, until: string): Cidr {
  try {
    return parseCidr(text)
  } catch (error) {
    const cure = `${refusalOf(error).cure}; ${until}`
    throw new PolicyInvalidError({ field: `${field}.cidrSelector`, value: text, cure }, { cause: error })
  }
}

function readPort(
  port: { readonly protocol?: string; readonly port?: number } | null,
  field: string,
  until: string,
): PolicyPort {
  const transport = transportOf(port?.protocol ?? '')
  if (transport === undefined)
    return refuse(`${field}.protocol`, port?.protocol ?? '', `write TCP, UDP or SCTP; ${until}`)
  const number = port?.port
  if (isPort(number)) return { kind: 'numbers', protocol: transport, from: number, to: number }
  return refuse(
    `${field}.port`,
    number === undefined ? '' : String(number),
    `write a number from 1 to 65535; ${until}`,
  )
}

function refuse(field: string, value: string, cure: string): never {
  throw new PolicyInvalidError({ field, value, cure })
}

/** Definitions that were installed by others may know less of the fields. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  const list: unknown = value
  return value !== undefined && Array.isArray(list) ? value : []
}

function isThere<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}
