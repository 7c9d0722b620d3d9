import { controllerFinalizer } from '@kube-ovn/annotations'
import { NoSubnetError, PoolConflictError, PoolOutsideSubnetError } from '@kube-ovn/ipam'
import { ipPool } from '@kube-ovn/testing-builders'
import { describe, expect, it } from 'vitest'
import { shownPatches, shownRows } from '@kube-ovn/domains-control/testing/shown'
import { desiredIpPool } from './desired.ts'
import { AddressSetInvalidError, IpPoolInUseError } from './errors.ts'
import type { IpPoolSnapshot } from './snapshot.ts'

const now = Date.parse('2026-01-02T03:04:05Z')

function snapshot(
  fields: Partial<IpPoolSnapshot>,
  object: Partial<Parameters<typeof ipPool>[0]> = {},
): IpPoolSnapshot {
  const made = ipPool({ name: 'blue-1', subnet: 'blue', ips: ['10.1.0.5'], ...object })
  return {
    name: 'blue-1',
    object: { ...made, metadata: { ...made.metadata, uid: 'u1' } },
    observed: {},
    decided: undefined,
    addressSet: undefined,
    addressSetProblem: undefined,
    problem: undefined,
    ignored: [],
    isOver: false,
    now,
    ...fields,
  }
}

function conditionsOf(pool: IpPoolSnapshot): readonly (readonly unknown[])[] {
  const status = desiredIpPool(pool).patches.find(({ subresource }) => subresource === 'status')
  const written = status?.merge?.['status'] as { conditions: readonly Record<string, unknown>[] } | undefined
  return (written?.conditions ?? []).map(({ type, status: state, reason, message }) => [
    type,
    state,
    reason,
    message,
  ])
}

describe('the address set', () => {
  it.each([
    { name: 'is none unless it is asked for', given: snapshot({}), rows: [] },
    {
      name: 'has a name with dots',
      given: snapshot({ addressSet: ['10.1.0.4/31', '10.1.0.6'] }),
      rows: [
        {
          row: 'as-pool/blue-1',
          name: 'blue.1',
          addresses: ['10.1.0.4/31', '10.1.0.6'],
          external_ids: { vendor: 'kube-ovn', ippool: 'blue-1' },
        },
      ],
    },
  ])('$name', ({ given, rows }) => {
    expect(shownRows(desiredIpPool(given))).toEqual(rows)
  })

  it('stays as it was while there can be none as it is asked for', () => {
    const addressSetProblem = new AddressSetInvalidError({
      pool: 'blue-1',
      field: 'spec.ips',
      value: '10.1.0.5,fd00::5',
      cure: 'make a pool for each family',
    })
    const given = snapshot({ addressSetProblem })
    expect(desiredIpPool(given)).toMatchObject({ hold: true, problem: addressSetProblem })
    expect(conditionsOf(given)[0]?.slice(0, 3)).toEqual(['Ready', 'False', 'ReconcileAddressSetFailed'])
  })
})

describe('conditions', () => {
  it.each([
    {
      name: 'of a pool in effect say no more than that',
      given: snapshot({}),
      want: [['Ready', 'True', 'UpdateIPAMSucceeded', undefined]],
    },
    {
      name: 'no longer tell of an error that is over',
      given: snapshot(
        {},
        { status: { conditions: [{ type: 'Error', status: 'True', reason: 'x', message: 'y' }] } },
      ),
      want: [
        ['Error', 'False', 'UpdateIPAMSucceeded', undefined],
        ['Ready', 'True', 'UpdateIPAMSucceeded', undefined],
      ],
    },
    {
      name: 'name the other pool with the same addresses',
      given: snapshot({
        problem: new PoolConflictError({
          subnet: 'blue',
          pool: 'blue-1',
          sibling: 'blue-2',
          value: '10.1.0.5',
        }),
      }),
      want: both(
        'UpdateIPAMFailed',
        'ippool blue-1 has conflict IPs with ippool blue-2: 10.1.0.5; remove the addresses from one of the two',
      ),
    },
    {
      name: 'name the subnet that is not there',
      given: snapshot({ problem: new NoSubnetError({ subnet: 'blue' }) }),
      want: both(
        'UpdateIPAMFailed',
        'subnet blue does not exist in IPAM; create the subnet, or correct its specification',
      ),
    },
    {
      name: 'name who has addresses of a pool that is deleted',
      given: snapshot({
        problem: new IpPoolInUseError({ pool: 'blue-1', holders: ['pod/shop/web(10.1.0.5)'], count: 1 }),
      }),
      want: both(
        'AddressesInUse',
        'the IPPool is kept until its addresses are free (pool=blue-1 holders=pod/shop/web(10.1.0.5) count=1); ' +
          'delete their holders, or give them other addresses',
      ),
    },
  ])('$name', ({ given, want }) => {
    expect(conditionsOf(given)).toEqual(want)
  })

  function both(reason: string, message: string): readonly (readonly unknown[])[] {
    return [
      ['Ready', 'False', reason, message],
      ['Error', 'True', reason, message],
    ]
  }
})

it('tells of each change once', () => {
  const problem = new NoSubnetError({ subnet: 'blue' })
  const first = snapshot({ problem })
  const shown = (pool: IpPoolSnapshot) =>
    desiredIpPool(pool).events.map(({ type, reason }) => `${type} ${reason}`)
  expect(shown(first)).toEqual(['Warning UpdateIPAMFailed'])
  const [ready] = conditionsOf(first)
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'UpdateIPAMFailed', message: String(ready?.[3]) },
  ]
  expect(shown(snapshot({ problem }, { status: { conditions } }))).toEqual([])
  expect(shown(snapshot({}, { status: { conditions } }))).toEqual(['Normal UpdateIPAMSucceeded'])
  const isReady = { conditions: [{ type: 'Ready', status: 'True', reason: 'UpdateIPAMSucceeded' }] }
  expect(shown(snapshot({}, { status: isReady }))).toEqual([])
})

it('warns of entries without effect beside others', () => {
  const outside = { subnet: 'blue', pool: 'blue-1', value: '10.9.0.1', cidr: '10.1.0.0/16' }
  const given = snapshot({ ignored: [new PoolOutsideSubnetError(outside)] })
  expect(conditionsOf(given)[0]?.slice(0, 2)).toEqual(['Ready', 'True'])
  expect(desiredIpPool(given).events[0]?.message).toBe(
    'the IPPool has addresses that are none of its subnet (field=spec.ips subnet=blue pool=blue-1 value=10.9.0.1 ' +
      'cidr=10.1.0.0/16); choose addresses of 10.1.0.0/16, or remove the entry',
  )
})

it.each([
  { name: 'a new one gets it', finalizers: [], deletionTimestamp: undefined, want: [controllerFinalizer] },
  { name: 'its former name is replaced', finalizers: ['kube-ovn-controller'], want: [controllerFinalizer] },
  {
    name: 'one that is deleted in use keeps it',
    finalizers: [controllerFinalizer],
    deletionTimestamp: '2026-01-02T03:00:00Z',
    want: undefined,
  },
  {
    name: 'one that is over loses it',
    finalizers: ['a/b', controllerFinalizer],
    isOver: true,
    want: ['a/b'],
  },
])('finalizer: $name', ({ finalizers, deletionTimestamp, isOver = false, want }) => {
  const dates = deletionTimestamp === undefined ? {} : { deletionTimestamp }
  const [first] = shownPatches(desiredIpPool(snapshot({ isOver }, { finalizers, ...dates })))
  expect((first?.['metadata'] as { finalizers?: unknown } | undefined)?.finalizers).toEqual(want)
})
