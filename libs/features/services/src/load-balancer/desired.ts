import { balancerGroup, loadBalancer, preferLocalOption } from '@kube-ovn/ovn-names'
import { vpcResource, type VpcStatus } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubePatch, OwnedRow } from '@kube-ovn/reconcile'
import { externalIds } from '@kube-ovn/domains-control'
import { balancerColumns, type Balancer, type BalancerNames } from '@kube-ovn/domains-control/services'

export interface BalancersSnapshot {
  readonly vpc: string
  /** Absent when nothing is balanced. */
  readonly names: BalancerNames | undefined
  readonly balancers: readonly Balancer[]
  /** Told to a build of OVN that goes by it. */
  readonly prefersLocal: boolean
  /** Of the load balancers that Services have each for itself; absent where there are none. */
  readonly group: string | undefined
}

/**
 * Computes the load balancers of a VPC, without what Services put into them, and their names in its status.
 */
export function desiredBalancers({ vpc, names, balancers, prefersLocal, group }: BalancersSnapshot): Desired {
  const rows: OwnedRow[] = balancers.map((balancer) => desiredBalancer(balancer, prefersLocal))
  if (group !== undefined) rows.push({ kind: balancerGroup, id: group, columns: { name: group } })
  return { ...nothing, rows, patches: [statusPatch(vpc, names)] }
}

function desiredBalancer(balancer: Balancer, prefersLocal: boolean): OwnedRow {
  const { name } = balancer
  const columns = balancerColumns(balancer)
  return {
    kind: loadBalancer,
    id: name,
    columns: {
      name,
      ...columns,
      options: { ...columns.options, [preferLocalOption]: String(prefersLocal) },
      external_ids: externalIds({}),
    },
  }
}

/** What a Vpc says of load balancers. */
export function saidOf(status: VpcStatus): readonly (string | undefined)[] {
  const { tcpLoadBalancer, udpLoadBalancer, sctpLoadBalancer } = status
  const { tcpSessionLoadBalancer, udpSessionLoadBalancer, sctpSessionLoadBalancer } = status
  return [
    ...[tcpLoadBalancer, udpLoadBalancer, sctpLoadBalancer],
    ...[tcpSessionLoadBalancer, udpSessionLoadBalancer, sctpSessionLoadBalancer],
  ]
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
