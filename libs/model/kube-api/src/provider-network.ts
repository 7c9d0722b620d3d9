import { matchesLabels, type Labels } from '@kube-ovn/label-selector'
import { z } from 'zod'
import { conditionSchema } from './conditions.ts'
import type { Definition } from './definition.ts'
import { flag, generation, labelSelector, list, text, texts } from './fields.ts'
import { group, version } from './api-group.ts'
import type { KubeObject, Resource } from './core/object.ts'
import type { DeepReadonly } from './deep-readonly.ts'

/** Characters of the name of a link: Linux takes no longer ones. */
export const longestInterface = 15
/** Neither a slash nor white space, as Linux has it. */
const interfacePattern = String.raw`^[^/\s]+$`

function interfaceName(description: string) {
  return z.string().max(longestInterface).meta({ description, pattern: interfacePattern })
}

const spec = z.object({
  defaultInterface: interfaceName('NIC of each node that is connected to the physical network.'),
  customInterfaces: list(
    'NICs of nodes that have another one.',
    z.object({
      interface: interfaceName('NIC of these nodes.'),
      nodes: z.array(z.string()).meta({ description: 'Names of the nodes.' }),
    }),
  ),
  nodeSelector: labelSelector
    .optional()
    .meta({ description: 'Nodes that take part; excludeNodes is without meaning then.' }),
  excludeNodes: texts('Nodes that take no part.'),
  exchangeLinkName: flag("Gives the bridge the NIC's name."),
  autoCreateVlanSubinterfaces: flag('Makes the VLAN interface that is named as NIC.'),
  preserveVlanInterfaces: flag('Keeps VLAN interfaces of the NIC working.'),
  vlanInterfaces: texts('VLAN interfaces of the NIC to keep working, each nic.id.'),
})

const status = z.object({
  observedGeneration: generation,
  ready: flag('It is ready on every node that takes part.'),
  readyNodes: texts('Nodes that it is ready on.'),
  notReadyNodes: texts('Nodes that it is not ready on.'),
  vlans: texts('Vlans that are on it.'),
  conditions: list(
    'Ready, one for each node that takes part; Error, only as long as a deletion waits.',
    conditionSchema.extend({ node: text('Node that the condition is about.') }),
  ),
})

export type ProviderNetworkSpec = DeepReadonly<z.infer<typeof spec>>
export type ProviderNetworkStatus = DeepReadonly<z.infer<typeof status>>
export type NodeCondition = NonNullable<ProviderNetworkStatus['conditions']>[number]

/** A physical network, and the NICs by which nodes are connected to it. */
export interface ProviderNetwork extends KubeObject {
  readonly spec?: ProviderNetworkSpec
  readonly status?: ProviderNetworkStatus
}

export const providerNetworkResource: Resource<ProviderNetwork> = {
  group,
  version,
  kind: 'ProviderNetwork',
  plural: 'provider-networks',
  namespaced: false,
}

/** Reasons of the conditions of nodes. */
export const providerNetworkReason = {
  bridgeReady: 'InitOVSBridgeSucceeded',
  bridgeFailed: 'InitOVSBridgeFailed',
} as const

/** Reason of the condition of a network whose deletion waits for who is on it. */
export const providerNetworkInUse = 'ProviderNetworkInUse'

export const providerNetworkDefinition: Definition = {
  resource: providerNetworkResource,
  singular: 'provider-network',
  shortNames: ['pn'],
  description: 'A physical network, and the NICs by which nodes are connected to it.',
  spec,
  status,
  hasStatusSubresource: true,
  printerColumns: [
    { name: 'DefaultInterface', type: 'string', jsonPath: '.spec.defaultInterface' },
    { name: 'Ready', type: 'boolean', jsonPath: '.status.ready' },
  ],
}

/** What decides of a node whether it is to be connected to a network. */
interface Candidate {
  readonly name: string
  readonly labels?: Labels | undefined
  /** Its own annotation says that it is not. */
  readonly isExcluded?: boolean
}

/** Whether a node is to be connected to the network. A selector stands in place of whatever says which nodes are not. */
export function takesPart(
  { spec }: ProviderNetwork,
  { name, labels = {}, isExcluded = false }: Candidate,
): boolean {
  if (spec?.nodeSelector !== undefined) return matchesLabels(spec.nodeSelector, labels)
  return !isExcluded && spec?.excludeNodes?.includes(name) !== true
}
