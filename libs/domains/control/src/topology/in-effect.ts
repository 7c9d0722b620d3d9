import { KubeOvnError } from '@kube-ovn/errors'
import type { Subnet, SubnetInEffect, SubnetSpec } from '@kube-ovn/kube-api'
import type { ControlSettings } from '../settings.ts'
import type { Network } from './network.ts'
import { resolveSubnet } from './subnet-spec.ts'

/** A field that is absent is `null`, so that none of before stays. */
export type SaidInEffect = { readonly [F in keyof SubnetInEffect]-?: NonNullable<SubnetInEffect[F]> | null }

/** What a Subnet's status says of the network that is in effect. Every field is there: none of before may stay. */
export function inEffectOf(network: Network): SaidInEffect {
  const { cidrBlock, cidrs, gateway, excludeIps, provider, vpc, natOutgoing, mtu, vlan } = network
  const { isRouted, isInterconnected } = network
  const protocol = cidrs.v6 === undefined ? 'IPv4' : cidrs.v4 === undefined ? 'IPv6' : 'Dual'
  const underlay =
    vlan === ''
      ? { vlan: null, logicalGateway: null, u2oInterconnection: null }
      : {
          ...{ vlan, logicalGateway: isRouted && !isInterconnected },
          u2oInterconnection: isInterconnected ? true : null,
        }
  return { cidrBlock, protocol, gateway, excludeIps, provider, vpc, natOutgoing, mtu, ...underlay }
}

/** Whether a Subnet's status says that this network is in effect. */
export function isPublished(network: Network, subnet: Subnet | undefined): boolean {
  const said: Readonly<Record<string, unknown>> = { ...subnet?.status?.inEffect }
  return Object.entries(inEffectOf(network)).every(
    ([field, value]) => JSON.stringify(said[field] ?? null) === JSON.stringify(value),
  )
}

/** Reads what a Subnet's status says to be in effect; nothing when it does not say, or not so that it could be. */
export function publishedNetwork(subnet: Subnet, settings: ControlSettings): Network | undefined {
  const inEffect = subnet.status?.inEffect
  return inEffect === undefined ? undefined : tryResolve(subnet.metadata.name, inEffect, settings)
}

/** What a specification means; nothing when it can not be used. */
export function tryResolve(name: string, spec: SubnetSpec, settings: ControlSettings): Network | undefined {
  try {
    return resolveSubnet(name, spec, settings).network
  } catch (error) {
    // Reported in its conditions by the feature, which meets it again.
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}
