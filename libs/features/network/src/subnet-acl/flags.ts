import { wholeNumber } from '@kube-ovn/process'

export const subnetAclFlags = {
  privateSubnetLogRate: wholeNumber(
    0,
    'How many packets a second that a private Subnet drops are logged on each node; 0 for all. New.',
    {},
    [0, 1_000_000],
  ),
} as const
