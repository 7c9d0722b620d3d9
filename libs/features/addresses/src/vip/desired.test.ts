import { controllerFinalizer } from '@kube-ovn/annotations'
import { parseIpList } from '@kube-ovn/ip'
import { vip } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { shownMembers, shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredVip } from './desired.ts'
import { VipFixedError, VipInvalidError } from './errors.ts'
import type { VipPlacement, VipSnapshot } from './snapshot.ts'

const mac = '00:00:5e:00:53:01'
const now = Date.parse('2026-01-02T03:04:05Z')
const time = '2026-01-02T03:04:05Z'

function placed(
  type: VipPlacement['type'],
  addresses: string,
  parents: readonly string[] = [],
): VipPlacement {
  return {
    subnet: 'blue',
    provider: 'ovn',
    isDefaultVpc: true,
    type,
    addresses: parseIpList(addresses),
    mac,
    parents,
    borrower: '',
    hasPorts: true,
  }
}

function snapshot(placement: VipPlacement | undefined, fields: Parameters<typeof vip>[0] = {}): VipSnapshot {
  const object = vip({ name: 'web', subnet: 'blue', ...fields })
  return {
    ...{ name: 'web', object, isDeleting: false, placement, problem: undefined, now },
    isAnother: false,
    saysGeneration: true,
  }
}

const answering = (name: string, address: string, ids: Readonly<Record<string, string>> = {}) => ({
  row: `lsp-vip/${name}`,
  name,
  addresses: [`${mac} ${address}`],
  external_ids: { vendor: 'kube-ovn', ls: 'blue', ...ids },
})

const virtual = (address: string, parents: string | undefined) => ({
  row: 'lsp-vip-virtual/web',
  name: 'web',
  type: 'virtual',
  options: { 'virtual-ip': address, 'virtual-parents': parents },
  external_ids: { vendor: 'kube-ovn', ls: 'blue' },
})

describe('the ports of a Vip', () => {
  it.each([
    { name: 'a reservation has none', given: snapshot(placed('', '10.1.0.5,fd00:1::5')), rows: [] },
    {
      name: 'one that pods share has a virtual one, with the pods as its parents',
      given: snapshot(placed('', '10.1.0.5', ['a.shop', 'b.shop']), { namespace: 'shop' }),
      rows: [virtual('10.1.0.5', 'a.shop,b.shop')],
    },
    {
      name: 'one that no pod shares yet has a virtual one without parents',
      given: snapshot(placed('', 'fd00:1::5'), { namespace: 'shop' }),
      rows: [virtual('fd00:1::5', undefined)],
    },
    {
      name: 'of two families the virtual one names both, as upstream has it',
      given: snapshot(placed('', '10.1.0.5,fd00:1::5', ['a.shop']), { namespace: 'shop' }),
      rows: [virtual('10.1.0.5,fd00:1::5', 'a.shop')],
    },
    {
      name: 'one of a SwitchLBRule has none: the router answers',
      given: snapshot(placed('switch_lb_vip', '10.1.0.5,fd00:1::5'), { namespace: 'shop' }),
      rows: [],
    },
    {
      name: "one of a machine on a host's network is like a pod's",
      given: snapshot(placed('kube_host_vm_vip', '10.1.0.5,fd00:1::5'), { namespace: 'shop' }),
      rows: [answering('web.shop', '10.1.0.5 fd00:1::5', { pod: 'shop/web' })],
    },
    {
      name: 'one in a further network is named after that, too',
      given: snapshot({ ...placed('kube_host_vm_vip', '10.1.0.5'), provider: 'net.default.ovn' }),
      rows: [answering('web..net.default.ovn', '10.1.0.5')],
    },
    {
      name: 'one in a VPC of its own says that it is not in the default security group, as pods do',
      given: snapshot({ ...placed('kube_host_vm_vip', '10.1.0.5'), isDefaultVpc: false }),
      rows: [answering('web.', '10.1.0.5', { 'associated_sg_default-securitygroup': 'false' })],
    },
  ])('$name', ({ given, rows }) => {
    const desired = desiredVip(given)
    expect(shownRows(desired)).toEqual(rows)
    expect(shownMembers(desired)).toEqual(rows.map(({ row }) => `ls/blue ports: ${row}`))
  })
})

