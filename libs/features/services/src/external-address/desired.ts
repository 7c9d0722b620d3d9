import { subnetResource } from '@kube-ovn/kube-api'
import { nothing } from '@kube-ovn/reconcile'
import type { Desired, KubeEvent } from '@kube-ovn/reconcile'
import { problemText, type KubeOvnError } from '@kube-ovn/errors'
import type { ExternalAddress } from '@kube-ovn/domains-control/services'

/** What decides about the addresses of external load balancers in a Subnet. */
export interface ExternalSnapshot {
  readonly subnet: string
  readonly uid: string
  readonly addresses: readonly ExternalAddress[]
  /** Its user wants such addresses in it, and why that can not be. */
  readonly problem: KubeOvnError | undefined
}

/** Computes what nodes go by: which addresses they lead to backends of their own. */
export function desiredAddresses({ subnet, uid, addresses, problem }: ExternalSnapshot): Desired {
  const published = addresses
    .map(({ address, protocol, port, nodes }) => ({ address, protocol, port, nodes }))
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const externalAddresses = published.length === 0 ? null : published
  const patch = {
    ...{ resource: subnetResource, name: subnet, subresource: 'status' as const },
    merge: { status: { externalAddresses } },
  }
  if (problem === undefined) return { ...nothing, patches: [patch] }
  const event: KubeEvent = {
    regarding: { resource: subnetResource, name: subnet, uid },
    ...{ type: 'Warning', reason: 'ExternalAddressesNotServed', message: problemText(problem) },
  }
  return { ...nothing, patches: [patch], events: [event], problem }
}
