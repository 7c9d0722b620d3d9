import { tryParseCidr, sameNetwork } from '@kube-ovn/ip'
import type { ProviderNetworkSpec, SubnetSpec, VlanSpec } from '@kube-ovn/kube-api'
import type { BuiltInSubnet, ControlSettings, DefaultUnderlay } from '../settings.ts'

/** Gives the specification of a subnet that every cluster has, as the flags say; `undefined` for any other name. */
export function builtInSpec(name: string, settings: ControlSettings): SubnetSpec | undefined {
  const { defaultSubnet, defaultUnderlay, nodeSwitch, clusterRouter } = settings
  if (name === nodeSwitch.name) {
    return { ...addressing(nodeSwitch), vpc: clusterRouter, provider: 'ovn', disableInterConnection: true }
  }
  if (name === defaultSubnet.name) {
    return {
      ...addressing(defaultSubnet),
      vpc: clusterRouter,
      provider: 'ovn',
      default: true,
      natOutgoing: true,
      gatewayType: 'distributed',
      enableLb: settings.enableLb,
      ...(defaultSubnet.disableGatewayCheck ? { disableGatewayCheck: true } : {}),
      ...(defaultUnderlay === undefined ? {} : onUnderlay(defaultUnderlay)),
    }
  }
  return undefined
}

function onUnderlay({ vlan, hasLogicalGateway, isInterconnected }: DefaultUnderlay): SubnetSpec {
  return {
    vlan,
    ...(hasLogicalGateway ? { logicalGateway: true } : {}),
    ...(isInterconnected ? { u2oInterconnection: true } : {}),
  }
}

/** Gives the specification of the Vlan that the default subnet is on; `undefined` for any other name, or where it is on none. */
export function builtInVlan(
  name: string,
  { defaultUnderlay, defaultProvider: provider }: ControlSettings,
): VlanSpec | undefined {
  return name === defaultUnderlay?.vlan ? { id: defaultUnderlay.vlanId, provider } : undefined
}

/** Gives the specification of the ProviderNetwork that this Vlan is on; `undefined` as {@link builtInVlan} does. */
export function builtInProviderNetwork(
  name: string,
  { defaultUnderlay, defaultProvider }: ControlSettings,
): ProviderNetworkSpec | undefined {
  if (defaultUnderlay === undefined || name !== defaultProvider) return undefined
  return {
    defaultInterface: defaultUnderlay.interface,
    ...(defaultUnderlay.exchangesLinkName ? { exchangeLinkName: true } : {}),
  }
}

function addressing(subnet: BuiltInSubnet): SubnetSpec {
  return { cidrBlock: subnet.cidrBlock, gateway: subnet.gateway, excludeIps: subnet.excludeIps }
}

/**
 * Gives an existing built-in subnet its second family once the flags have one.
 *
 * Nothing else of it follows the flags: an operator may have edited it.
 */
export function withSecondFamily(existing: SubnetSpec, builtIn: SubnetSpec): SubnetSpec {
  const has = blocks(existing)
  const wanted = blocks(builtIn)
  const kept = has.length === 1 && wanted.length === 2 ? has[0] : undefined
  const isUpgrade = kept !== undefined && wanted.some((cidr) => sameNetwork(cidr, kept))
  return isUpgrade ? { ...existing, cidrBlock: builtIn.cidrBlock } : existing
}

function blocks(spec: SubnetSpec): readonly NonNullable<ReturnType<typeof tryParseCidr>>[] {
  return (spec.cidrBlock ?? '').split(',').flatMap((text) => tryParseCidr(text.trim()) ?? [])
}
