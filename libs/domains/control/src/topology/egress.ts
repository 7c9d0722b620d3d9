import { checkLength, formatIpList, parseIp, parseIpList, type Ip } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import type { LabelSelector } from '@kube-ovn/label-selector'
import { rowTable } from '@kube-ovn/tables'
import { subnets } from '../sources.ts'
import { aspectOf } from './aspect.ts'
import { inSubnet, SubnetInvalidError } from './errors.ts'

/** How traffic of a Subnet leaves the cluster, where it is not by way of each pod's node into the main route table. */
export interface Egress {
  /** Absent with a distributed gateway. */
  readonly gateways?: GatewayChoice
  readonly external?: ExternalGateway
}

/** Which nodes are gateways of a Subnet. */
export interface GatewayChoice {
  /** In the order in which they are preferred, each once. */
  readonly nodes: readonly GatewayEntry[]
  /** By which nodes are chosen while none is named. */
  readonly selectors: readonly LabelSelector[]
  /** All of them share the traffic. Otherwise one has all of it. */
  readonly isShared: boolean
}

/** A node that is named as a gateway. */
interface GatewayEntry {
  readonly node: string
  /** Given to what leaves the cluster there, at most one of each family. */
  readonly addresses: readonly Ip[]
}

/** A gateway outside of the cluster, to which nodes send what leaves it. */
export interface ExternalGateway {
  /** `v4`, `v6` or `v4,v6`. */
  readonly addresses: string
  /** Of the rule that leads to the table (ip-rule(8)). */
  readonly priority: number
  /** Number of the route table (ip-route(8)). */
  readonly table: number
}

/** Rules from here on come too late: the main table, which they come after, has a default route. */
const priorityOfMain = 32_766

/** ip-route(8): unspec, default, main and local. */
const tablesOfSystem: readonly number[] = [0, 253, 254, 255]

/**
 * Reads how traffic of a Subnet leaves the cluster; nothing for the usual way.
 *
 * @throws SubnetInvalidError
 */
export function resolveEgress(subnet: string, spec: SubnetSpec): Egress | undefined {
  const gateways = gatewaysOf(subnet, spec)
  const external = externalOf(subnet, spec)
  if (gateways === undefined && external === undefined) return undefined
  return {
    ...(gateways === undefined ? {} : { gateways }),
    ...(external === undefined ? {} : { external }),
  }
}

function gatewaysOf(subnet: string, spec: SubnetSpec): GatewayChoice | undefined {
  if (spec.gatewayType !== 'centralized') return undefined
  const field = 'spec.gatewayNode'
  const words = (spec.gatewayNode ?? '').split(',').map((word) => word.trim())
  const selectors = spec.gatewayNodeSelectors ?? []
  return inSubnet(subnet, () => {
    checkLength(words, field, 'choose them by gatewayNodeSelectors')
    checkLength(selectors, 'spec.gatewayNodeSelectors', 'write values of a label together')
    const entries = new Map<string, Ip[]>()
    for (const word of words.filter((text) => text !== '')) {
      const colon = word.indexOf(':')
      const addresses = entries.getOrInsertComputed(colon < 0 ? word : word.slice(0, colon).trim(), () => [])
      if (colon >= 0) addresses.push(parseIp(word.slice(colon + 1).trim(), field))
    }
    return {
      nodes: [...entries].map(([node, addresses]) => ({ node, addresses })),
      selectors,
      isShared: spec.enableEcmp === true,
    }
  })
}

function externalOf(subnet: string, spec: SubnetSpec): ExternalGateway | undefined {
  const {
    externalEgressGateway: text = '',
    policyRoutingPriority = 0,
    policyRoutingTableID: table = 0,
  } = spec
  if (text === '') return undefined
  const refuse = (field: string, value: string, cure: string): SubnetInvalidError =>
    new SubnetInvalidError({ subnet, field: `spec.${field}`, value, cure })
  if (spec.natOutgoing === true)
    throw refuse('externalEgressGateway', text, 'switch natOutgoing off, or leave it empty')
  const addresses = inSubnet(subnet, () => parseIpList(text, 'spec.externalEgressGateway'))
  if (tablesOfSystem.includes(table))
    throw refuse(
      'policyRoutingTableID',
      String(table),
      'choose a route table that nobody else has, from 1 on and not 253 to 255',
    )
  if (policyRoutingPriority >= priorityOfMain)
    throw refuse(
      'policyRoutingPriority',
      String(policyRoutingPriority),
      `choose one from 1 to ${priorityOfMain - 1}, before that of the main table`,
    )
  return {
    addresses: formatIpList(addresses),
    // Without one the kernel takes the place before all others that are not its own.
    priority: policyRoutingPriority === 0 ? priorityOfMain - 1 : policyRoutingPriority,
    table,
  }
}

/** How traffic leaves those Subnets that have a way of their own. */
export const egresses = rowTable({ name: 'egresses', of: subnets, row: aspectOf(resolveEgress) })
