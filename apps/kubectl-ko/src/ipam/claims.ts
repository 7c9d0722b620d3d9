import { podAnnotations, placedNics, readNodeNetwork } from '@kube-ovn/annotations'
import { contains, formatIp, tryParseCidr, tryParseIp, type Ip as Address } from '@kube-ovn/ip'
import type { AddressFacts } from '../facts.ts'

/** Somebody who says to have an address. */
export interface Claim {
  readonly address: string
  readonly kind: 'IP' | 'Vip' | 'Pod' | 'Node' | 'Service' | 'Subnet'
  /** Of the object, with its namespace. */
  readonly name: string
  /** What it is there, e.g. `gateway`. */
  readonly as: string
  readonly subnet: string
  readonly mac: string
  readonly node: string
}

/** Everybody who says to have an address, object by object. */
export function claimsOf(facts: AddressFacts): readonly Claim[] {
  return [
    ...facts.ips.flatMap(({ metadata: { name }, spec = {} }) =>
      claims([spec.v4IpAddress, spec.v6IpAddress], {
        kind: 'IP',
        name,
        as: spec.namespace
          ? `of pod ${spec.namespace}/${spec.podName ?? ''}`
          : `of node ${spec.podName ?? ''}`,
        subnet: spec.subnet ?? '',
        mac: spec.macAddress ?? '',
        node: spec.nodeName ?? '',
      }),
    ),
    ...facts.vips.flatMap(({ metadata: { name }, spec = {}, status = {} }) =>
      claims([status.v4ip, status.v6ip], {
        kind: 'Vip',
        name,
        as: 'virtual address',
        subnet: spec.subnet ?? '',
        mac: status.mac ?? '',
        node: '',
      }),
    ),
    ...facts.pods.flatMap(({ metadata, spec, status }) => {
      if (spec.hostNetwork === true || isOver(status?.phase)) return []
      return placedNics(metadata.annotations).flatMap(({ provider, addresses, logicalSwitch }) =>
        claims(addresses, {
          kind: 'Pod',
          name: `${metadata.namespace ?? ''}/${metadata.name}`,
          as: provider === 'ovn' ? 'first NIC' : `NIC of ${provider}`,
          subnet: logicalSwitch ?? '',
          mac: textOf(() => podAnnotations(provider).macAddress.read(metadata.annotations)),
          node: spec.nodeName ?? '',
        }),
      )
    }),
    ...facts.nodes.flatMap(({ metadata: { name, annotations }, status }) => {
      const own = { kind: 'Node', name, subnet: '', mac: '', node: name } as const
      const inside = networkOf(annotations)
      return [
        ...(status?.addresses ?? [])
          .filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
          .flatMap(({ type, address }) => claims([address], { ...own, as: type })),
        ...claims(inside, { ...own, as: 'ovn0' }),
      ]
    }),
    ...facts.services.flatMap(({ metadata: { namespace = '', name }, spec = {} }) => {
      const own = { kind: 'Service', name: `${namespace}/${name}`, subnet: '', mac: '', node: '' } as const
      return [
        ...claims(spec.clusterIPs ?? [], { ...own, as: 'cluster IP' }),
        ...claims(spec.externalIPs ?? [], { ...own, as: 'external IP' }),
      ]
    }),
    ...facts.subnets.flatMap(({ metadata: { name }, spec = {}, status = {} }) => {
      const own = { kind: 'Subnet', name, subnet: name, mac: '', node: '' } as const
      return [
        ...claims(spec.gateway?.split(',') ?? [], { ...own, as: 'gateway' }),
        ...claims(status.u2oInterconnectionIP?.split(',') ?? [], { ...own, as: 'connection to the router' }),
        ...claims(status.mcastQuerierIP?.split(',') ?? [], { ...own, as: 'multicast querier' }),
      ]
    }),
  ]
}

function isOver(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed'
}

function claims(addresses: readonly (string | undefined)[], claim: Omit<Claim, 'address'>): readonly Claim[] {
  return addresses.flatMap((text) => {
    const address = tryParseIp(text ?? '')
    return address === undefined ? [] : [{ address: formatIp(address), ...claim }]
  })
}

/** Annotations that somebody wrote by hand are no reason to tell nothing. */
function textOf(read: () => string | undefined): string {
  try {
    return read() ?? ''
  } catch {
    return ''
  }
}

function networkOf(annotations: Readonly<Record<string, string>> | undefined): readonly string[] {
  try {
    const { v4, v6 } = readNodeNetwork(annotations)?.addresses ?? {}
    return [v4, v6].flatMap((ip) => (ip === undefined ? [] : [formatIp(ip)]))
  } catch {
    return []
  }
}

/** The subnets in whose range an address is, also where nobody has it. */
export function subnetsWith(facts: Pick<AddressFacts, 'subnets'>, address: Address): readonly string[] {
  return facts.subnets.flatMap(({ metadata: { name }, spec }) =>
    (spec?.cidrBlock ?? '').split(',').some((text) => {
      const cidr = tryParseCidr(text)
      return cidr !== undefined && contains(cidr, address)
    })
      ? [name]
      : [],
  )
}
