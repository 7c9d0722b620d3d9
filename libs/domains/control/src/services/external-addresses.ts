import { backendsOn, chosenFrontends, protocolOf } from '@kube-ovn/endpoints'
import { familyOf, formatIp } from '@kube-ovn/ip'
import { rowTable } from '@kube-ovn/tables'
import { externalFor, externalPrefixes, subnetOfExternal } from './external-prefixes.ts'
import { nodePlaces } from './node-places.ts'
import { servedIngress } from './forwarders.ts'
import { serviceVpcs } from './service-vpcs.ts'
import { settingsOf, settingsTable } from '../sources.ts'
import { serviceObjects, sliceObjects } from './sources.ts'
import { slicesOf } from './slices.ts'
import { isTaken, takenFrontends } from './taken-frontends.ts'

/** An address and port of an external load balancer that nodes lead to backends of their own. */
export interface ExternalAddress {
  readonly subnet: string
  readonly address: string
  readonly protocol: 'tcp' | 'udp'
  readonly port: number
  /** Those with backends, sorted. */
  readonly nodes: readonly string[]
}

const reads = {
  ...{ slices: sliceObjects, serviceVpcs, takenFrontends, externalPrefixes, nodePlaces },
  settingsTable,
}

/**
 * Addresses of Services of the default VPC that lie in underlay Subnets. Whether a node leads what comes to it follows from whether it has
 * a backend: else it is the node itself that serves, as any other address from outside.
 */
export const externalAddresses = rowTable({
  name: 'external-load-balancer-addresses',
  of: serviceObjects,
  reads,
  row: (service, views, key): readonly ExternalAddress[] | undefined => {
    const external = externalFor(service, views)
    const decided = views.serviceVpcs.get(key)
    const isOfDefault = decided?.vpc === settingsOf(views.settingsTable).clusterRouter
    if (external.length === 0 || decided?.isServed !== true || !isOfDefault) return undefined
    // It is served there alone.
    if (chosenFrontends(service) !== undefined) return undefined
    const slices = slicesOf(key, views.slices)
    const places = views.nodePlaces.scan()
    const taken = views.takenFrontends.get(key) ?? []
    const all = servedIngress(service).flatMap((ip) => {
      const subnet = subnetOfExternal(ip, external)
      if (subnet === undefined) return []
      return (service.spec?.ports ?? []).flatMap((port): readonly ExternalAddress[] => {
        const protocol = protocolOf(port)
        if (protocol === 'sctp' || isTaken(taken, formatIp(ip), port)) return []
        const nodes = places
          .filter((place) => backendsOn(place, 'node', slices, port, familyOf(ip)).length > 0)
          .map(({ node }) => node)
          .sort()
        return nodes.length === 0 ? [] : [{ subnet, address: formatIp(ip), protocol, port: port.port, nodes }]
      })
    })
    return all.length === 0 ? undefined : all
  },
  indexes: {
    subnet: (all: readonly ExternalAddress[]) => [...new Set(all.map(({ subnet }) => subnet))],
  },
})
