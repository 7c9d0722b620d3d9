import { factTable } from '@kube-ovn/reconcile'

/**
 * Nodes that have answered at their address in the nodes' subnet and do not any more, although others do. A kubelet that is gone
 * is noticed by the cluster after 40 s; this is known after about two.
 */
export const silentGateways = factTable<true>({ name: 'silent-gateways' })
