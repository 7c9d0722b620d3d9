import { refusalOf, type KubeOvnError } from '@kube-ovn/errors'
import { familyOf, parseCidr, parseIp, type Cidr, type Family, type Ip } from '@kube-ovn/ip'
import type { SecurityGroup, SecurityGroupRule } from '@kube-ovn/kube-api'
import type { Transport } from '@kube-ovn/ovn-match'
import type { PolicyDirection } from '@kube-ovn/ovn-names'
import { PolicyInvalidError } from './errors.ts'
import { isKnown, securityGroupFields } from './known-fields.ts'
import { isPort } from './ports.ts'
import type { PortRange, SecurityAction, SecurityRule } from './security-rule.ts'
import { strictest } from './strictest-rules.ts'
import { notingProblems } from './tried.ts'

/** What a SecurityGroup says, read once. */
export interface ParsedSecurityGroup {
  /** Absent where it has none that there is: then no rule is in effect. */
  readonly tier: 0 | 1 | undefined
  /** Directions in which members may talk to each other. */
  readonly sameGroup: readonly PolicyDirection[]
  readonly rules: Readonly<Record<PolicyDirection, readonly SecurityRule[]>>
  /** Parts that have no effect. None of them allows more than the group says. */
  readonly problems: readonly KubeOvnError[]
}

/** Why a direction, or both, are not in effect as they are written: each problem names a field of the direction, or of the whole. */
export function isSyncedIn(
  direction: PolicyDirection,
  problems: readonly Pick<KubeOvnError, 'details'>[],
): boolean {
  const other = `spec.${direction === 'ingress' ? 'egress' : 'ingress'}Rules`
  return problems.every(({ details }) => String((details as { field?: string }).field).startsWith(other))
}

/**
 * Reads a SecurityGroup.
 *
 * What a rule that can not be read may have forbidden is not allowed by those behind it. Of rules of one priority that may be about the
 * same packet, which OVN would take in any order, the strictest is in effect.
 *
 * @see ovn-nb(5), ACL, priority
 */
export function parseSecurityGroup({ spec = {} }: Pick<SecurityGroup, 'spec'>): ParsedSecurityGroup {
  const { tier = 0, ingressRules = [], egressRules = [], allowSameGroupTraffic = false } = spec
  const problems: KubeOvnError[] = []
  const known = tier === 0 || tier === 1 ? tier : undefined
  if (known === undefined) {
    const cure = 'write 0 or 1; until then its members may do nothing'
    problems.push(new PolicyInvalidError({ field: 'spec.tier', value: String(tier), cure }))
  }
  const isSpecKnown = isKnown(spec, securityGroupFields.spec, {
    ...{ field: 'spec', tried: notingProblems(problems) },
    until: 'until then it only drops',
  })
  const readAll = (direction: PolicyDirection, rules: readonly SecurityGroupRule[]): Readable => {
    const read = readRules(rules, `spec.${direction}Rules`, known ?? 0)
    problems.push(...read.problems)
    if (isSpecKnown) return read
    return { ...read, rules: read.rules.filter(({ action }) => action === 'drop'), isCut: true }
  }
  const ingress = readAll('ingress', ingressRules)
  const egress = readAll('egress', egressRules)
  if (known === undefined) return { tier: known, sameGroup: [], rules: { ingress: [], egress: [] }, problems }
  return {
    tier: known,
    sameGroup: allowSameGroupTraffic
      ? (['ingress', 'egress'] as const).filter((one) => !(one === 'ingress' ? ingress : egress).isCut)
      : [],
    rules: { ingress: ingress.rules, egress: egress.rules },
    problems,
  }
}

interface Readable {
  readonly rules: readonly SecurityRule[]
  /** Something may be forbidden of which nobody knows what. */
  readonly isCut: boolean
  readonly problems: readonly KubeOvnError[]
}

function readRules(given: readonly SecurityGroupRule[], field: string, tier: 0 | 1): Readable {
  const problems: KubeOvnError[] = []
  const tried = notingProblems(problems)
  const rules: SecurityRule[] = []
  let cut = Number.POSITIVE_INFINITY
  for (const [place, rule] of given.entries()) {
    const at = `${field}[${place}]`
    const { action, problem } = readAction(rule, at, tier)
    if (problem !== undefined) problems.push(problem)
    const isRuleKnown = isKnown(rule, securityGroupFields.rule, {
      field: at,
      until: untilReadable(rule),
      tried,
    })
    const read = tried(() => {
      if (action === undefined) throw new PolicyInvalidError(passProblem(at))
      return { ...readRule(rule, at), action }
    })
    if (isRuleKnown && read !== undefined) rules.push(read)
    else if (action !== 'allow-related') cut = Math.min(cut, isPriority(rule.priority) ? rule.priority : 0)
  }
  const before = rules.filter(({ action, priority }) => action !== 'allow-related' || priority < cut)
  const { kept, refused } = strictest(before)
  return { rules: kept, isCut: cut !== Number.POSITIVE_INFINITY, problems: [...problems, ...refused] }
}

