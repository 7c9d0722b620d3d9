import { parseCidr } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { shownMembers, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredPeerings } from './desired.ts'

const mac = '00:00:5e:00:53:01'

function peering(remote: string, ...networks: readonly string[]) {
  return {
    remote,
    networks: networks.map((cidr) => parseCidr(cidr)),
    field: 'spec.vpcPeerings[0]',
  }
}

describe('desiredPeerings', () => {
  it.each([
    ['IPv4', ['169.254.0.1/30']],
    ['IPv6', ['fd00:a9::1/126']],
    ['both families', ['169.254.0.1/30', 'fd00:a9::1/126']],
  ])('is a port whose peer is that of the other side, of %s', (_name, networks) => {
    const desired = desiredPeerings({
      vpc: 'red',
      peerings: [peering('blue', ...networks)],
      newMacs: [mac],
    })
    expect(shownRows(desired)).toEqual([
      {
        ...{ row: 'lrp-peer/red-blue', name: 'red-blue', networks, peer: 'blue-red' },
        external_ids: { vendor: 'kube-ovn', lr: 'red' },
      },
    ])
    expect(desired.rows[0]?.onInsert).toEqual({ mac })
    expect(shownMembers(desired)).toEqual(['lr/red ports: lrp-peer/red-blue'])
  })

  it('has a port for each, and its peer is the one that the other side makes', () => {
    const networks = ['169.254.0.1/30']
    const [here] = shownRows(
      desiredPeerings({ vpc: 'red', peerings: [peering('blue', ...networks)], newMacs: [mac] }),
    )
    const there = shownRows(
      desiredPeerings({
        vpc: 'blue',
        peerings: [peering('green', '169.254.1.2/30'), peering('red', '169.254.0.2/30')],
        newMacs: [mac, '00:00:5e:00:53:02'],
      }),
    )
    expect(there.map(({ row }) => row)).toEqual(['lrp-peer/blue-green', 'lrp-peer/blue-red'])
    expect(here?.['peer']).toBe(there[1]?.['name'])
    expect(there[1]?.['peer']).toBe(here?.['name'])
  })
})
