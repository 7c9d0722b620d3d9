import { familyOf, formatIp, tryParseIp, type Family } from '@kube-ovn/ip'
import { balancerHealthCheck, externalId, type RowRef } from '@kube-ovn/ovn-names'
import type { Desired, MapMember } from '@kube-ovn/reconcile'
import { externalIds, memberOf, ref } from '@kube-ovn/domains-control'
import type { Wanted } from '@kube-ovn/domains-control/services'
import type { ServiceSnapshot } from './snapshot.ts'

/** An address and port in a load balancer. */
export interface Entry {
  /** The load balancer that it is in. */
  readonly of: RowRef
  readonly wanted: Wanted
  readonly family: Family
  readonly member: MapMember
  /** What chassis have for it, where its backends differ from one to the other. */
  readonly variables?: readonly MapMember[]
}

/** Seconds between questions, and until one counts as not answered; how many in a row decide. As upstream has them. */
const checkOptions = { interval: '5', timeout: '20', success_count: '3', failure_count: '3' }

/**
 * Computes how backends are asked whether they are well: those that are not get no traffic.
 *
 * A backend is asked at its port, from an address of its subnet. One without a port of OVN counts as well, and so do all of SCTP, which OVN
 * does not ask. Where backends differ from node to node nobody is asked: OVN does not look into variables.
 *
 * @see ovn-nb(5), Load_Balancer_Health_Check; IPv6 stands in brackets on both sides of ip_port_mappings
 */
export function checksOf(
  entries: readonly Entry[],
  { check }: Pick<ServiceSnapshot, 'check'>,
): Pick<Desired, 'rows' | 'members'> {
  if (check === undefined) return { rows: [], members: [] }
  const mappings = { 4: mappingsOf(check, 4), 6: mappingsOf(check, 6) }
  const asked = entries.filter(
    ({ wanted: { protocol }, family, variables }) =>
      protocol !== 'sctp' && variables === undefined && mappings[family].length > 0,
  )
  const rows = asked.map(({ of, member: { key: vip } }) => ({
    kind: balancerHealthCheck,
    id: `${of.id}/${vip}`,
    columns: {
      vip,
      options: checkOptions,
      external_ids: externalIds({ [externalId.checkedSubnet]: check.subnet }),
    },
  }))
  const places = new Map(asked.map((entry) => [`${entry.of.id} ${entry.family}`, entry]))
  return {
    rows,
    members: [
      ...asked.map(({ of }, index) =>
        memberOf(of, 'health_check', ref(balancerHealthCheck, rows[index]?.id ?? '')),
      ),
      ...[...places.values()].flatMap(({ of, family }) =>
        mappings[family].map(([key, value]) => ({ of, column: 'ip_port_mappings', key, value })),
      ),
    ],
  }
}

function mappingsOf(
  { backends, sources }: NonNullable<ServiceSnapshot['check']>,
  family: Family,
): readonly (readonly [key: string, value: string])[] {
  return backends.flatMap(({ address, port, subnet }) => {
    const ip = tryParseIp(address)
    const source = family === 4 ? sources[subnet]?.v4 : sources[subnet]?.v6
    if (ip === undefined || familyOf(ip) !== family || source === undefined) return []
    return [[bracketed(address), `${port}:${bracketed(formatIp(source))}`] as const]
  })
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
