import { describe, expect, it } from 'vitest'
import { usedBetween, type Components } from './components.ts'
import { isOnlyAbout } from './moving-services.ts'
import { entriesSince, isNorthds, parseRecords } from './database-log.ts'
import { countForks, countWrites } from './observation.ts'
import { packetsBetween, parseLinkCounters } from './packets.ts'
import { parseStat, type ObservedProcess } from './processes.ts'

function process(pid: number, cpuSeconds: number, residentBytes = 0): ObservedProcess {
  return { pid, parentPid: 1, command: 'node', cpuSeconds, residentBytes, ageSeconds: 10 }
}

describe('parseStat', () => {
  it('reads a process whose name has spaces and parentheses', () => {
    const fields = [
      'S',
      '7',
      ...Array<string>(9).fill('0'),
      '150',
      '50',
      ...Array<string>(6).fill('0'),
      '1000',
      '0',
      '256',
    ]
    expect(parseStat(`42 (a (b) c) ${fields.join(' ')}`, 30)).toEqual({
      pid: 42,
      parentPid: 7,
      command: 'a (b) c',
      cpuSeconds: 2,
      residentBytes: 1024 * 1024,
      ageSeconds: 20,
    })
  })
})

describe('usedBetween', () => {
  it('takes what each process used before from what it has used, and sums up', () => {
    const before: Components = new Map([['kubelet', [process(1, 5), process(2, 1)]]])
    const after: Components = new Map([
      ['kubelet', [process(1, 7, 1024 * 1024), process(3, 0.5, 1024 * 1024)]],
    ])
    expect(usedBetween(before, after)).toEqual([{ name: 'kubelet', cpuSeconds: 2.5, residentMib: 2 }])
  })
})

describe('the log of the Northbound', () => {
  it('tells the transactions of northd from those of others', () => {
    const [ours, northds] = parseRecords(
      [
        'OVSDB JSON 60 0123',
        '{"Logical_Switch_Port":{"a":{"name":"web.shop"}},"_date":1}',
        'OVSDB JSON 60 0123',
        '{"Logical_Switch_Port":{"a":{"up":true}},"NB_Global":{"b":{"sb_cfg":5}},"_comment":"ovn-northd"}',
      ].join('\n'),
    )
    expect(ours && isNorthds(ours)).toBe(false)
    expect(northds && isNorthds(northds)).toBe(true)
  })

  it('tells what is only about the Service of the controller', () => {
    const record = (vips: readonly (readonly [string, string])[]) => ({
      ...{ _date: {}, _is_diff: {} },
      Load_Balancer: { a: { vips: ['map', vips] } },
    })
    const own: readonly [string, string] = ['10.96.0.9:10660', '10.172.1.11:10660']
    const six: readonly [string, string] = ['[fd00:10:96::9]:10660', '[fd00:172:30:1::b]:10660']
    const isOwn = isOnlyAbout.bind(undefined, ['10.96.0.9', '[fd00:10:96::9]'])
    expect(isOwn(record([own, six]))).toBe(true)
    expect(isOwn(record([own, ['10.96.0.90:10660', '10.172.1.11:10660']]))).toBe(false)
    expect(isOwn({ Load_Balancer: { a: null } })).toBe(false)
    expect(isOwn({ Load_Balancer: { a: { name: 'tcp' } } })).toBe(false)
    expect(isOwn({ ...record([own]), ACL: { b: { action: 'drop' } } })).toBe(false)
  })

  it('knows that northd deletes no row', () => {
    expect(isNorthds({ Logical_Switch_Port: { a: null } })).toBe(false)
  })
})

describe('the log of a raft cluster', () => {
  const log = [
    'OVSDB CLUSTER 9 0123',
    '{"cluster_id":"c","prev_index":1,"prev_data":[{},{"NB_Global":{"a":{}}}]}',
    'OVSDB CLUSTER 9 0123',
    '{"term":1,"index":2}',
    'OVSDB CLUSTER 9 0123',
    '{"term":1,"index":3,"data":[null,{"Logical_Switch":{"b":{"name":"old"}}}]}',
    '{"commit_index":3}',
    '{"term":1,"index":4,"data":[null,{"Logical_Switch":{"c":{"name":"lost with its leader"}}}]}',
    '{"term":2,"vote":"v"}',
    '{"term":2,"index":4}',
    '{"term":2,"index":5,"data":[null,{"Logical_Switch":{"d":{"name":"new"}}}]}',
  ].join('\n')

  it('has transactions from an index on, whatever else is written', () => {
    expect(entriesSince(log, 4)).toEqual(['{"Logical_Switch":{"d":{"name":"new"}}}'])
    expect(entriesSince(log, 3)).toHaveLength(2)
    expect(entriesSince(log, 6)).toEqual([])
  })
})

it('counts writes by client, verb and resource', () => {
  const request = { user: 'system:node:node-1', verb: 'patch', resource: 'pods', subresource: 'status' }
  expect(countWrites([request, request, { ...request, user: 'admin', subresource: undefined }])).toEqual(
    new Map([
      ['node:node-1', new Map([['patch pods status', 2]])],
      ['admin', new Map([['patch pods', 1]])],
    ]),
  )
})

it('counts forks by the component of the parent, and passes over those of strangers', () => {
  const look: Components = new Map([['kube-ovn-cni node', [process(10, 0)]]])
  expect(countForks([{ parentPid: 10 }, { parentPid: 10 }, { parentPid: 99 }], look)).toEqual(
    new Map([['kube-ovn-cni node', 2]]),
  )
})

describe('packets', () => {
  it('reads the counters of links', () => {
    const table = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
  eth0: 3743854187  155798    0    0    0     0          0         0 11558975  107076    0    0    0     0       0          0
`
    expect(parseLinkCounters(table)).toEqual([['eth0', { received: 155_798, sent: 107_076 }]])
  })

  it('leaves out links that counted nothing', () => {
    const before = new Map([['node-1 lo', { received: 5, sent: 5 }]])
    const after = new Map([
      ['node-1 lo', { received: 5, sent: 5 }],
      ['node-1 ovn0', { received: 2, sent: 1 }],
    ])
    expect(packetsBetween(before, after)).toEqual(new Map([['node-1 ovn0', { received: 2, sent: 1 }]]))
  })
})
