import { oneOf } from '@kube-ovn/process'

export const networkPolicyFlags = {
  npEnforcement: oneOf(
    ['standard', 'lax'],
    'standard',
    'What NetworkPolicies restrict unless they say it themselves: all of IP, or TCP, UDP and SCTP.',
  ),
  npIcmpv6: oneOf(
    ['all', 'neighbours'],
    'all',
    'What of ICMPv6 passes whatever NetworkPolicies say: all, in both directions and of all pods beside those that they are for, or neighbour discovery.',
  ),
} as const
