/** Cases, or groups of them, that are equal; the others of the recording wait for features that are not there yet. */
export const servedCases = [
  'base',
  'pods/plain-v4',
  'pods/plain-dual',
  'pods/burst',
  'pods/completed',
  'vips/switch-lb',
  'ippools',
  'subnets/namespaces-exclude',
  'subnets/v4-host-bits',
] as const
