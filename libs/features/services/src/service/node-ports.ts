import { backendsOf, backendsOn, protocolOf } from '@kube-ovn/endpoints'
import type { Family } from '@kube-ovn/ip'
import type { ServicePort } from '@kube-ovn/kube-api/core'
import {
  backendsVariable,
  chassisVariables,
  nodeAddressVariable,
  serviceBalancer,
  serviceBalancerName,
} from '@kube-ovn/ovn-names'
import type { MapMember } from '@kube-ovn/reconcile'
import { ref } from '@kube-ovn/domains-control'
import { hasHints, wantedForNodePort } from '@kube-ovn/domains-control/services'
import type { Entry } from './checks.ts'
import type { ServiceSnapshot } from './snapshot.ts'

/**
 * Computes the entries of a Service's node ports: one for each family, whatever the number of nodes. Its address is a variable, by which each
 * chassis has that of its own node. Who asks another node is served there.
 *
 * @see ovn-nb(5), Chassis_Template_Var
 */
export function nodePortEntries(snapshot: ServiceSnapshot): readonly Entry[] {
  const ports = snapshot.service.spec?.ports ?? []
  return snapshot.nodePortFamilies.flatMap((family) =>
    ports.flatMap((port) => {
      const { nodePort } = port
      return nodePort === undefined ? [] : entryOf({ ...port, nodePort }, family, snapshot)
    }),
  )
}

function entryOf(
  port: ServicePort & { readonly nodePort: number },
  family: Family,
  snapshot: ServiceSnapshot,
): readonly Entry[] {
  const { service } = snapshot
  const { value, variables } = backendsFor(port, family, snapshot)
  if (value === '') return []
  const wanted = wantedForNodePort(service, protocolOf(port), family)
  const { namespace = '', name } = service.metadata
  const of = ref(serviceBalancer, serviceBalancerName(namespace, name, wanted))
  const key = `^${nodeAddressVariable(family)}:${port.nodePort}`
  return [{ of, wanted, family, member: { of, column: 'vips', key, value }, variables }]
}

/** The same for all, or, where hints say which ones are near, those of a variable. */
function backendsFor(
  port: ServicePort & { readonly nodePort: number },
  family: Family,
  { service, slices, places }: ServiceSnapshot,
): { readonly value: string; readonly variables: readonly MapMember[] } {
  if (!hasHints(slices)) return { value: backendsOf(slices, port, family).join(','), variables: [] }
  const { namespace = '', name } = service.metadata
  const protocol = protocolOf(port)
  const entry = { address: nodeAddressVariable(family), port: port.nodePort, protocol }
  const variable = backendsVariable({ namespace, service: name, ...entry })
  const variables = places.flatMap((place) => {
    const value = backendsOn(place, 'hints', slices, port, family).join(',')
    if (value === '') return []
    return [{ of: ref(chassisVariables, place.chassis), column: 'variables', key: variable, value }]
  })
  return { value: variables.length === 0 ? '' : `^${variable}`, variables }
}
