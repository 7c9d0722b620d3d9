import {
  chosenFrontends,
  endpointText,
  frontendsOf,
  isOnRouter,
  protocolOf,
  type Protocol,
} from '@kube-ovn/endpoints'
import { formatIp, type Ip } from '@kube-ovn/ip'
import type { Service, ServicePort } from '@kube-ovn/kube-api/core'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { flagsOf } from '../flags.ts'
import { routerLbRules, settingsOf, settingsTable, switchLbRules } from '../sources.ts'
import { balancerFlags } from './balancer-flags.ts'
import { externalPrefixes, subnetOfExternal } from './external-prefixes.ts'
import { servedIngress } from './forwarders.ts'
import { lbRuleKinds, ruleOfName } from './made-services.ts'
import { serviceObjects } from './sources.ts'
import { serviceVpcs } from './service-vpcs.ts'
import { servicesByFrontend } from './watches.ts'

/** An address with a port that another Service has in the same VPC. */
export interface TakenFrontend {
  /** `address:port` */
  readonly entry: string
  readonly protocol: Protocol
  /** `namespace/name` of the Service that has it. */
  readonly holder: string
}

const reads = {
  ...{ services: serviceObjects, serviceVpcs, switchLbRules, routerLbRules },
  ...{ externalPrefixes, settingsTable },
}

interface Views {
  readonly services: ViewOf<typeof serviceObjects>
  readonly serviceVpcs: ViewOf<typeof serviceVpcs>
  readonly switchLbRules: Pick<ViewOf<typeof switchLbRules>, 'get'>
  readonly routerLbRules: Pick<ViewOf<typeof routerLbRules>, 'get'>
  readonly externalPrefixes: Pick<ViewOf<typeof externalPrefixes>, 'scan'>
  readonly settingsTable: Pick<ViewOf<typeof settingsTable>, 'get'>
}

/**
 * Which of the addresses that users have chosen, or a balancer has given, a Service does not get, port by port: OVN has one list of backends for
 * each.
 *
 * A Service with the address of the cluster has it, then those that lead there from outside, else the older one. What was made of a rule is as
 * old as that. Outside, an address is that of one router, whatever its ports.
 */
export const takenFrontends = rowTable({
  name: 'taken-frontends',
  of: serviceObjects,
  reads,
  row: (service, views: Views, key): readonly TakenFrontend[] | undefined => {
    const taken = contestedOf(service, views).flatMap((ip) => {
      const address = formatIp(ip)
      const rivals = rivalsOf(service, key, ip, views)
      return (service.spec?.ports ?? []).flatMap((port): readonly TakenFrontend[] => {
        const rival = rivals.find(
          ({ other, isElsewhere }) => isElsewhere || other.spec?.ports?.some((one) => isSamePort(one, port)),
        )
        if (rival === undefined) return []
        return [{ entry: endpointText(address, port.port), protocol: protocolOf(port), holder: rival.holder }]
      })
    })
    return taken.length === 0 ? undefined : taken
  },
})

/** Addresses under which OVN serves a Service, and that are not its own in the cluster. */
function contestedOf(service: Service, views: Views): readonly Ip[] {
  const chosen = chosenFrontends(service)
  if (chosen !== undefined) return chosen
  const given = servedIngress(service)
  if (given.length === 0) return given
  const own = frontendsOf(service)
  return given.filter((ip) => !own.includes(ip) && isServed(ip, views))
}

/** Whether OVN serves an address that a balancer has given. */
function isServed(ip: Ip, views: Views): boolean {
  const { enableOvnLbPreferLocal } = flagsOf(balancerFlags, settingsOf(views.settingsTable))
  return enableOvnLbPreferLocal || subnetOfExternal(ip, views.externalPrefixes.scan()) !== undefined
}

interface Rival {
  readonly other: Service
  readonly holder: string
  /** At the router of another VPC. */
  readonly isElsewhere: boolean
  readonly rank: string
}

/** Those that come before a Service where both have an address, the first one first. */
function rivalsOf(service: Service, key: string, ip: Ip, views: Views): readonly Rival[] {
  const vpc = views.serviceVpcs.get(key)?.vpc
  const isOutside = isOnRouter(service)
  const own = rankAt(ip, service, key, views)
  return views.services
    .keys(servicesByFrontend, formatIp(ip))
    .flatMap((holder): readonly Rival[] => {
      const other = views.services.get(holder)
      const decided = views.serviceVpcs.get(holder)
      if (other === undefined || decided?.isServed !== true) return []
      const isElsewhere = decided.vpc !== vpc
      if (isElsewhere && !(isOutside && isOnRouter(other))) return []
      const isTheirs = frontendsOf(other).includes(ip) || isServed(ip, views)
      return isTheirs ? [{ other, holder, isElsewhere, rank: rankAt(ip, other, holder, views) }] : []
    })
    .filter(({ rank }) => rank < own)
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
}

/** As {@link rankOf}, of one that a balancer has given the address as well. */
function rankAt(ip: Ip, service: Service, key: string, views: Views): string {
  if (frontendsOf(service).includes(ip)) return rankOf(service, key, views)
  return `2 ${service.metadata.creationTimestamp ?? ''} ${key}`
}

/**
 * In the order of these texts. A rule tells in its status what it made: what a Service says of its owners is up to whoever may write it, who
 * could be as old as any rule by that.
 */
export function rankOf(
  service: Service,
  key: string,
  views: Pick<Views, 'switchLbRules' | 'routerLbRules'>,
): string {
  if (chosenFrontends(service) === undefined) return ''
  const [place, kind, rules] = isOnRouter(service)
    ? (['1', lbRuleKinds.router, views.routerLbRules] as const)
    : (['2', lbRuleKinds.switch, views.switchLbRules] as const)
  const name = ruleOfName(kind, service.metadata.name)
  const rule = name === undefined ? undefined : rules.get(name)
  const made = rule?.status?.service === key ? rule.metadata.creationTimestamp : undefined
  return `${place} ${made ?? service.metadata.creationTimestamp ?? ''} ${key}`
}

/** Whether another Service has an address with a port. */
export function isTaken(taken: readonly TakenFrontend[], address: string, port: ServicePort): boolean {
  const entry = endpointText(address, port.port)
  return taken.some((other) => other.entry === entry && other.protocol === protocolOf(port))
}

function isSamePort(one: ServicePort, other: ServicePort): boolean {
  return one.port === other.port && protocolOf(one) === protocolOf(other)
}
