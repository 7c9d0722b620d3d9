import { expect, it } from 'vitest'
import { shownMembers } from '@kube-ovn/domains-control/testing/shown'
import { desiredAdvertising } from './desired.ts'

it('is the length of the prefix and each option, on the port of the router', () => {
  const desired = desiredAdvertising({
    ...{ subnet: 'blue', vpc: 'ovn-cluster', prefixLength: 112 },
    advertising: { address_mode: 'slaac', send_periodic: 'true' },
  })
  expect(desired.rows).toEqual([])
  expect(shownMembers(desired)).toEqual([
    'lrp/ovn-cluster-blue ipv6_prefix: 112',
    'lrp/ovn-cluster-blue ipv6_ra_configs: address_mode=slaac',
    'lrp/ovn-cluster-blue ipv6_ra_configs: send_periodic=true',
  ])
})
