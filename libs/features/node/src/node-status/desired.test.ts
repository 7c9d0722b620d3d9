import { expect, it } from 'vitest'
import { isSameCondition } from '../sinks/node-object.ts'
import { desiredCondition } from './desired.ts'

const gateways = ['100.64.0.1', 'fd00:100:64::1']

it('says that the network is available once the flows of ovn0 are installed', () => {
  expect(desiredCondition({ isInstalled: true, gateways })).toEqual({
    type: 'NetworkUnavailable',
    status: 'False',
    reason: 'JoinSubnetGatewayReachable',
    message:
      'ovn0 is bound and its flows are installed, OVN answers for gateway ip 100.64.0.1,fd00:100:64::1',
  })
})

it('says that the network is unavailable before', () => {
  expect(desiredCondition({ isInstalled: false, gateways })).toMatchObject({
    status: 'True',
    reason: 'JoinSubnetGatewayUnreachable',
  })
})

it('compares what a condition says, not when', () => {
  const wanted = desiredCondition({ isInstalled: true, gateways })
  expect(isSameCondition({ ...wanted, lastTransitionTime: '2026-01-01T00:00:00Z' }, wanted)).toBe(true)
  expect(isSameCondition({ ...wanted, status: 'True' }, wanted)).toBe(false)
  expect(isSameCondition(undefined, wanted)).toBe(false)
})
