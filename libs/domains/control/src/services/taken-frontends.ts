import { endpointText, protocolOf, type Protocol } from '@kube-ovn/endpoints'
import { formatIp } from '@kube-ovn/ip'
import type { Service, ServicePort } from '@kube-ovn/kube-api/core'
import { rowTable, type ViewOf } from '@kube-ovn/tables'
import { switchLbRules } from '../sources.ts'
import { chosenFrontends } from './frontends.ts'
import { ruleOf } from './made-services.ts'
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

const reads = { services: serviceObjects, serviceVpcs, switchLbRules }

interface Views {
  readonly services: ViewOf<typeof serviceObjects>
  readonly serviceVpcs: ViewOf<typeof serviceVpcs>
  readonly switchLbRules: Pick<ViewOf<typeof switchLbRules>, 'get'>
}

/**
 * Which of the addresses that users have chosen a Service does not get, port by port: OVN has one list of backends for each.
 *
 * A Service with the address of the cluster has it, else the older one. What was made of a SwitchLBRule is as old as that.
 */
export const takenFrontends = rowTable({
  name: 'taken-frontends',
  of: serviceObjects,
  reads,
  row: (service, views: Views, key): readonly TakenFrontend[] | undefined => {
    const chosen = chosenFrontends(service)
    if (chosen === undefined) return undefined
    const taken = chosen.flatMap((ip) => {
      const address = formatIp(ip)
      const rivals = rivalsOf(service, key, address, views)
      return (service.spec?.ports ?? []).flatMap((port): readonly TakenFrontend[] => {
        const rival = rivals.find(({ other }) => other.spec?.ports?.some((one) => isSamePort(one, port)))
        if (rival === undefined) return []
        return [{ entry: endpointText(address, port.port), protocol: protocolOf(port), holder: rival.holder }]
      })
    })
    return taken.length === 0 ? undefined : taken
  },
})

interface Rival {
  readonly other: Service
  readonly holder: string
  readonly rank: string
}

/** Those that come before a Service where both have an address, the first one first. */
function rivalsOf(service: Service, key: string, address: string, views: Views): readonly Rival[] {
  const vpc = views.serviceVpcs.get(key)?.vpc
  const own = rankOf(service, key, views)
  return views.services
    .keys(servicesByFrontend, address)
    .flatMap((holder): readonly Rival[] => {
      const other = views.services.get(holder)
      return other === undefined ? [] : [{ other, holder, rank: rankOf(other, holder, views) }]
    })
    .filter(({ holder, rank }) => rank < own && views.serviceVpcs.get(holder)?.vpc === vpc)
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
}

/** In the order of these texts. */
function rankOf(service: Service, key: string, { switchLbRules }: Pick<Views, 'switchLbRules'>): string {
  if (chosenFrontends(service) === undefined) return ''
  const rule = ruleOf(service)
  const made = rule === undefined ? undefined : switchLbRules.get(rule)?.metadata.creationTimestamp
  return `${made ?? service.metadata.creationTimestamp ?? ''} ${key}`
}

function isSamePort(one: ServicePort, other: ServicePort): boolean {
  return one.port === other.port && protocolOf(one) === protocolOf(other)
}
