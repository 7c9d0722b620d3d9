import type { KubeObject } from '@kube-ovn/kube-api/core'
import type { PolicyObjects } from './policy-world.ts'
import { Random } from './random.ts'

/** What users may call things; `.`, `-` and a digit in front are what names of rows have to do something about. */
export interface WorldNames {
  readonly namespaces: readonly string[]
  readonly groups: readonly string[]
}

const plain: WorldNames = { namespaces: ['ant', 'bee', 'cat', 'dog'], groups: ['ga', 'gb', 'gc'] }

/** `a.b` in `a` is `a` in `b-a`, where dashes are dots, and a node has a group, too. */
const colliding: WorldNames = { namespaces: ['a', 'b-a', 'a-b', 'n1'], groups: ['g-a', 'g.a', 'g-a.b'] }

const ofPolicies = ['a', 'a-b', 'a.b', '1', 'np1', 'np-1', 'node', 'a.b.a'] as const

const ofAdmins = ['a.b.a', 'a-b-a', '1', 'anp1', 'cnp1', 'a.ingress.0.b', 'a', 'node.n1', 'np1.a'] as const

const ofRules = ['b.ingress.0.a', 'a', 'b-ingress-0.a', undefined] as const

/** Half of all worlds have names that are hard to tell apart, and are otherwise what they were. */
export function namesOf(seed: number): WorldNames {
  return isColliding(seed) ? colliding : plain
}

function isColliding(seed: number): boolean {
  return new Random(seed ^ 0xa11e).chance(0.5)
}

/** Gives policies names and, as the API server does, a uid. */
export function named(seed: number, objects: PolicyObjects): PolicyObjects {
  const random = new Random(seed ^ 0x9a3e)
  const isHard = isColliding(seed)
  let count = 0
  const each = <T extends KubeObject>(
    list: readonly T[],
    names: readonly string[],
    change: (policy: T) => T = (policy) => policy,
  ): readonly T[] => {
    const first = random.between(0, names.length - 1)
    return list.map((policy, index) => {
      const name = isHard ? names[(first + index) % names.length] : undefined
      count += 1
      const uid = `0badcafe-0000-4000-8000-${String(count).padStart(12, '0')}`
      const metadata = { ...policy.metadata, uid, ...(name === undefined ? {} : { name }) }
      return { ...(isHard ? change(policy) : policy), metadata }
    })
  }
  const withRules = (policy: PolicyObjects['adminNetworkPolicies'][number]) => {
    const { ingress = [], egress = [] } = policy.spec ?? {}
    const renamed = (rules: typeof ingress) =>
      rules.map((rule) => {
        const name = random.of(...ofRules)
        return name === undefined ? rule : { ...rule, name }
      })
    return { ...policy, spec: { ...policy.spec, ingress: renamed(ingress), egress: renamed(egress) } }
  }
  return {
    ...objects,
    networkPolicies: each(objects.networkPolicies, ofPolicies),
    adminNetworkPolicies: each(objects.adminNetworkPolicies, ofAdmins, withRules),
    clusterNetworkPolicies: each(objects.clusterNetworkPolicies, ofAdmins, withRules),
    baselineAdminNetworkPolicies: each(objects.baselineAdminNetworkPolicies, ['default'], withRules),
    multiNetworkPolicies: each(objects.multiNetworkPolicies, ofPolicies),
  }
}
