import { duration, oneOf, switchedOn, text } from '@kube-ovn/process'

/** Whether Services share a few load balancers, as upstream has it, or each has its own. */
export const balancerLayouts = ['shared', 'per-service'] as const

export const balancerFlags = {
  loadBalancerLayout: oneOf(
    balancerLayouts,
    'shared',
    'Load balancers that all Services of a VPC share (shared), or some for each Service, in a group (per-service). New.',
  ),
  loadBalancerMinSyncPeriod: duration(
    '500ms',
    'At least so long lies between two changes of load balancers; what changes meanwhile goes together. Open vSwitch leads new connections astray where it has less time. New.',
  ),
  ovnLbNodePorts: switchedOn(
    false,
    'Lead Pods that ask a node port of their own node by OVN, in the layout per-service; there is no effect in the other one. New.',
  ),
  clusterTcpLoadbalancer: text(
    'cluster-tcp-loadbalancer',
    'Name of the load balancer of the default VPC for TCP.',
  ),
  clusterUdpLoadbalancer: text(
    'cluster-udp-loadbalancer',
    'Name of the load balancer of the default VPC for UDP.',
  ),
  clusterSctpLoadbalancer: text(
    'cluster-sctp-loadbalancer',
    'Name of the load balancer of the default VPC for SCTP.',
  ),
  clusterTcpSessionLoadbalancer: text(
    'cluster-tcp-session-loadbalancer',
    'Name of that for TCP with session affinity.',
  ),
  clusterUdpSessionLoadbalancer: text(
    'cluster-udp-session-loadbalancer',
    'Name of that for UDP with session affinity.',
  ),
  metallbNamespace: text(
    'metallb-system',
    'Namespace of MetalLB: its ServiceL2Statuses there say which node announces addresses of Services. New.',
  ),
  clusterSctpSessionLoadbalancer: text(
    'cluster-sctp-session-loadbalancer',
    'Name of that for SCTP with session affinity.',
  ),
  enableOvnLbPreferLocal: switchedOn(
    false,
    'Serve addresses of Services of type LoadBalancer by OVN, too. With externalTrafficPolicy Local, Pods get backends on their own node while there are any.',
  ),
} as const
