import { podAnnotations, serviceAnnotations, type Forwards } from '@kube-ovn/annotations'
import { KubeOvnError } from '@kube-ovn/errors'
import {
  contains,
  familyOf,
  formatIpList,
  parseCidr,
  parseIpList,
  tryParseIp,
  type Cidr,
  type DualStackCidr,
  type DualStackIp,
  type Ip,
} from '@kube-ovn/ip'
import type { Service } from '@kube-ovn/kube-api/core'
import { LbSvcInvalidError, LbSvcNetworkError } from './errors.ts'

/** The network that a Service names. */
interface NetworkName {
  readonly namespace: string
  readonly name: string
}

/** What a Service in an attached network asks for. */
export interface Wish {
  readonly network: NetworkName
  /** Of the address; absent: one that has the network. */
  readonly subnet: string | undefined
  /** Of the Pod's first NIC; absent: as any Pod of the namespace. */
  readonly podSubnet: string | undefined
  /** Those that it is to have; none: any. */
  readonly addresses: DualStackIp
  /** Name of the Vip that has them; absent: one is made. */
  readonly vip: string | undefined
}

/** Reads the network that a Service names: `<name>.<namespace>`, and what the original ignores after that. @throws LbSvcInvalidError */
function networkOf({ metadata: { annotations } }: Service): NetworkName {
  const { key } = serviceAnnotations.attachmentProvider
  const value = annotations?.[key] ?? ''
  const [name = '', namespace = '', ...rest] = value.split('.', 4)
  const isName = [name, namespace].every((part) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(part))
  if (isName && (rest.length === 0 || rest.join('.') === 'ovn')) return { name, namespace }
  const cure = 'write the name of a NetworkAttachmentDefinition and its namespace, as street.default'
  throw new LbSvcInvalidError({ field: key, value, cure })
}

/** @throws LbSvcInvalidError */
export function wishOf(service: Service): Wish {
  const network = networkOf(service)
  const { annotations } = service.metadata
  const { attachmentVip, logicalSwitch } = serviceAnnotations
  const provider = `${network.name}.${network.namespace}`
  const named = [provider, `${provider}.ovn`].map(
    (one) => podAnnotations(one).logicalSwitch.read(annotations) ?? '',
  )
  return {
    network,
    subnet: named.find((subnet) => subnet !== ''),
    podSubnet: logicalSwitch.read(annotations) || undefined,
    addresses: addressesOf(service),
    vip: attachmentVip.read(annotations) || undefined,
  }
}

function addressesOf({ spec = {} }: Service): DualStackIp {
  const { loadBalancerIP: value = '' } = spec
  if (value === '') return {}
  try {
    return parseIpList(value)
  } catch (cause) {
    if (!(cause instanceof KubeOvnError)) throw cause
    const cure = 'write an address, or one of each family separated by a comma, or remove it'
    throw new LbSvcInvalidError({ field: 'spec.loadBalancerIP', value, cure }, { cause })
  }
}

/** A Subnet that serves an attached network. */
export interface ServingSubnet {
  readonly name: string
  readonly cidrs: DualStackCidr
  readonly gateways: DualStackIp
}

/**
 * Chooses the Subnet of the address: the one that is named, or else that in which it has one, or else the first that has what is asked for.
 *
 * @param subnets those of the network's provider, in effect
 * @param held name of the Subnet in which it has an address
 * @throws LbSvcInvalidError and LbSvcNetworkError
 */
export function chooseSubnet(
  { network, subnet: wanted, addresses }: Wish,
  provider: string,
  subnets: readonly ServingSubnet[],
  held?: string,
): ServingSubnet {
  const fitting = subnets.filter((one) => hasAll(one, addresses))
  const found =
    wanted === undefined
      ? (fitting.find(({ name }) => name === held) ?? fitting[0] ?? subnets[0])
      : subnets.find(({ name }) => name === wanted)
  if (found !== undefined && fitting.includes(found)) return found
  if (found !== undefined) {
    const cure = `write an address of Subnet ${found.name}, or remove it`
    throw new LbSvcInvalidError({ field: 'spec.loadBalancerIP', value: formatIpList(addresses), cure })
  }
  if (wanted !== undefined) {
    const cure = `write a Subnet with the provider ${provider}, or remove it`
    throw new LbSvcInvalidError({ field: podAnnotations(provider).logicalSwitch.key, value: wanted, cure })
  }
  const { key } = serviceAnnotations.attachmentProvider
  const cure = `give a Subnet spec.provider ${provider}`
  throw new LbSvcNetworkError({ field: key, value: `${network.name}.${network.namespace}`, cure })
}

function hasAll({ cidrs }: ServingSubnet, addresses: DualStackIp): boolean {
  return ipsOf(addresses).every((ip) => {
    const cidr = familyOf(ip) === 4 ? cidrs.v4 : cidrs.v6
    return cidr !== undefined && contains(cidr, ip)
  })
}

/**
 * Says what is forwarded from these addresses: each family that the Service has, too.
 *
 * @throws LbSvcInvalidError when there is no such family, or a source can not be read
 */
export function forwardsOf(
  service: Service,
  addresses: DualStackIp,
  { name, gateways }: ServingSubnet,
): Forwards {
  const {
    clusterIP,
    clusterIPs = clusterIP === undefined ? [] : [clusterIP],
    ports = [],
  } = service.spec ?? {}
  const own = clusterIPs.flatMap((text) => tryParseIp(text) ?? [])
  const families = ipsOf(addresses).flatMap((address) => {
    const family = familyOf(address)
    const to = own.find((ip) => familyOf(ip) === family)
    const gateway = family === 4 ? gateways.v4 : gateways.v6
    return to === undefined ? [] : [{ address, ...(gateway === undefined ? {} : { gateway }), to }]
  })
  if (families.length === 0) {
    const cure = `give it a cluster address of a family of Subnet ${name}`
    throw new LbSvcInvalidError({ field: 'spec.clusterIP', value: clusterIPs.join(), cure })
  }
  return {
    families,
    ports: ports.map(({ port, protocol = 'TCP' }) => ({ port, protocol })),
    sources: sourcesOf(service),
  }
}

function sourcesOf({ spec = {} }: Service): readonly Cidr[] {
  return (spec.loadBalancerSourceRanges ?? []).map((text) => {
    try {
      return parseCidr(text.trim())
    } catch (cause) {
      if (!(cause instanceof KubeOvnError)) throw cause
      const field = 'spec.loadBalancerSourceRanges'
      throw new LbSvcInvalidError({ field, value: text, cure: 'write prefixes, as 192.0.2.0/24' }, { cause })
    }
  })
}

/** Whether somebody who asks for some addresses can do with others. */
export function suits(wanted: DualStackIp, had: DualStackIp): boolean {
  return [
    wanted.v4 === undefined || wanted.v4 === had.v4,
    wanted.v6 === undefined || wanted.v6 === had.v6,
  ].every(Boolean)
}

function ipsOf({ v4, v6 }: DualStackIp): readonly Ip[] {
  return [v4, v6].filter((ip) => ip !== undefined)
}

/** The labels of nodes in lines `key: value`; what is no such line does not count. */
export function nodeSelectorOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const { key, value } =
        /^\s*(?<key>[^\s:]+):\s*["']?(?<value>[^\s"']*)["']?\s*$/.exec(line)?.groups ?? {}
      return key === undefined || value === undefined ? [] : [[key, value] as const]
    }),
  )
}
