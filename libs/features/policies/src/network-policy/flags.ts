import { oneOf } from '@kube-ovn/process'

export const networkPolicyFlags = {
  npEnforcement: oneOf(
    ['standard', 'lax'],
    'standard',
    'What NetworkPolicies restrict unless they say it themselves: all of IP, or TCP, UDP and SCTP.',
  ),
} as const
