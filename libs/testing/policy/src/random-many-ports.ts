import type { NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import type { PolicyObjects } from './policy-world.ts'
import { Random } from './random.ts'

/** In one of twelve worlds some rules of NetworkPolicies are about so many ports that these do not have an ACL each. */
export function withManyPorts(seed: number, objects: PolicyObjects): PolicyObjects {
  // Of its own, so that the rest of a world is what it was.
  const random = new Random(seed ^ 0x90275)
  if (random.chance(11 / 12)) return objects
  const widened = <R extends { readonly ports?: readonly NetworkPolicyPort[] }>(rule: R): R => {
    const { ports = [] } = rule
    if (random.chance(ports.length === 0 ? 0.7 : 0.2)) return rule
    const protocol = random.of('TCP', 'TCP', 'UDP', 'SCTP')
    const first = random.of(40, 61, 4990, 8060)
    const more = random.some(20, 40, (index) => ({ protocol, port: first + index * random.of(1, 1, 2) }))
    const ranges = random.some(0, 2, () => ({
      protocol,
      port: first + 10,
      endPort: random.of(first + 20, 9000),
    }))
    return { ...rule, ports: [...more, ...ports, ...ranges] }
  }
  return {
    ...objects,
    networkPolicies: objects.networkPolicies.map(({ spec, ...rest }) => ({
      ...rest,
      spec: {
        ...spec,
        ...(spec?.ingress && { ingress: spec.ingress.map(widened) }),
        ...(spec?.egress && { egress: spec.egress.map(widened) }),
      },
    })),
  }
}
