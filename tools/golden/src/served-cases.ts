/** Cases, or groups of them, that are equal; the others of the recording wait for features that are not there yet. */
export const servedCases = [
  'base',
  'pods',
  'multinic/overlay',
  'multinic/ipam-only',
  'vips',
  'ippools',
  'subnets/cidr-change',
  'subnets/excluded-pods',
  'subnets/excluded-vips',
  'subnets/namespace-selectors',
  'subnets/namespaces-exclude',
  'subnets/v4-host-bits',
  'vpcs',
] as const
