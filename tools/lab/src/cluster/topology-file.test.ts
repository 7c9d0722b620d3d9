import { describe, expect, it } from 'vitest'
import { TopologyError } from '../errors.ts'
import { parseTopology, presets, readTopology } from './topology-file.ts'
import { plainNode, plainNodes } from './topology.ts'

describe('parseTopology', () => {
  it('takes an empty file for the default', () => {
    expect(parseTopology('')).toEqual({})
  })

  it('makes plain nodes of a number, the first of which hosts the databases', () => {
    expect(parseTopology('nodes: 3\nstack: ipv4\n')).toEqual({ nodes: plainNodes(3), stack: 'ipv4' })
  })

  it('reads each node of a list', () => {
    const text = `
podNetwork: bridge
nodes:
  - { zone: a, physicalNics: 2 }
  - { master: true, zone: b, labels: { rack: r1 } }
  -
`
    expect(parseTopology(text)).toEqual({
      podNetwork: 'bridge',
      nodes: [
        { ...plainNode, zone: 'a', physicalNics: 2 },
        { ...plainNode, isMaster: true, zone: 'b', labels: { rack: 'r1' } },
        plainNode,
      ],
    })
  })

  it('reads what is around the nodes', () => {
    expect(parseTopology('{ vlans: [100, 200], routers: [frr], clusters: 2 }')).toEqual({
      vlans: [100, 200],
      routers: ['frr'],
      clusters: 2,
    })
  })

  it('has a master where none is named', () => {
    expect(parseTopology('nodes: [{}, {}]').nodes?.map(({ isMaster }) => isMaster)).toEqual([true, false])
  })

  it.each([
    ['nodes: two', 'nodes', 'two'],
    ['nodes: 0', 'nodes', '0'],
    ['nodes: 201', 'nodes', '201'],
    ['nodes: []', 'nodes', '0 entries'],
    ['stack: ipv5', 'stack', 'ipv5'],
    ['podNetwork: calico', 'podNetwork', 'calico'],
    ['stacks: dual', 'stacks', 'dual'],
    ['nodes: [{ zones: a }]', 'nodes[0].zones', 'a'],
    ['nodes: [{ master: yes please }]', 'nodes[0].master', 'yes please'],
    ['nodes: [{}, { physicalNics: 9 }]', 'nodes[1].physicalNics', '9'],
    ['nodes: [{ labels: [a] }]', 'nodes[0].labels', '["a"]'],
    ['nodes: [{ labels: { rack: 1 } }]', 'nodes[0].labels.rack', '1'],
    ['vlans: 100', 'vlans', '100'],
    ['vlans: [100, 0]', 'vlans[1]', '0'],
    ['vlans: [100, 100]', 'vlans', '100'],
    ['routers: [quagga]', 'routers[0]', 'quagga'],
    ['clusters: 3', 'clusters', '3'],
    ['{ clusters: 2, nodes: 101 }', 'nodes', '101 in each of 2 clusters'],
    ['nodes: [{ name: node-1 }, { name: node-1 }]', 'nodes[0].name', 'node-1'],
    ['nodes: [{ labels: { "my rack": r1 } }]', 'nodes[0].labels', 'my rack'],
    ['nodes: [{ labels: { a/b/c: r1 } }]', 'nodes[0].labels', 'a/b/c'],
    ['nodes: [{ labels: { kubernetes.io/hostname: r1 } }]', 'nodes[0].labels', 'kubernetes.io/hostname'],
    ['- dual', 'the file', '["dual"]'],
  ])('says what is wrong with "%s"', (text, field, value) => {
    expect(detailsOf(() => parseTopology(text))).toMatchObject({ field, value })
  })

  it('takes labels that kubelet may give its node', () => {
    const labels = {
      'example.com/rack': 'r1',
      'node.kubernetes.io/kind': 'a',
      'topology.kubernetes.io/region': 'b',
    }
    expect(parseTopology(JSON.stringify({ nodes: [{ labels }] })).nodes?.[0]?.labels).toEqual(labels)
  })

  it.each(['nodes: [1', 'nodes: *two', 'nodes: 2\nnodes: 3', 'nodes: 2\n---\nnodes: 2'])(
    'says that "%s" is no YAML',
    (text) => {
      expect(detailsOf(() => parseTopology(text))).toMatchObject({ field: 'the file' })
    },
  )
})

describe('readTopology', () => {
  it('knows presets by name', () => {
    expect(readTopology('ha')).toBe(presets['ha'])
  })

  it('names the presets where there is no such file', () => {
    expect(detailsOf(() => readTopology('/'))).toMatchObject({ field: '--topology', value: '/' })
    const details = detailsOf(() => readTopology('toString'))
    expect(details).toMatchObject({ field: '--topology', value: 'toString' })
    expect(details.cure).toContain('two-nodes, ipv6-only, ha')
  })
})

function detailsOf(work: () => unknown): TopologyError['details'] {
  try {
    work()
  } catch (error) {
    if (error instanceof TopologyError) return error.details
  }
  return expect.unreachable()
}