/** Whatever is no word for anything else drops, as upstream has it. */
const drops: ReadonlySet<string | undefined> = new Set(['drop', 'deny'])

function readAction(
  { policy }: SecurityGroupRule,
  field: string,
  tier: 0 | 1,
): { readonly action: SecurityAction | undefined; readonly problem?: KubeOvnError } {
  if (policy === 'allow') return { action: 'allow-related' }
  if (policy === 'pass') return { action: tier === 0 ? 'pass' : undefined }
  if (drops.has(policy)) return { action: 'drop' }
  const cure = 'write allow, drop or pass; until then it drops'
  return {
    action: 'drop',
    problem: new PolicyInvalidError({ field: `${field}.policy`, value: policy ?? '', cure }),
  }
}

function passProblem(field: string): { field: string; value: string; cure: string } {
  const cure = `write allow or drop, as nothing comes after tier 1; ${cutText}`
  return { field: `${field}.policy`, value: 'pass', cure }
}

const cutText = 'until then nothing behind it is allowed'

function untilReadable({ policy }: SecurityGroupRule): string {
  return policy === 'allow' ? 'until then it allows nothing' : cutText
}

function readRule(rule: SecurityGroupRule, field: string): Omit<SecurityRule, 'action'> {
  const until = untilReadable(rule)
  const refuse = (name: keyof SecurityGroupRule, cure: string): never => {
    const value = rule[name] === undefined ? '' : String(rule[name])
    throw new PolicyInvalidError({ field: `${field}.${name}`, value, cure: `${cure}; ${until}` })
  }
  const { priority, ipVersion } = rule
  if (!isPriority(priority)) return refuse('priority', 'write a number from 1 to 16384')
  const family =
    ipVersion === 'ipv4' ? 4 : ipVersion === 'ipv6' ? 6 : refuse('ipVersion', 'write ipv4 or ipv6')
  const addressIn = (name: 'remoteAddress' | 'localAddress'): Ip | Cidr => {
    const address = readAddress(rule[name] ?? '', (cure) => refuse(name, cure))
    if (familyOfAddress(address) === family) return address
    return refuse(name, `write an address or prefix of ${ipVersion}, as ipVersion says`)
  }
  const remote = ((): SecurityRule['remote'] => {
    if (rule.remoteType === 'address') return { kind: 'address', address: addressIn('remoteAddress') }
    if (rule.remoteType !== 'securityGroup') return refuse('remoteType', 'write address or securityGroup')
    const { remoteSecurityGroup = '' } = rule
    if (remoteSecurityGroup === '') return refuse('remoteSecurityGroup', 'write the name of a SecurityGroup')
    return { kind: 'group', group: remoteSecurityGroup }
  })()
  const local = (rule.localAddress ?? '') === '' ? undefined : addressIn('localAddress')
  return { field, priority, family, remote, local, traffic: readTraffic(rule, local !== undefined, refuse) }
}

type Refuse = (name: keyof SecurityGroupRule, cure: string) => never

const transports: ReadonlySet<string> = new Set<Transport>(['tcp', 'udp', 'sctp'])

function isTransport(protocol: string): protocol is Transport {
  return transports.has(protocol)
}

function readTraffic(rule: SecurityGroupRule, hasLocal: boolean, refuse: Refuse): SecurityRule['traffic'] {
  const { protocol = '' } = rule
  if (protocol === '' || protocol === 'all') return { protocol: 'all' }
  if (protocol === 'icmp') return { protocol }
  if (!isTransport(protocol)) return refuse('protocol', 'write all, icmp, tcp, udp or sctp')
  const to = readRange(rule, 'portRangeMin', 'portRangeMax', refuse)
  const from = hasLocal ? readRange(rule, 'sourcePortRangeMin', 'sourcePortRangeMax', refuse) : undefined
  return { protocol, to, from }
}

function readRange(
  rule: SecurityGroupRule,
  first: 'portRangeMin' | 'sourcePortRangeMin',
  last: 'portRangeMax' | 'sourcePortRangeMax',
  refuse: Refuse,
): PortRange {
  const [from, to] = [rule[first], rule[last]]
  if (!isPort(from)) return refuse(first, 'write a number from 1 to 65535')
  if (!isPort(to) || to < from) return refuse(last, `write a number from ${first} to 65535`)
  return [from, to]
}

const lowestPriority = 16_384

function isPriority(priority: number | undefined): priority is number {
  return priority !== undefined && Number.isInteger(priority) && priority > 0 && priority <= lowestPriority
}

function readAddress(text: string, refuse: (cure: string) => never): Ip | Cidr {
  try {
    return text.includes('/') ? parseCidr(text) : parseIp(text)
  } catch (error) {
    return refuse(refusalOf(error).cure)
  }
}

function familyOfAddress(address: Ip | Cidr): Family {
  return typeof address === 'object' ? address.family : familyOf(address)
}