describe('what a Vip is told', () => {
  const labels = { 'ovn.kubernetes.io/subnet': 'blue', 'ovn.kubernetes.io/ip_reserved': '' }
  const metadata = { labels, finalizers: [controllerFinalizer] }

  it.each([
    {
      name: 'all that it did not ask for',
      given: snapshot(placed('', '10.1.0.5,fd00:1::5'), { v4ip: '10.1.0.5' }),
      want: {
        metadata,
        spec: { v6ip: 'fd00:1::5', macAddress: mac },
        status: { v4ip: '10.1.0.5', v6ip: 'fd00:1::5', mac, type: null },
      },
    },
    {
      name: 'nothing about a family that it does not have',
      given: snapshot(placed('kube_host_vm_vip', '10.1.0.5'), { v4ip: '10.1.0.5', macAddress: mac }),
      want: { metadata, status: { v4ip: '10.1.0.5', v6ip: null, mac, type: 'kube_host_vm_vip' } },
    },
    {
      name: 'the present MAC address of the router',
      given: snapshot(placed('switch_lb_vip', '10.1.0.5'), {
        v4ip: '10.1.0.5',
        macAddress: '00:00:5e:00:53:99',
      }),
      want: {
        metadata,
        spec: { macAddress: mac },
        status: { v4ip: '10.1.0.5', v6ip: null, mac, type: 'switch_lb_vip' },
      },
    },
  ])('$name', ({ given, want }) => {
    expect(shownPatches(desiredVip(given))).toEqual([{ object: 'vips/web', ...want }])
  })

  it('which port has borrowed it', () => {
    const placement = { ...placed('', '10.1.0.5'), borrower: 'p.shop' }
    expect(shownPatches(desiredVip(snapshot(placement)))[0]).toMatchObject({
      metadata: { labels: { 'ovn.kubernetes.io/ip_reserved': 'p.shop' } },
    })
  })

  it('what is wrong, by a condition and an event, and its ports stay', () => {
    const problem = new VipInvalidError({
      vip: 'web',
      field: 'spec.subnet',
      value: 'nowhere',
      cure: 'create the Subnet',
    })
    const given: VipSnapshot = { ...snapshot(undefined), problem }
    const object = { ...given.object, metadata: { ...given.object.metadata, uid: 'u1' } }
    const desired = desiredVip({ ...given, object })
    const message = 'the Vip can not be used (field=spec.subnet vip=web value=nowhere); create the Subnet'
    const reason = 'AcquireAddressFailed'
    expect(desired).toMatchObject({ hold: true, rows: [], problem })
    const conditions = [
      { type: 'Ready', status: 'False', reason, message, lastUpdateTime: time, lastTransitionTime: time },
    ]
    expect(shownPatches(desired)).toEqual([{ object: 'vips/web', status: { conditions } }])
    expect(desired.events.map((event) => [event.type, event.reason, event.message])).toEqual([
      ['Warning', reason, message],
    ])
    const told = { ...object, status: { conditions } }
    expect(desiredVip({ ...given, object: told }).events).toEqual([])
  })

  it('that it is well again, and nothing of the kind before anything was wrong', () => {
    const conditions = [{ type: 'Ready', status: 'False', reason: 'AcquireAddressFailed', message: 'no' }]
    const well = snapshot(placed('', '10.1.0.5'), { status: { conditions } })
    expect(shownPatches(desiredVip(well))[0]).toMatchObject({
      status: { conditions: [{ type: 'Ready', status: 'True', reason: 'AcquireAddressSucceeded' }] },
    })
    expect(JSON.stringify(shownPatches(desiredVip(snapshot(placed('', '10.1.0.5')))))).not.toContain(
      'condition',
    )
  })

  it('that a change has no effect, and it goes on', () => {
    const problem = new VipFixedError({ vip: 'web', field: 'spec.v4ip', value: '10.1.0.6', has: '10.1.0.5' })
    const given = {
      ...snapshot(placed('', '10.1.0.5', []), { namespace: 'shop', v4ip: '10.1.0.6' }),
      problem,
    }
    const desired = desiredVip(given)
    expect(desired.hold).toBeUndefined()
    expect(shownRows(desired)).toEqual([virtual('10.1.0.5', undefined)])
    expect(shownPatches(desired)[0]).toMatchObject({
      status: { v4ip: '10.1.0.5', conditions: [{ status: 'False' }] },
    })
  })
})

it('lets go of a Vip that is deleted, and of its ports', () => {
  const finalizers = ['example.com/other', 'kube-ovn-controller', controllerFinalizer]
  const given = { ...snapshot(undefined, { finalizers }), isDeleting: true }
  const desired = desiredVip(given)
  expect(desired).toMatchObject({ rows: [], members: [] })
  expect(desired.hold).toBeUndefined()
  expect(shownPatches(desired)).toEqual([
    { object: 'vips/web', metadata: { finalizers: ['example.com/other'] } },
  ])
})
