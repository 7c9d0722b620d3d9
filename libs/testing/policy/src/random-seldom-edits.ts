import type { AdminNetworkPolicy, SecurityGroup } from '@kube-ovn/kube-api'
import type { Node } from '@kube-ovn/kube-api/core'
import type { PolicyObjects } from './policy-world.ts'
import { editOf, withEdits, type Edit } from './random-edit.ts'
import { annotated, changeOne } from './random-parts.ts'
import { Random } from './random.ts'

const groupsKey = 'ovn.kubernetes.io/security_groups'

/** What is done to a world more seldom. */
const edits: readonly Edit[] = [
  editOf('securityGroups', (random, list) => changeOne(random, list, (group) => groupEdited(random, group))),
  editOf('pods', (random, list, { securityGroups }) =>
    changeOne(random, list, (pod) => {
      const names = securityGroups.filter(() => random.chance(0.5)).map(({ metadata }) => metadata.name)
      return annotated(pod, { [groupsKey]: names.join() })
    }),
  ),
  editOf('egressFirewalls', (random, list) =>
    changeOne(random, list, ({ spec, ...firewall }) => {
      const egress = spec?.egress ?? []
      const isTurned = random.chance(0.5)
      return { ...firewall, spec: { egress: isTurned ? egress.toReversed() : egress.slice(1) } }
    }),
  ),
  editOf('subnets', (random, list) =>
    changeOne(random, list, ({ spec = {}, ...subnet }) => ({
      ...subnet,
      spec: random.chance(0.5)
        ? { ...spec, private: spec.private !== true }
        : { ...spec, acls: (spec.acls ?? []).slice(1) },
    })),
  ),
  editOf('nodes', (random, list) => changeOne(random, list, (node) => renumbered(random, node))),
  editOf('adminNetworkPolicies', (random, list) =>
    changeOne(random, list, (policy) => policyEdited(random, policy, { priority: behindAll(list, 50) })),
  ),
  editOf('clusterNetworkPolicies', (random, list) =>
    changeOne(random, list, (policy) =>
      policyEdited(random, policy, {
        priority: behindAll(list, 300),
        tier: random.of('Admin', 'Baseline'),
      }),
    ),
  ),
]

/** Draws some of these edits in a third of all worlds, and gives the objects behind them. */
export function seldomEdited(seed: number, objects: PolicyObjects): PolicyObjects {
  const random = new Random(seed ^ 0x5e1ded)
  return random.chance(0.33) ? withEdits(random, edits, 4, objects) : objects
}

/** One that no other policy has, of whatever kind. */
function behindAll(policies: readonly AdminNetworkPolicy[], least: number): number {
  return Math.max(least, ...policies.map(({ spec }) => (spec?.priority ?? 0) + 1))
}

function groupEdited(random: Random, { spec = {}, ...group }: SecurityGroup): SecurityGroup {
  const { ingressRules = [], egressRules = [], tier = 0, allowSameGroupTraffic = false } = spec
  const passes = [...ingressRules, ...egressRules].some(({ policy }) => policy === 'pass')
  const change = random.of(
    { allowSameGroupTraffic: !allowSameGroupTraffic },
    // Nothing comes after tier 1, where nothing can be passed on.
    { tier: passes ? tier : 1 - tier },
    { ingressRules: ingressRules.slice(1) },
    {
      egressRules: egressRules.map((rule) => ({
        ...rule,
        ...(rule.policy === 'pass' ? {} : { policy: rule.policy === 'allow' ? 'drop' : 'allow' }),
      })),
    },
  )
  return { ...group, spec: { ...spec, ...change } }
}

/** The last number of each address is another one, so that no other node has it. */
function renumbered(random: Random, { status = {}, ...node }: Node): Node {
  const to = node.metadata.name === 'n1' ? random.of('2', '4') : random.of('3', '5')
  const addresses = (status.addresses ?? []).map(({ type, address }) => ({
    ...{ type, address: address.replace(/\d$/, to) },
  }))
  return { ...node, status: { ...status, addresses } }
}

function policyEdited(
  random: Random,
  policy: AdminNetworkPolicy,
  place: { readonly priority: number; readonly tier?: string },
): AdminNetworkPolicy {
  const subject = { namespaces: { matchLabels: { team: random.of('red', 'blue') } } }
  const change = random.chance(0.5) ? place : { subject }
  return { ...policy, spec: { ...policy.spec, ...change } }
}
