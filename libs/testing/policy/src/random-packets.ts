import type { Family } from '@kube-ovn/ip'
import type { Endpoint, Packet, Protocol } from './packet.ts'
import type { PolicyObjects, PolicyWorld } from './policy-world.ts'
import { Random } from './random.ts'
import { isMember } from './reference/known.ts'

const addressKey = 'ovn.kubernetes.io/ip_address'
const outside = { 4: ['203.0.113.7', '10.200.0.9'], 6: ['2001:db8::7', 'fd00:200::9'] } as const

/** Draws packets between the ends of a world, of which one at least is a pod. */
export function randomPackets(
  { seed, families, settings }: Pick<PolicyWorld, 'seed' | 'families' | 'settings'>,
  objects: PolicyObjects,
  count: number,
): readonly Packet[] {
  const random = new Random(seed ^ 0x5eed)
  const ends = new Map(families.map((family) => [family, endpointsOf(objects, family)]))
  return Array.from({ length: count }, () => {
    const family = random.among(families) ?? 4
    const all = ends.get(family) ?? []
    const own = random.among(all.filter(({ kind }) => kind === 'pod'))
    const other = random.among(all.filter((one) => one !== own))
    if (own === undefined || other === undefined) return []
    const [from, to] = random.chance(0.5) ? [own, other] : [other, own]
    // Unless the switch is set, all of ICMP passes where a NetworkPolicy is for addresses of IPv6.
    const isSet = settings.flags?.['npIcmpv6'] === 'neighbours'
    const isOpen = family === 6 && objects.networkPolicies.length > 0 && !isSet
    const protocol = random.of<Protocol>('tcp', 'tcp', 'tcp', 'udp', 'sctp', isOpen ? 'udp' : 'icmp')
    const port = protocol === 'icmp' ? 0 : random.of(80, 80, 8080, 53, 5000)
    return [{ family, from, to, protocol, port }]
  }).flat()
}

function endpointsOf({ pods, nodes }: PolicyObjects, family: Family): readonly Endpoint[] {
  const isOf = (address: string): boolean => address.includes(':') === (family === 6)
  return [
    ...pods.filter(isMember).flatMap(({ metadata }): readonly Endpoint[] => {
      const { name, namespace = '', annotations } = metadata
      const addresses = (annotations?.[addressKey] ?? '').split(',').filter((text) => text !== '')
      return addresses.filter(isOf).map((address) => ({ kind: 'pod', namespace, name, address }))
    }),
    ...nodes.flatMap(({ metadata, status }): readonly Endpoint[] =>
      (status?.addresses ?? [])
        .filter(({ address }) => isOf(address))
        .map(({ address }) => ({ kind: 'node', name: metadata.name, address })),
    ),
    ...outside[family].map((address): Endpoint => ({ kind: 'outside', address })),
  ]
}
