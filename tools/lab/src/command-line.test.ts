import { describe, expect, it } from 'vitest'
import { plainNodes } from './cluster/topology.ts'
import { parseCommandLine } from './command-line.ts'
import { LabUsageError } from './errors.ts'

describe('parseCommandLine', () => {
  it('makes a dual stack cluster of two nodes that does not outlive the run', () => {
    expect(parseCommandLine([])).toEqual({
      verb: 'run',
      rest: [],
      isJson: false,
      hasNewAddresses: false,
      fakes: { nodes: 0, pods: 0 },
      topology: { id: 'lab', nodes: plainNodes(2), stack: 'dual', podNetwork: 'kube-ovn', isKept: false },
    })
  })

  it('takes the file of a matrix, and whether a program reads the result', () => {
    expect(parseCommandLine(['matrix', 'matrix.yaml', '--json'])).toMatchObject({
      verb: 'matrix',
      rest: ['matrix.yaml'],
      isJson: true,
    })
  })

  it('keeps what `up` makes', () => {
    expect(parseCommandLine(['up', '--nodes', '3', '--id', 'other']).topology).toMatchObject({
      id: 'other',
      nodes: plainNodes(3),
      isKept: true,
    })
  })

  it('takes a preset, and flags before what it says', () => {
    const { nodes, stack } = parseCommandLine([
      '--topology',
      'ha',
      '--stack',
      'ipv4',
      '--zones',
      'a,b',
    ]).topology
    expect(stack).toBe('ipv4')
    expect(nodes.map(({ isMaster, zone }) => [isMaster, zone])).toEqual([
      [true, 'a'],
      [true, 'b'],
      [true, 'a'],
    ])
    expect(parseCommandLine(['--topology', 'ha', '--nodes', '5']).topology.nodes).toEqual(plainNodes(5, 3))
  })

  it('takes a number below zero for what it is', () => {
    expect(
      parseCommandLine(['fault', 'apply', 'clock', 'agent@node-1', '-60', '--id', 'other']).rest,
    ).toEqual(['apply', 'clock', 'agent@node-1', '-60'])
  })

  it('takes numbers of fake nodes and pods', () => {
    expect(parseCommandLine(['--fake-nodes', '200', '--fake-pods', '10000']).fakes).toEqual({
      nodes: 200,
      pods: 10_000,
    })
  })

  it.each([
    [['sideways'], 'verb sideways'],
    [['--nodes', 'two'], '--nodes two'],
    [['--stack', 'ipv5'], '--stack ipv5'],
    [['--id', 'No spaces'], '--id No spaces'],
    [['--masters', '3'], '--masters 3'],
    [['--nics', '0'], '--nics 0'],
    [['--fake-pods', '10'], '--fake-pods 10'],
    [['--fake-nodes', '-1'], '--fake-nodes -1'],
    [['--fake-nodes', '10', '--cni', 'bridge'], '--cni bridge --fake-nodes'],
  ])('names what it does not understand in %j', (args, argument) => {
    try {
      parseCommandLine(args)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(LabUsageError)
      expect(error).toMatchObject({ details: { argument } })
    }
  })

  it('leaves the command of exec alone', () => {
    const { rest, topology } = parseCommandLine([
      'exec',
      '--id',
      'other',
      'node-1',
      'ip',
      '-6',
      'route',
      '--id',
    ])
    expect(rest).toEqual(['node-1', 'ip', '-6', 'route', '--id'])
    expect(topology.id).toBe('other')
  })

  it('names an option that it does not know', () => {
    expect(() => parseCommandLine(['--sideways'])).toThrow(LabUsageError)
  })
})
