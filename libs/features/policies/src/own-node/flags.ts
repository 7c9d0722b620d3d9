import { oneOf } from '@kube-ovn/process'

export const ownNodeFlags = {
  ownNodeMatch: oneOf(
    ['addresses', 'ports'],
    'addresses',
    'By what OVN tells the pods of a node, which may talk to it whatever NetworkPolicies say: their addresses, which each node of the cluster has OpenFlow rules of, or their ports, which their own node alone has rules of.',
  ),
} as const
