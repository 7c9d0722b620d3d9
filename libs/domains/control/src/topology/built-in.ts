import { tryParseCidr, sameNetwork } from '@kube-ovn/ip'
import type { SubnetSpec } from '@kube-ovn/kube-api'
import type { BuiltInSubnet, ControlSettings } from '../settings.ts'

/** Gives the specification of a subnet that every cluster has, as the flags say; `undefined` for any other name. */
export function builtInSpec(name: string, settings: ControlSettings): SubnetSpec | undefined {
  const { defaultSubnet, nodeSwitch, clusterRouter } = settings
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
    }
  }
  return undefined
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
