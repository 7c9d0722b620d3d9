import type { Family } from '@kube-ovn/ip'
import type { Endpoint, Packet, Protocol } from './packet.ts'
import type { PolicyObjects, PolicyWorld } from './policy-world.ts'
import { Random } from './random.ts'
import { isMember } from './reference/known.ts'
import { annotationOf, firstNetwork, nicsOf } from './reference/nics.ts'

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
      { first: endpointsOf(objects, family), further: podEndpoints(objects, family, 'further') },
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

/** By NICs in the first network, or in all others. */
function podEndpoints(
  { pods }: PolicyObjects,
  family: Family,
  networks: 'first' | 'further',
): readonly Endpoint[] {
  return pods.filter(isMember).flatMap((pod) => {
    const { name, namespace = '' } = pod.metadata
    const nics = nicsOf(pod).filter(({ network }) => (network === firstNetwork) === (networks === 'first'))
    return nics.flatMap((nic) => {
      const addresses = annotationOf(pod, nic, 'ip_address').split(',')
      const end = { kind: 'pod', namespace, name } as const
      return addresses
        .filter((address) => address !== '' && isOf(family, address))
        .map((address): Endpoint => ({
          ...{ ...end, address },
          ...(networks === 'first' ? {} : { provider: nic.provider }),
        }))
    })
  })
}

function isOf(family: Family, address: string): boolean {
  return address.includes(':') === (family === 6)
}

function endpointsOf(objects: PolicyObjects, family: Family): readonly Endpoint[] {
  return [
    ...podEndpoints(objects, family, 'first'),
    ...objects.nodes.flatMap(({ metadata, status }): readonly Endpoint[] =>
      (status?.addresses ?? [])
        .filter(({ address }) => isOf(family, address))
        .map(({ address }) => ({ kind: 'node', name: metadata.name, address })),
    ),
    ...outside[family].map((address): Endpoint => ({ kind: 'outside', address })),
  ]
}
