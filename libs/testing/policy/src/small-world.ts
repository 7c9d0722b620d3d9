import type { AdminNetworkPolicy } from '@kube-ovn/kube-api'
import type { NetworkPolicy } from '@kube-ovn/kube-api/core'
import { drawAdminPolicies } from './random-admin-policies.ts'
import { drawNetworkPolicy } from './random-network-policies.ts'
import { Random } from './random.ts'

/** What is drawn of a world in which a few namespaces with a few pods are given. */
export interface SmallWorld {
  readonly seed: number
  readonly namespaceLabels: readonly Readonly<Record<string, string>>[]
  readonly podLabels: readonly Readonly<Record<string, string>>[]
  readonly networkPolicies: readonly NetworkPolicy[]
  /** For the pods of namespaces with the label `world`, whatever others there are. */
  readonly adminNetworkPolicies: readonly AdminNetworkPolicy[]
}

/** Draws labels and policies for namespaces of a cluster that has others, too. */
export function smallWorld(seed: number, namespaces: readonly string[], pods: number): SmallWorld {
  const random = new Random(seed ^ 0x1ab)
  const { adminNetworkPolicies } = drawAdminPolicies(random, random.chance(0.6))
  return {
    seed,
    namespaceLabels: namespaces.map(() => ({
      ...{ world: 'small', team: random.of('red', 'blue') },
      ...random.maybe(0.5, () => ({ env: 'prod' })),
    })),
    podLabels: Array.from({ length: pods }, () => ({
      app: random.of('web', 'db', 'cache'),
      ...random.maybe(0.6, () => ({ tier: random.of('front', 'back') })),
    })),
    networkPolicies: random.some(1, 4, (index) => drawNetworkPolicy(random, index, namespaces)),
    adminNetworkPolicies: adminNetworkPolicies.map((policy) => ({
      ...policy,
      spec: { ...policy.spec, subject: { namespaces: { matchLabels: { world: 'small' } } } },
    })),
  }
}
