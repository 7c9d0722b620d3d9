import { controllerFinalizer } from '@kube-ovn/annotations'
import { parseIpList } from '@kube-ovn/ip'
import { ovnEip } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredEip } from './desired.ts'
import { OvnEipInvalidError } from './errors.ts'
import type { EipPlacement, OvnEipSnapshot } from './snapshot.ts'

const mac = '00:00:5e:00:53:01'

function placed(type: EipPlacement['type'], addresses: string, hasPort = type === 'lsp'): EipPlacement {
  return { subnet: 'external', type, addresses: parseIpList(addresses), mac, hasPort }
}

function snapshot(
  placement: EipPlacement | undefined,
  fields: Parameters<typeof ovnEip>[0] = {},
): OvnEipSnapshot {
  const object = ovnEip({ name: 'n1', ...fields })
  return {
    ...{ name: 'n1', object, isDeleting: false, placement, problem: undefined },
    ...{ isAnother: false, holder: undefined, isServedByNode: undefined, saysGeneration: true, now: 0 },
  }
}

describe('the port of an OvnEip', () => {
  it('is there for a node alone', () => {
    expect(desiredEip(snapshot(placed('nat', '10.5.0.9'))).rows).toEqual([])
    expect(desiredEip(snapshot(placed('lrp', '10.5.0.9'))).rows).toEqual([])
    expect(desiredEip(snapshot(placed('lsp', '10.5.0.9', false))).rows).toEqual([])
    const desired = desiredEip(snapshot(placed('lsp', '10.5.0.9,fd00:5::9')))
    expect(shownRows(desired)).toEqual([
      {
        row: 'lsp-eip/n1',
        name: 'n1',
        addresses: [`${mac} 10.5.0.9 fd00:5::9`],
        external_ids: { vendor: 'kube-ovn', ls: 'external' },
      },
    ])
    expect(shownMembers(desired)).toEqual(['ls/external ports: lsp-eip/n1'])
  })
})

describe('what an OvnEip is told', () => {
  it('is what it has, in the status first, and in the specification where that says nothing', () => {
    const given = snapshot(placed('nat', '10.5.0.9,::'), { v4Ip: '10.5.0.9' })
    const has = { v4Ip: '10.5.0.9', v6Ip: '::', macAddress: mac, type: 'nat', ready: true }
    expect(shownPatches(desiredEip(given))).toEqual([
      { object: 'ovn-eips/n1/status', status: has },
      {
        object: 'ovn-eips/n1',
        metadata: {
          labels: {
            'ovn.kubernetes.io/subnet': 'external',
            'ovn.kubernetes.io/ovn_eip_type': 'nat',
            'ovn.kubernetes.io/eip_v4_ip': '10.5.0.9',
            'ovn.kubernetes.io/eip_v6_ip': '0--0',
          },
          finalizers: [controllerFinalizer],
        },
        spec: { v6Ip: '::', macAddress: mac, type: 'nat' },
      },
    ])
  })

  it('is what is wrong, and its port stays', () => {
    const details = { eip: 'n1', field: 'spec.externalSubnet', value: 'nowhere', cure: 'create the Subnet' }
    const problem = new OvnEipInvalidError(details)
    const desired = desiredEip({ ...snapshot(undefined), problem })
    expect(desired).toMatchObject({ hold: true, rows: [], problem })
    expect(shownPatches(desired)).toMatchObject([
      { object: 'ovn-eips/n1/status', status: { conditions: [{ type: 'Ready', status: 'False' }] } },
    ])
  })
})
