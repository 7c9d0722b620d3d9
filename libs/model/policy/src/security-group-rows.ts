import type { KubeOvnError } from '@kube-ovn/errors'
import {
  addressSet,
  and,
  anyIp,
  eq,
  header,
  predicate,
  transportPorts,
  type Match,
} from '@kube-ovn/ovn-match'
import { aclPriority, aclTier, securityGroupAddressSetName, type PolicyDirection } from '@kube-ovn/ovn-names'
import { dhcpTerms, sides, trafficOf, uniqueAcls, unlogged, type PolicyAcl } from './acl.ts'
import { PolicyInvalidError } from './errors.ts'
import { passageAcls } from './passages.ts'
import type { ParsedSecurityGroup } from './security-group.ts'
import type { SecurityRule } from './security-rule.ts'

/** What is known of the world that a SecurityGroup is in. */
export interface SecurityGroupScene {
  /** Name of its port group. */
  readonly group: string
  /** The name of the port group of a SecurityGroup; none where there is no such one. */
  groupOf(securityGroup: string): string | undefined
}

export interface SecurityGroupRows {
  readonly acls: readonly PolicyAcl[]
  /** Rules about groups that there are not. */
  readonly problems: readonly KubeOvnError[]
}

const directions = ['ingress', 'egress'] as const
const families = [4, 6] as const
const tiers = [aclTier.policy, aclTier.baseline] as const

// Nothing of a security group is judged behind a load balancer: a rule may be about the address of a Service.
const plain = { ...unlogged, isAfterBalancing: false } as const
const allowed = { action: 'allow-related', ...plain } as const

/** Computes the ACLs of a security group. What no rule allows is dropped by the group of all ports that have any. */
export function securityGroupRows(
  { tier, rules, sameGroup }: ParsedSecurityGroup,
  scene: SecurityGroupScene,
): SecurityGroupRows {
  const { group } = scene
  const problems: KubeOvnError[] = []
  const own = tier === 1 ? aclTier.baseline : aclTier.policy
  const ofRules = directions.flatMap((direction) =>
    rules[direction].flatMap((rule): readonly PolicyAcl[] => {
      const remote = remoteMatch(rule, direction, scene)
      if (remote === undefined) {
        problems.push(unknownRemote(rule))
        return []
      }
      const priority = aclPriority.securityGroupRules - rule.priority
      const terms = [
        predicate(`ip${rule.family}`),
        remote,
        ...localTerms(rule, direction),
        ...trafficTerms(rule),
      ]
      return [
        { ...trafficOf(group, direction, ...terms), tier: own, priority, action: rule.action, ...plain },
      ]
    }),
  )
  const ofSameGroup = sameGroup.flatMap((direction) =>
    families.map((family): PolicyAcl => {
      const field = `ip${family}.${sides[direction].peer}` as const
      const members = eq(field, addressSet(securityGroupAddressSetName(group, family)))
      const priority = aclPriority.sameSecurityGroup
      return {
        ...trafficOf(group, direction, predicate(`ip${family}`), members),
        tier: own,
        priority,
        ...allowed,
      }
    }),
  )
  return { acls: uniqueAcls([...baseAcls(group), ...ofSameGroup, ...ofRules]), problems }
}

/** Types of ICMPv6 by which neighbours, routers and members of multicast groups are found; a port solicits routers, and is told by them. */
const discovery = { ingress: [134, 135, 136], egress: [133, 135, 136] } as const
const multicastQuery = 130
const vrrp = 112
/** Whoever is no neighbour can not send it. */
const neighboursTtl = 255

function baseAcls(group: string): readonly PolicyAcl[] {
  return directions.flatMap((direction) => {
    const neighbours = and(
      header('icmp6.type', multicastQuery, ...discovery[direction]),
      header('icmp6.code', 0),
      header('ip.ttl', neighboursTtl),
    )
    const terms: readonly (readonly Match[])[] = [
      [predicate('arp')],
      [neighbours],
      ...dhcpTerms(direction),
      [header('ip.proto', vrrp)],
    ]
    return terms.flatMap((one) =>
      tiers.map((tier) => ({
        ...trafficOf(group, direction, ...one),
        ...{ tier, priority: aclPriority.securityGroupBase, ...allowed },
      })),
    )
  })
}

function remoteMatch(
  { remote, family }: SecurityRule,
  direction: PolicyDirection,
  scene: SecurityGroupScene,
): Match | undefined {
  const field = `ip${family}.${sides[direction].peer}` as const
  if (remote.kind === 'address') return eq(field, remote.address)
  const group = scene.groupOf(remote.group)
  return group === undefined ? undefined : eq(field, addressSet(securityGroupAddressSetName(group, family)))
}

function unknownRemote({ field, remote }: SecurityRule): KubeOvnError {
  return new PolicyInvalidError({
    field: `${field}.remoteSecurityGroup`,
    value: remote.kind === 'group' ? remote.group : '',
    cure: 'create a SecurityGroup of this name; until then the rule is about nobody',
  })
}

function localTerms({ local, family }: SecurityRule, direction: PolicyDirection): readonly Match[] {
  return local === undefined ? [] : [eq(`ip${family}.${sides[direction].own}`, local)]
}

function trafficTerms({ traffic, family }: SecurityRule): readonly Match[] {
  if (!('to' in traffic))
    return traffic.protocol === 'all' ? [] : [predicate(family === 4 ? 'icmp4' : 'icmp6')]
  const { protocol, to, from } = traffic
  return [
    transportPorts(`${protocol}.dst`, ...to),
    ...(from === undefined ? [] : [transportPorts(`${protocol}.src`, ...from)]),
  ]
}

/** The ACLs by which ports drop what none of their groups allows, in both tiers. @param group name of the port group of all ports that have any */
export function denyAllAcls(group: string, stopsOpenConnections: boolean): readonly PolicyAcl[] {
  const drops = (['egress', 'ingress'] as const).flatMap((direction) =>
    tiers.map((tier) => ({
      ...trafficOf(group, direction, anyIp),
      ...{ tier, priority: aclPriority.denyAll, action: 'drop' as const, ...plain },
    })),
  )
  if (!stopsOpenConnections) return drops
  // In tier 2 each of them is about all packets: as far as that alone they have to be brought.
  return [
    ...drops,
    ...passageAcls(
      group,
      drops.filter(({ tier }) => tier === aclTier.policy),
    ),
  ]
}

/** The ACLs by which ports go on to tier 1 that have no group of tier 0. @param group name of the port group of these */
export function baselineAcls(group: string): readonly PolicyAcl[] {
  return (['egress', 'ingress'] as const).map((direction) => ({
    ...trafficOf(group, direction, anyIp),
    ...{ tier: aclTier.policy, priority: aclPriority.sameSecurityGroup, action: 'pass' as const, ...plain },
  }))
}
