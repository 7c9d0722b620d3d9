import { chosenFrontends, frontendsOf, protocolOf, type Protocol } from '@kube-ovn/endpoints'
import { familyOf, type Family, type Ip } from '@kube-ovn/ip'
import type { EndpointSlice, Service } from '@kube-ovn/kube-api/core'
import type { ConfigOf } from '@kube-ovn/process'
import { affinityOf, usualAffinitySeconds } from './affinity.ts'
import type { balancerFlags } from './balancer-flags.ts'
import { servedIngress } from './forwarders.ts'
import { subnetOfExternal, type ExternalPrefixes } from './external-prefixes.ts'

/**
 * Which backends a client gets: all of them alike, those on its own node and no others, those on its own node as long as there are any, or
 * those for which hints say that they are near.
 */
export type Scope = 'all' | 'node' | 'node-first' | 'hints'

/** An address under which OVN serves a Service. */
export interface Frontend {
  readonly ip: Ip
  readonly scope: Scope
  /** It lies in a Subnet whose nodes lead there whoever comes from outside: who announces it makes no difference to Pods. */
  readonly isLed?: true
}

/** What a load balancer has to have for an entry of a Service. */
export interface Wanted {
  readonly protocol: Protocol
  readonly affinity: number | undefined
  /** Of the entries whose backends differ from node to node; absent where they do not. */
  readonly nodes: Family | undefined
}

/**
 * Lists the addresses under which OVN serves a Service, and which backends clients of each get.
 *
 * What its user has chosen leads to all of them: these are asked whether they are well, as one list.
 */
export function scopedFrontends(
  service: Service,
  slices: readonly EndpointSlice[],
  flags: Pick<ConfigOf<typeof balancerFlags>, 'enableOvnLbPreferLocal'>,
  external: readonly ExternalPrefixes[],
): readonly Frontend[] {
  const own = frontendsOf(service)
  if (chosenFrontends(service) !== undefined) return own.map((ip) => ({ ip, scope: 'all' }))
  const near: Scope = hasHints(slices) ? 'hints' : 'all'
  const { internalTrafficPolicy, externalTrafficPolicy } = service.spec ?? {}
  const inside: Scope = internalTrafficPolicy === 'Local' ? 'node' : near
  const outside: Scope = externalTrafficPolicy === 'Local' ? 'node-first' : near
  return [
    ...own.map((ip) => ({ ip, scope: inside })),
    ...servedIngress(service).flatMap((ip): readonly Frontend[] => {
      if (own.includes(ip)) return []
      // What a node leads to a backend elsewhere would be answered past it.
      if (subnetOfExternal(ip, external) !== undefined) return [{ ip, scope: 'node-first', isLed: true }]
      return flags.enableOvnLbPreferLocal ? [{ ip, scope: outside }] : []
    }),
  ]
}

/** Whether hints say which backends are near. */
export function hasHints(slices: readonly EndpointSlice[]): boolean {
  return slices.some(({ endpoints }) => endpoints?.some(({ hints }) => hints !== undefined) === true)
}

/** What an entry of a Service under one of its addresses wants of its load balancer. */
export function wantedFor(service: Service, protocol: Protocol, { ip, scope }: Frontend): Wanted {
  const affinity = affinityOf(service)
  if (scope === 'all') return { protocol, affinity, nodes: undefined }
  // A client's backend follows from its address there, for as long as it may be.
  return { protocol, affinity: affinity && usualAffinitySeconds, nodes: familyOf(ip) }
}

/** The same for all of its entries, each once. */
export function allWanted(service: Service, frontends: readonly Frontend[]): readonly Wanted[] {
  const protocols = [...new Set((service.spec?.ports ?? []).map(protocolOf))]
  const all = frontends.flatMap((frontend) =>
    protocols.map((protocol) => wantedFor(service, protocol, frontend)),
  )
  return [...new Map(all.map((wanted) => [JSON.stringify(wanted), wanted])).values()]
}
