import { providerNetworkKeysOf, readProviderNetworkRequest, type Annotations } from '@kube-ovn/annotations'
import { longestInterface, type ProviderNetwork } from '@kube-ovn/kube-api'
import { ProviderNetworkInvalidError } from './errors.ts'
import type { ProviderBridge, VlanChoice } from './snapshot.ts'
import { parseVlanName } from './vlan-interfaces.ts'

const bridgePrefix = 'br-'

/** What of a Node says by which NIC it is connected. */
interface ConnectedNode {
  readonly name: string
  readonly annotations?: Annotations | undefined
}

/** The NIC of a node, as somebody named it. */
interface NicChoice {
  readonly source: string
  /** Where it is named. */
  readonly field: string
}

/** Names of what connects a node to a network. */
export interface ConnectionNames extends NicChoice {
  readonly nic: string
  readonly bridge: string
}

/** The NIC of a node: that of its own annotation, of the first list in which it is, or that of all others. */
export function nicChoiceOf({ metadata, spec }: ProviderNetwork, node: ConnectedNode): NicChoice {
  const { interface: own } = readProviderNetworkRequest(metadata.name, node.annotations)
  if (own !== undefined)
    return { source: own, field: `annotation ${providerNetworkKeysOf(metadata.name).interface}` }
  const custom = spec?.customInterfaces?.find(({ nodes }) => nodes.includes(node.name))
  return custom === undefined
    ? { source: spec?.defaultInterface ?? '', field: 'spec.defaultInterface' }
    : { source: custom.interface, field: 'spec.customInterfaces' }
}

/** The names of the NIC of a node: before it is connected, and while it is. */
export function nicNamesOf(network: ProviderNetwork, node: ConnectedNode): readonly string[] {
  const { metadata, spec } = network
  const { source } = nicChoiceOf(network, node)
  return spec?.exchangeLinkName === true ? [source, `${bridgePrefix}${metadata.name}`] : [source]
}

/**
 * Names bridge and NIC of a network.
 *
 * @throws ProviderNetworkInvalidError
 */
export function connectionNames(network: ProviderNetwork, node: ConnectedNode): ConnectionNames {
  const { name } = network.metadata
  const other = `${bridgePrefix}${name}`
  if (other.length > longestInterface)
    throw new ProviderNetworkInvalidError({
      ...{ field: 'metadata.name', value: name },
      cure: `give it a name of ${longestInterface - bridgePrefix.length} characters at most: its bridge is called by it`,
    })
  const { source, field } = nicChoiceOf(network, node)
  if (source === '')
    throw new ProviderNetworkInvalidError({
      ...{ field, value: '' },
      cure: 'name the interface that is connected to the physical network',
    })
  return network.spec?.exchangeLinkName === true
    ? { source, field, nic: other, bridge: source }
    : { source, field, nic: source, bridge: other }
}

/** What of VLAN interfaces a network asks for by itself. */
export function vlansOf(
  { spec }: ProviderNetwork,
  { source }: Pick<ConnectionNames, 'source'>,
): Pick<ProviderBridge, 'makes'> & { readonly vlans: Omit<VlanChoice, 'others'> } {
  return {
    makes: spec?.autoCreateVlanSubinterfaces === true ? parseVlanName(source) : undefined,
    vlans: { preservesAll: spec?.preserveVlanInterfaces === true, named: spec?.vlanInterfaces ?? [] },
  }
}

/** What a node says of its connection to a network. */
export type ConnectionStatus =
  | { readonly kind: 'excluded' }
  | {
      readonly kind: 'ready'
      readonly source: string
      readonly mtu: number
      /** VLAN interfaces of the NIC are kept working. */
      readonly keepsVlans: boolean
      /** Of what it asks for beside being connected, this can not be. */
      readonly problem?: string
    }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'pending' }

/** Labels and annotation that say so; `null` is none. */
export function marksOf(
  network: string,
  status: ConnectionStatus | undefined,
): Record<'labels' | 'annotations', Readonly<Record<string, string | null>>> {
  const keys = providerNetworkKeysOf(network)
  const isReady = status?.kind === 'ready'
  return {
    labels: {
      [keys.ready]: isReady ? 'true' : null,
      [keys.interface]: isReady ? status.source : null,
      [keys.mtu]: isReady ? String(status.mtu) : null,
      [keys.vlanInterfaces]: isReady && status.keepsVlans ? 'true' : null,
      [keys.exclude]: status?.kind === 'excluded' ? 'true' : null,
    },
    annotations: {
      [keys.problem]: status?.kind === 'failed' || isReady ? (status.problem ?? null) : null,
    },
  }
}
