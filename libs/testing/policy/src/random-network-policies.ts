import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@kube-ovn/kube-api/core'
import { drawPrefix, drawSelector } from './random-parts.ts'
import type { Random } from './random.ts'

export function drawNetworkPolicy(
  random: Random,
  index: number,
  namespaces: readonly string[],
): NetworkPolicy {
  const types = random.of(['Ingress'], ['Egress'], ['Ingress', 'Egress'], undefined)
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: `np-${index}`,
      namespace: random.among(namespaces) ?? '',
      ...random.maybe(0.15, () => ({
        annotations: { 'ovn.kubernetes.io/network_policy_enforcement': random.of('lax', 'standard') },
      })),
    },
    spec: {
      podSelector: drawSelector(random, 'pods'),
      ...(types === undefined ? {} : { policyTypes: types }),
      ...random.maybe(0.75, () => ({
        ingress: random.some(0, 3, () => ({
          ...random.maybe(0.85, () => ({ from: random.some(0, 3, () => drawPeer(random)) })),
          ...random.maybe(0.6, () => ({ ports: random.some(0, 2, () => drawPort(random)) })),
        })),
      })),
      ...random.maybe(0.75, () => ({
        egress: random.some(0, 3, () => ({
          ...random.maybe(0.85, () => ({ to: random.some(0, 3, () => drawPeer(random)) })),
          ...random.maybe(0.6, () => ({ ports: random.some(0, 2, () => drawPort(random)) })),
        })),
      })),
    },
  }
}

function drawPeer(random: Random): NetworkPolicyPeer {
  const shape = random.between(0, 9)
  if (shape <= 1) return { podSelector: drawSelector(random, 'pods') }
  if (shape <= 3) return { namespaceSelector: drawSelector(random, 'namespaces') }
  if (shape <= 5)
    return {
      podSelector: drawSelector(random, 'pods'),
      namespaceSelector: drawSelector(random, 'namespaces'),
    }
  const family = random.of(4, 6)
  const cidr = random.chance(0.06) ? random.of('10.0.0.0/33', 'red', '') : drawPrefix(random, family)
  const except = random.some(0, 2, () =>
    random.chance(0.8) ? drawPart(random, cidr) : drawPrefix(random, random.of(4, 6)),
  )
  return { ipBlock: { cidr, ...(except.length === 0 ? {} : { except }) } }
}

/** A part of what is excepted from, mostly one that lies within. */
function drawPart(random: Random, cidr: string): string {
  const parts: Readonly<Record<string, readonly string[]>> = {
    '10.16.0.0/30': ['10.16.0.2/32'],
    '10.16.0.0/24': ['10.16.0.0/30', '10.16.0.4/30'],
    '10.0.0.0/8': ['10.16.0.0/24', '10.16.0.0/29'],
    '0.0.0.0/0': ['10.0.0.0/8', '172.18.0.0/16'],
    'fd00:10:16::/125': ['fd00:10:16::2/128'],
    'fd00:10:16::/120': ['fd00:10:16::/126', 'fd00:10:16::4/126'],
    'fd00::/16': ['fd00:10:16::/120', 'fd00:18::/64'],
    '::/0': ['fd00::/16', '2001:db8::/32'],
  }
  return random.among(parts[cidr] ?? []) ?? cidr
}

function drawPort(random: Random): NetworkPolicyPort {
  const protocol = random.of('TCP', 'TCP', 'UDP', 'SCTP')
  const shape = random.between(0, 9)
  if (shape === 0) return { protocol: random.chance(0.3) ? 'ICMP' : protocol }
  if (shape <= 4) return { ...random.maybe(0.7, () => ({ protocol })), port: random.of(80, 8080, 53) }
  if (shape <= 6) return { protocol, port: random.of(1, 53, 80), endPort: random.of(52, 80, 9000) }
  return {
    protocol,
    port: random.of('http', 'names', 'nobody'),
    ...random.maybe(0.1, () => ({ endPort: 81 })),
  }
}
