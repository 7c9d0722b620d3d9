import { networkText, type Cidr, type Family } from '@kube-ovn/ip'
import {
  and,
  anyIp,
  ipDestination,
  ipSource,
  ipSourceSet,
  or,
  printMatch,
  type Match,
} from '@kube-ovn/ovn-match'
import {
  aclName,
  aclPriority,
  aclTier,
  nodeAddressSetName,
  privateSubnetMeterName,
} from '@kube-ovn/ovn-names'
import { unlogged, type PolicyAcl } from './acl.ts'
import { passagesBefore } from './passages.ts'

/** A rule of a subnet, in the words of ovn-nb(5), ACL; its match has been read before. */
export type SubnetRule = Pick<PolicyAcl, 'direction' | 'priority' | 'match'> & {
  readonly action: Exclude<PolicyAcl['action'], 'pass'>
}

/** The share of one family in a subnet. */
interface SubnetShare {
  readonly family: Family
  readonly cidr: string
  /** Addresses of the nodes' ports of the network that nodes have in common, if these have this family. */
  readonly nodes: string | undefined
  /** From elsewhere, to be let in nevertheless. */
  readonly allowed: readonly Cidr[]
}

/** A subnet that does not let everything through. */
export interface SubnetIsolation {
  readonly subnet: string
  /** Drops what comes from elsewhere, but for nodes and what is allowed. */
  readonly isPrivate: boolean
  /** Whether nodes send to it by their own addresses. */
  readonly isReachedByNodes: boolean
  /** Lets its ports talk to each other whatever its rules say. */
  readonly allowsInside: boolean
  readonly rules: readonly SubnetRule[]
  readonly stopsOpenConnections: boolean
  /** Of what it drops because it is private, how many packets a second are logged; absent for all. */
  readonly logRate: number | undefined
  readonly families: readonly SubnetShare[]
}

export interface SubnetAcls {
  /** What a private subnet drops and lets in, by what each is about, e.g. `drop`, `own/4`, `allow/10.16.0.0/16`. */
  readonly own: ReadonlyMap<string, PolicyAcl>
  /** What users wrote, and what makes it hold. */
  readonly rules: readonly PolicyAcl[]
}

/** Computes the ACLs on the switch of a subnet. */
export function subnetAcls(isolation: SubnetIsolation): SubnetAcls {
  const own = new Map(isolation.isPrivate ? privateAcls(isolation) : [])
  const rules = ruleAcls(isolation)
  return { own, rules: [...rules, ...passages(isolation, [...own.values(), ...rules])] }
}

const plain = { ...unlogged, tier: aclTier.policy, isAfterBalancing: false } as const

/** Drops what comes in, but from the subnet itself, the nodes and what it allows. */
function privateAcls({
  subnet,
  families,
  isReachedByNodes,
  logRate,
}: SubnetIsolation): readonly (readonly [string, PolicyAcl])[] {
  const allow = (about: string, priority: number, match: Match): readonly [string, PolicyAcl] => [
    about,
    { ...plain, direction: 'to-lport', priority, match: printMatch(match), action: 'allow-related' },
  ]
  const drop: PolicyAcl = {
    ...{ ...plain, direction: 'to-lport', priority: aclPriority.privateDrop, match: printMatch(anyIp) },
    ...{ action: 'drop', name: aclName(subnet), isLogged: true, severity: 'warning' },
    meter: logRate === undefined ? undefined : privateSubnetMeterName(subnet),
  }
  const lets = families.flatMap(({ family, cidr, nodes, allowed }) => [
    allow(`own/${family}`, aclPriority.privateAllow, inside(cidr)),
    ...(nodes === undefined ? [] : [allow(`nodes/${family}`, aclPriority.nodes, ipSource(nodes))]),
    // What a node sends to pods has its own address as the source, not that of its ovn0. NetworkPolicies keep off other nodes than a pod's own.
    ...(isReachedByNodes
      ? [
          allow(
            `node-addresses/${family}`,
            aclPriority.privateAllow,
            ipSourceSet(family, nodeAddressSetName(family)),
          ),
        ]
      : []),
    ...allowed
      .map(networkText)
      .map((prefix) => allow(`allow/${prefix}`, aclPriority.privateAllow, between(cidr, prefix))),
  ])
  return [['drop', drop], ...lets]
}

function inside(cidr: string): Match {
  return and(ipSource(cidr), ipDestination(cidr))
}

function between(one: string, other: string): Match {
  return or(and(ipSource(one), ipDestination(other)), and(ipSource(other), ipDestination(one)))
}

/** What the user wrote, and what `allowsInside` adds where the user wrote nothing of the kind. */
function ruleAcls({ rules, allowsInside, families }: SubnetIsolation): readonly PolicyAcl[] {
  const written = new Set(rules.map(subnetRuleKey))
  const further = allowsInside && rules.length > 0 ? families.flatMap(({ cidr }) => eastWestRules(cidr)) : []
  return [...rules, ...further.filter((rule) => !written.has(subnetRuleKey(rule)))].map((rule) => ({
    ...plain,
    ...rule,
  }))
}

/** What tells one rule of a subnet from the others. */
export function subnetRuleKey({ direction, priority, match }: SubnetRule): string {
  return `${direction}/${priority}/${match}`
}

function eastWestRules(cidr: string): readonly SubnetRule[] {
  return (['to-lport', 'from-lport'] as const).map((direction) => ({
    direction,
    priority: aclPriority.eastWest,
    match: printMatch(inside(cidr)),
    action: 'allow',
  }))
}

/** Of a connection that is open, too, OVN asks the rules that stop packets only if it is passed on to them. */
function passages(
  { stopsOpenConnections }: SubnetIsolation,
  acls: readonly PolicyAcl[],
): readonly PolicyAcl[] {
  if (!stopsOpenConnections) return []
  return passagesBefore(acls).map((passage) => ({
    ...plain,
    ...passage,
    ...{ priority: aclPriority.passedOn, match: printMatch(anyIp), action: 'pass' },
  }))
}
