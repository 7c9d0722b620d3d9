import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import {
  flag,
  flagDefaultingToFalse,
  generation,
  integer,
  labelSelector,
  list,
  text,
  texts,
} from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

const staticRoute = z.object({
  policy: text('Which address the prefix is compared with: policyDst (default) or policySrc.'),
  cidr: text('IP address or prefix.'),
  nextHopIP: text('Address of the next hop.'),
  ecmpMode: text('How several routes of one prefix share traffic, e.g. ecmp_symmetric_reply.'),
  bfdId: text('BFD session that supervises the next hop.'),
  routeTable: text('Route table; empty is the main one.'),
})

const policyRoute = z.object({
  priority: integer('0 to 32767, the highest match wins.'),
  match: text('OVN match expression.'),
  action: text('allow, drop or reroute.'),
  nextHopIP: text('Addresses of next hops for reroute, separated by commas.'),
})

const vpcPeering = z.object({
  remoteVpc: text('VPC to be connected with.'),
  localConnectIP: text('Address and prefix length of the port on this side; v4,v6 for both families.'),
})

const spec = z.object({
  defaultSubnet: text("Subnet for Pods of the VPC's namespaces that are bound to none."),
  namespaces: texts('Namespaces that belong to the VPC.'),
  staticRoutes: list('Static routes of the VPC router.', staticRoute),
  policyRoutes: list('Policy routes of the VPC router.', policyRoute),
  vpcPeerings: list('Connections to other VPCs.', vpcPeering),
  enableExternal: flag('Connects the VPC to the default external network.'),
  extraExternalSubnets: texts('Further external subnets to connect to.'),
  enableBfd: flag('Supervises default routes through gateway nodes by BFD.'),
  bfdPort: z
    .object({
      enabled: flagDefaultingToFalse('Creates the port.'),
      ip: text('Address of the port: v4, v6 or v4,v6.'),
      nodeSelector: labelSelector
        .optional()
        .meta({ description: 'Nodes that may host the port; at most three when absent.' }),
    })
    .optional()
    .meta({ description: 'Router port that is the source of BFD sessions for egress and NAT gateways.' }),
})

const status = z.object({
  observedGeneration: generation,
  standby: flag('The router is there; Subnets of the VPC wait for it.'),
  default: flag('This is the default VPC.'),
  defaultLogicalSwitch: text('Subnet for Pods that are bound to none.'),
  router: text('Name of the logical router in OVN.'),
  subnets: texts('Subnets in the VPC.'),
  vpcPeerings: texts('VPCs to which a connection is in effect.'),
  enableExternal: flag('The connection to the default external network is in effect.'),
  extraExternalSubnets: texts('Further external subnets to which a connection is in effect.'),
  enableBfd: flag('BFD is in effect.'),
  tcpLoadBalancer: text('Load balancer for TCP in OVN.'),
  tcpSessionLoadBalancer: text('Load balancer for TCP with session affinity in OVN.'),
  udpLoadBalancer: text('Load balancer for UDP in OVN.'),
  udpSessionLoadBalancer: text('Load balancer for UDP with session affinity in OVN.'),
  sctpLoadBalancer: text('Load balancer for SCTP in OVN.'),
  sctpSessionLoadBalancer: text('Load balancer for SCTP with session affinity in OVN.'),
  bfdPort: z
    .object({
      name: text('Name of the port, bfd@ and the VPC.'),
      ip: text('Address of the port.'),
      nodes: texts('Nodes that host the port, the preferred one first.'),
    })
    .optional()
    .meta({ description: 'The BFD port as it is in effect.' }),
  conditions: list(
    'Validated, Error and FieldsIgnored, each only as long as there is something to tell.',
    conditionSchema,
  ),
})

export type VpcSpec = DeepReadonly<z.infer<typeof spec>>
export type VpcStatus = DeepReadonly<z.infer<typeof status>>

/** A network of its own: one logical router, the Subnets on it and the namespaces that use them. */
export interface Vpc extends KubeObject {
  readonly spec?: VpcSpec
  readonly status?: VpcStatus
}

export const vpcResource: Resource<Vpc> = {
  group,
  version,
  kind: 'Vpc',
  plural: 'vpcs',
  namespaced: false,
}

/** Reasons of a Vpc's conditions and events. Upstream has none. */
export const vpcReason = {
  /** Parts of the specification are not carried out. */
  invalid: 'VpcInvalid',
  /** A deletion waits for subnets. */
  inUse: 'VpcInUse',
} as const

export const vpcDefinition: Definition = {
  resource: vpcResource,
  singular: 'vpc',
  shortNames: ['vpc'],
  description: 'A network of its own: one logical router, its Subnets and the namespaces that use them.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'EnableExternal', type: 'boolean', jsonPath: '.status.enableExternal' },
    { name: 'EnableBfd', type: 'boolean', jsonPath: '.status.enableBfd' },
    { name: 'Standby', type: 'boolean', jsonPath: '.status.standby' },
    { name: 'Subnets', type: 'string', jsonPath: '.status.subnets' },
    { name: 'ExtraExternalSubnets', type: 'string', jsonPath: '.status.extraExternalSubnets' },
    { name: 'Namespaces', type: 'string', jsonPath: '.spec.namespaces' },
    { name: 'DefaultSubnet', type: 'string', jsonPath: '.status.defaultLogicalSwitch' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
}

/** The VPC that a word means, as in `spec.vpc` of a Subnet: no word means the default one, which has the name of the cluster's router. */
export function vpcNamed(word: string | undefined, clusterRouter: string): string {
  return word === undefined || word === '' ? clusterRouter : word
}
