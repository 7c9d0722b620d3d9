import type { KubeOvnError } from '@kube-ovn/errors'
import { flagsOf, type ControlWorld } from '@kube-ovn/domains-control'
import { portPlace, stopsOpenConnections, type EnforcedPolicy } from '@kube-ovn/domains-control/policies'
import { networkPolicyRows, type NetworkPolicyRows } from '@kube-ovn/policy'
import { networkPolicyFlags } from './flags.ts'

/** What decides about a NetworkPolicy. */
export interface NetworkPolicySnapshot {
  readonly kind: EnforcedPolicy['kind']
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Name of its port group. */
  readonly group: string
  readonly rows: NetworkPolicyRows
  /** Parts without effect. */
  readonly problems: readonly KubeOvnError[]
}

/** Reads a NetworkPolicy. */
export function observeNetworkPolicy(key: string, world: ControlWorld): NetworkPolicySnapshot | undefined {
  const enforced = world.enforcedPolicies.get(key)
  if (enforced === undefined) return undefined
  const { kind, namespace, name, uid, group, policy } = enforced
  const families = world.policyFamilies.get(key) ?? []
  const peers = new Set(world.policyPeers.get(key))
  const flags = flagsOf(networkPolicyFlags, world.settings)
  const enforcement = policy.enforcement ?? flags.npEnforcement
  const rows = networkPolicyRows(policy, {
    ...{ namespace, name, group, families, isLax: enforcement === 'lax' },
    passesIcmpv6: flags.npIcmpv6 === 'all',
    stopsOpenConnections: stopsOpenConnections(world),
    peerFamilies: (direction, rule) =>
      ([4, 6] as const).filter((family) => peers.has(`${direction}/${rule}/${family}`)),
    numbersOf: (direction, rule, protocol, port) => {
      const place = direction === 'ingress' ? undefined : { direction, rule }
      return world.namedPorts.get(portPlace({ kind: 'np', policy: key }, place, `${protocol}/${port}`)) ?? []
    },
  })
  return { kind, namespace, name, uid, group, rows, problems: policy.problems }
}
