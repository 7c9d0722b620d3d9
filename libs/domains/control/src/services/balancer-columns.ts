import { templateOptions } from '@kube-ovn/ovn-names'
import type { OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import type { Wanted } from './scopes.ts'

type Columns = Pick<OvnNorthbound['Load_Balancer'], 'protocol' | 'selection_fields'> & {
  readonly options: Readonly<Record<string, string | undefined>>
}

/**
 * What a load balancer is apart from its name and what is in it, whoever has it.
 *
 * @see ovn-nb(5), Load_Balancer: selection_fields, affinity_timeout (seconds), ct_flush, template, address-family
 */
export function balancerColumns({ protocol, affinity, nodes }: Wanted): Columns {
  return {
    protocol,
    selection_fields: affinity === undefined ? [] : ['ip_src', 'ipv6_src'],
    options: {
      // OVN remembers no clients where backends are those of a variable. There the same address comes to the same backend.
      affinity_timeout: affinity === undefined || nodes !== undefined ? undefined : String(affinity),
      // Forgets connections with backends that are gone, and no others. What binds clients to backends is among these, too.
      ct_flush: protocol === 'udp' && affinity === undefined ? 'true' : undefined,
      ...(nodes === undefined ? {} : templateOptions(nodes)),
    },
  }
}
