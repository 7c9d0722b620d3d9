import { describe, expect, it } from 'vitest'
import { northboundView, readRows, southboundView } from './database-rows.ts'
import { splitRuleset } from './nft-rules.ts'
import { readSocketTable, withoutIds } from './node-snapshot.ts'
import { compareSnapshots, renderDifferences } from './snapshot.ts'

describe('compareSnapshots', () => {
  it('finds nothing where only the order differs', () => {
    const before = new Map([['links', ['lo', 'eth0']]])
    expect(compareSnapshots(before, new Map([['links', ['eth0', 'lo']]]))).toEqual([])
  })

  it('counts things that look the same', () => {
    const before = new Map([['processes', ['sh', 'sh', 'kubelet']]])
    const after = new Map([['processes', ['sh', 'sh', 'sh']]])
    expect(compareSnapshots(before, after)).toEqual([
      { where: 'processes', appeared: ['sh'], disappeared: ['kubelet'] },
    ])
  })

  it('sees a place that is only in one of them', () => {
    expect(compareSnapshots(new Map(), new Map([['node-3 links', ['lo']]]))).toEqual([
      { where: 'node-3 links', appeared: ['lo'], disappeared: [] },
    ])
  })
})

it('renders a difference so that it can be read', () => {
  const differences = [{ where: 'node-1 links', appeared: ['a_h', 'b_h', 'b_h'], disappeared: ['ovn0'] }]
  expect(renderDifferences(differences)).toBe('node-1 links\n  + a_h\n  + b_h  × 2\n  - ovn0\n')
})

it('takes a pod for the same whose sandbox was made again', () => {
  expect(
    [
      '003a7e16a29b_h',
      'cni-cc3f6f6a-6d0b-8640-6bb2-fd18c4686479',
      'br-phy',
      'e8bd3e13bcff_h of web.shop',
      'ovn-2f9324-1 geneve',
    ].map(withoutIds),
  ).toEqual(['#_h', 'cni-#', 'br-phy', '#_h of web.shop', 'ovn-2f9324-# geneve'])
})

it('splits a ruleset into rules, sets and elements, each with where it is', () => {
  const ruleset = `table inet kube-ovn {
	set pods {
		type ipv4_addr
		elements = { 10.16.0.2, 10.16.0.3,
			     10.16.0.4 }
	}

	map services {
		type inet_proto . inet_service : verdict
		elements = { tcp . 80 comment "a, b" : goto chain-a }
	}

	chain post {
		type nat hook postrouting priority srcnat; policy accept;
		ip daddr { 10.0.0.0/8, 192.168.0.0/16 } masquerade
	}
}
`
  const table = 'table inet kube-ovn'
  expect(splitRuleset(ruleset)).toEqual([
    table,
    `${table} set pods`,
    `${table} set pods: type ipv4_addr`,
    `${table} set pods: element 10.16.0.2`,
    `${table} set pods: element 10.16.0.3`,
    `${table} set pods: element 10.16.0.4`,
    `${table} map services`,
    `${table} map services: type inet_proto . inet_service : verdict`,
    `${table} map services: element tcp . 80 comment "a, b" : goto chain-a`,
    `${table} chain post`,
    `${table} chain post: type nat hook postrouting priority srcnat; policy accept;`,
    `${table} chain post: ip daddr { 10.0.0.0/8, 192.168.0.0/16 } masquerade`,
  ])
})

describe('readRows', () => {
  const uuid = '2f77b348-9768-4866-b761-89d5177ecdaf'

  function dump(caption: string, row: Readonly<Record<string, unknown>>): string {
    return JSON.stringify({
      caption: `${caption} table`,
      headings: Object.keys(row),
      data: [Object.values(row)],
    })
  }

  it('renders a row the same when it was made again: without UUIDs, empty columns and what changes by itself', () => {
    const text = dump('Logical_Switch_Port', {
      _uuid: ['uuid', uuid],
      name: 'web.shop',
      addresses: ['set', ['b', 'a']],
      external_ids: ['map', [['ls', `switch-${uuid}`]]],
      options: ['map', []],
      up: true,
      ha_chassis_group: ['set', []],
      mirror_rules: ['set', [['uuid', uuid]]],
    })
    expect(readRows(text, northboundView())).toEqual([
      'Logical_Switch_Port name=web.shop addresses=a,b external_ids=ls:switch-# mirror_rules=#',
    ])
  })

  it('looks at the backends of load balancers, but for those that move with what a suite restarts', () => {
    const pairs = [
      ['10.96.0.10:53', '10.16.0.2:53,10.16.0.3:53'],
      ['10.96.0.9:10660', '10.172.1.10:10660'],
      ['[fd00:10:96::9]:10660', '[fd00:172:30:1::a]:10660'],
    ]
    const text = dump('Load_Balancer', { name: 'tcp', vips: ['map', pairs] })
    expect(readRows(text, northboundView(['10.96.0.9', '[fd00:10:96::9]']))).toEqual([
      'Load_Balancer name=tcp vips=10.96.0.10:53:10.16.0.2:53,10.16.0.3:53,10.96.0.9:10660,[fd00:10:96::9]:10660',
    ])
  })

  it('looks at the Southbound by names only, and not at what is learned', () => {
    const flow = dump('Logical_Flow', {
      pipeline: 'ingress',
      priority: 100,
      external_ids: [
        'map',
        [
          ['source', 'northd.c:1'],
          ['stage-name', 'ls_in_l2_lkup'],
        ],
      ],
    })
    const learned = dump('MAC_Binding', { ip: '10.16.0.2' })
    expect(readRows(`${flow}\n${learned}`, southboundView)).toEqual([
      'Logical_Flow pipeline=ingress external_ids:stage-name=ls_in_l2_lkup',
    ])
  })
})

it('takes the groups of a switch that got another number for the same', () => {
  const group = (name: string): string =>
    JSON.stringify({
      caption: 'Port_Group table',
      headings: ['_uuid', 'name'],
      data: [[['uuid', '1'], name]],
    })
  const [before, after] = ['3_node.node.1', '4_node.node.1'].map((name) =>
    readRows(group(name), southboundView),
  )
  expect(before).toEqual(['Port_Group name=#_node.node.1'])
  expect(after).toEqual(before)
})

it('reads listening sockets, of UDP only those on a port of their own', () => {
  const heading = '  sl  local_address rem_address   st tx_queue rx_queue'
  const tcp = [
    heading,
    '   0: 00000000:1F90 00000000:0000 0A 00000000:00000000',
    '   1: 0100007F:9C40 00000000:0000 0A 00000000:00000000',
    '   2: 0100007F:1F90 0100007F:A000 01 00000000:00000000',
  ].join('\n')
  expect(readSocketTable('tcp', tcp)).toEqual(['tcp port 8080', 'tcp port of clients'])
  const udp = [heading, '  0: 00000000:17C1 00000000:0000 07', '  1: 00000000:9C40 00000000:0000 07'].join(
    '\n',
  )
  expect(readSocketTable('udp', udp)).toEqual(['udp port 6081'])
})
