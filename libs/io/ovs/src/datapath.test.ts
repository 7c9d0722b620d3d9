import { describe, expect, it } from 'vitest'
import { parseCoverage } from './coverage.ts'
import { parseDatapaths } from './datapath.ts'

const kernel = `system@ovs-system:
  lookups: hit:1200 missed:34 lost:5
  flows: 17
  masks: hit:4000 total:6 hit/pkt:3.24
  cache: hit:900 hit-rate:72.93%
  caches:
    masks-cache: size:256
  port 0: ovs-system (internal)
  port 1: br-int (internal)
  port 2: eth0
  port 3: genev_sys_6081 (geneve: packet_type=ptap)
`
const userspace = `netdev@ovs-netdev:
  lookups: hit:0 missed:1 lost:0
  flows: 1
  port 0: ovs-netdev (tap)
`

describe('parseDatapaths', () => {
  it('reads what the kernel forwards', () => {
    expect(parseDatapaths(kernel)).toEqual([
      {
        type: 'system',
        name: 'ovs-system',
        flows: 17,
        lookups: { hit: 1200, missed: 34, lost: 5 },
        masks: { hit: 4000, total: 6, hitsPerPacket: 3.24 },
        ports: [
          { number: 0, name: 'ovs-system', type: 'internal' },
          { number: 1, name: 'br-int', type: 'internal' },
          { number: 2, name: 'eth0', type: 'system' },
          { number: 3, name: 'genev_sys_6081', type: 'geneve' },
        ],
      },
    ])
  })

  it('tells data paths apart, and leaves out what one does not have', () => {
    const [first, second] = parseDatapaths(kernel + userspace)
    expect([first?.name, second?.name]).toEqual(['ovs-system', 'ovs-netdev'])
    expect(second).toMatchObject({
      flows: 1,
      masks: { hit: undefined, total: undefined },
      ports: [{ name: 'ovs-netdev' }],
    })
  })

  it.each(['', 'nothing of the kind', 'a@b\n  flows: 1'])('finds none in %j', (text) => {
    expect(parseDatapaths(text)).toEqual([])
  })
})

it('reads how often events happened', () => {
  const text = `Event coverage, avg rate over last: 5 seconds, last minute, last hour,  hash=306a9b23:
rev_flow_table             0.0/sec     0.000/sec        0.0000/sec   total: 1
xlate_actions            120.4/sec   110.000/sec       90.0000/sec   total: 4711
127 events never hit
`
  expect(Object.fromEntries(parseCoverage(text))).toEqual({ rev_flow_table: 1, xlate_actions: 4711 })
})
