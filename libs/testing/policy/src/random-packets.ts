import type { Family } from '@kube-ovn/ip'
import type { Endpoint, Packet, Protocol } from './packet.ts'
import type { PolicyObjects, PolicyWorld } from './policy-world.ts'
import { Random } from './random.ts'
import { isMember } from './reference/known.ts'
import { annotationOf, firstNetwork, nicsOf } from './reference/nics.ts'

const addressKey = 'ovn.kubernetes.io/ip_address'
const outside = { 4: ['203.0.113.7', '10.200.0.9'], 6: ['2001:db8::7', 'fd00:200::9'] } as const

type World = Pick<PolicyWorld, 'seed' | 'families' | 'settings'>

/** Draws packets between the ends of a world, of which one at least is a pod; where pods have further NICs, some more between these and others. */
export function randomPackets(world: World, objects: PolicyObjects, count: number): readonly Packet[] {
  const { seed, families } = world
  const random = new Random(seed ^ 0x5eed)
  const ends = new Map(families.map((family) => [family, endpointsOf(objects, family)]))
  const first = Array.from({ length: count }, () => {
    const family = random.among(families) ?? 4
    const all = ends.get(family) ?? []
    const own = random.among(all.filter(({ kind }) => kind === 'pod'))
    const other = random.among(all.filter((one) => one !== own))
    return packetBetween(random, world, objects, family, own, other)
  }).flat()
  return [...first, ...furtherPackets(world, objects, Math.ceil(count / 2))]
}

function furtherPackets(world: World, objects: PolicyObjects, count: number): readonly Packet[] {
  if (objects.networkAttachments.length === 0) return []
  const { seed, families } = world
  const random = new Random(seed ^ 0x2e75eed)
  const ends = new Map(
    families.map((family) => [
      family,
      { first: endpointsOf(objects, family), further: furtherEndpoints(objects, family) },
    ]),
  )
  return Array.from({ length: count }, () => {
    const family = random.among(families) ?? 4
    const { first = [], further = [] } = ends.get(family) ?? {}
    const own = random.among(further)
    const others = random.chance(0.6) ? further : first
    const other = random.among(others.filter((one) => one !== own))
    return packetBetween(random, world, objects, family, own, other)
  }).flat()
}

function packetBetween(
  random: Random,
  { settings }: World,
  { networkPolicies, multiNetworkPolicies }: PolicyObjects,
  family: Family,
  own: Endpoint | undefined,
  other: Endpoint | undefined,
): readonly Packet[] {
  if (own === undefined || other === undefined) return []
  const [from, to] = random.chance(0.5) ? [own, other] : [other, own]
  // Unless the switch is set, all of ICMP passes where a NetworkPolicy is for addresses of IPv6.
  const isSet = settings.flags?.['npIcmpv6'] === 'neighbours'
  const isOpen = family === 6 && networkPolicies.length + multiNetworkPolicies.length > 0 && !isSet
  const protocol = random.of<Protocol>('tcp', 'tcp', 'tcp', 'udp', 'sctp', isOpen ? 'udp' : 'icmp')
  const port = protocol === 'icmp' ? 0 : random.of(80, 80, 8080, 53, 5000)
  return [{ family, from, to, protocol, port }]
}

function furtherEndpoints({ pods }: PolicyObjects, family: Family): readonly Endpoint[] {
  return pods.filter(isMember).flatMap((pod) =>
    nicsOf(pod)
      .filter(({ network }) => network !== firstNetwork)
      .flatMap((nic) =>
        annotationOf(pod, nic, 'ip_address')
          .split(',')
          .filter((address) => address !== '' && address.includes(':') === (family === 6))
          .map((address): Endpoint => {
            const { name, namespace = '' } = pod.metadata
            return { kind: 'pod', namespace, name, address, provider: nic.provider }
          }),
      ),
  )
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
