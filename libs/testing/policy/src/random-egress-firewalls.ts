import { egressFirewall } from '@kube-ovn/testing-builders'
import type { EgressFirewall, EgressFirewallRule } from '@kube-ovn/kube-api'
import type { Family } from '@kube-ovn/ip'
import { drawPrefix } from './random-parts.ts'
import { Random } from './random.ts'

/** EgressFirewalls of some namespaces, some of them with a name or with rules that are not in effect. */
export function drawFirewalls(
  seed: number,
  namespaces: readonly string[],
  families: readonly Family[],
): readonly EgressFirewall[] {
  // Of its own, so that the rest of a world is what it was.
  const random = new Random(seed ^ 0xf12e)
  if (random.chance(0.5)) return []
  return namespaces
    .filter(() => random.chance(0.6))
    .map((namespace) =>
      egressFirewall({
        ...{ namespace, name: random.chance(0.1) ? 'other' : 'default' },
        egress: [...random.some(1, 4, () => drawRule(random, families))],
      }),
    )
}

function drawRule(random: Random, families: readonly Family[]): EgressFirewallRule {
  const port = () => ({ protocol: random.of('TCP', 'TCP', 'UDP', 'SCTP'), port: random.of(80, 53, 8080) })
  return {
    type: random.of('Allow', 'Deny', 'Deny', random.chance(0.05) ? 'Maybe' : 'Allow'),
    to: drawDestination(random, random.among(families) ?? 4),
    ...random.maybe(0.3, () => ({ ports: [...random.some(1, 2, port)] })),
  }
}

function drawDestination(random: Random, family: Family): EgressFirewallRule['to'] {
  const shape = random.between(0, 9)
  if (shape <= 5) return { cidrSelector: drawPrefix(random, family) }
  if (shape <= 7)
    return { nodeSelector: random.chance(0.3) ? {} : { matchLabels: { zone: random.of('a', 'b') } } }
  if (shape === 8) return { dnsName: 'www.example.com' }
  return random.of({ cidrSelector: '10.0.0.0/40' }, {}, { cidrSelector: '0.0.0.0/0', nodeSelector: {} })
}
