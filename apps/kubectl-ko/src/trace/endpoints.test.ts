import { parseIp } from '@kube-ovn/ip'
import { expect, it } from 'vitest'
import { parseRows } from '../rows.ts'
import { neighbourMac } from './endpoints.ts'

/** As ovn-nbctl prints ports with these addresses. */
function portsWith(...addresses: readonly (readonly string[])[]) {
  const data = addresses.map((list, index) => [
    ['uuid', `port-${index}`],
    list.length === 1 ? list[0] : ['set', list],
    ['set', []],
  ])
  return parseRows(JSON.stringify({ headings: ['_uuid', 'addresses', 'dynamic_addresses'], data }))
}

const [theirs, ours] = ['0a:58:00:00:00:01', '0a:58:00:00:00:02']

it('takes the neighbour of its own switch, where another VPC has the same address', () => {
  const ports = portsWith([`${theirs} 10.48.0.10 fd00:10:48::a`], [`${ours} 10.48.0.10 fd00:10:48::a`])
  for (const address of ['10.48.0.10', 'fd00:10:48::a', 'FD00:10:48:0::A'])
    expect(neighbourMac(ports, ['port-1'], parseIp(address))).toBe(ours)
  expect(neighbourMac(ports, [], parseIp('10.48.0.10'))).toBeUndefined()
})

it('passes over ports that have no address of their own', () => {
  const ports = portsWith(['router'], ['unknown', `${ours} 10.48.0.10`], [ours])
  expect(neighbourMac(ports, ['port-0', 'port-1', 'port-2'], parseIp('10.48.0.10'))).toBe(ours)
  expect(neighbourMac(ports, ['port-0', 'port-1', 'port-2'], parseIp('10.48.0.11'))).toBeUndefined()
})
