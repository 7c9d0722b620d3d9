import { loadBalancer, preferLocalOption, templateOptions } from '@kube-ovn/ovn-names'
import { vpcResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds } from '@kube-ovn/domains-control'
import type { Balancer, BalancerNames } from '@kube-ovn/domains-control/services'

export interface BalancersSnapshot {
  readonly vpc: string
  /** Absent when nothing is balanced. */
  readonly names: BalancerNames | undefined
  readonly balancers: readonly Balancer[]
  /** Told to a build of OVN that goes by it. */
  readonly prefersLocal: boolean
}

/**
 * Computes the load balancers of a VPC, without what Services put into them, and their names in its status.
 *
 * @see ovn-nb(5), Load_Balancer: selection_fields, affinity_timeout (seconds), ct_flush, template, address-family
 */
export function desiredBalancers({ vpc, names, balancers, prefersLocal }: BalancersSnapshot): Desired {
  const rows = balancers.map((balancer) => desiredBalancer(balancer, prefersLocal))
  return { ...nothing, rows, patches: [statusPatch(vpc, names)] }
}

function desiredBalancer({ name, protocol, affinity, nodes }: Balancer, prefersLocal: boolean): OwnedRow {
  return {
    kind: loadBalancer,
    id: name,
    columns: {
      name,
      protocol,
      selection_fields: affinity === undefined ? [] : ['ip_src', 'ipv6_src'],
      options: {
        // OVN remembers no clients where backends are those of a variable. There the same address comes to the same backend.
        affinity_timeout: affinity === undefined || nodes !== undefined ? undefined : String(affinity),
        // Forgets connections with backends that are gone, and no others. What binds clients to backends is among these, too.
        ct_flush: protocol === 'udp' && affinity === undefined ? 'true' : undefined,
        [preferLocalOption]: String(prefersLocal),
        ...(nodes === undefined ? {} : templateOptions(nodes)),
      },
      external_ids: externalIds({}),
    },
  }
}

function statusPatch(vpc: string, names: BalancerNames | undefined): KubePatch {
  const status = {
    tcpLoadBalancer: names?.plain.tcp ?? null,
    tcpSessionLoadBalancer: names?.session.tcp ?? null,
    udpLoadBalancer: names?.plain.udp ?? null,
    udpSessionLoadBalancer: names?.session.udp ?? null,
    sctpLoadBalancer: names?.plain.sctp ?? null,
    sctpSessionLoadBalancer: names?.session.sctp ?? null,
  }
  return { resource: vpcResource, name: vpc, subresource: 'status', merge: { status } }
}
