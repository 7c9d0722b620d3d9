import { describe, expect, it } from 'vitest'
import { defaultTopology, plainNodes } from './cluster/topology.ts'
import { asksForHelp, parseCommandLine } from './command-line.ts'
import { LabUsageError, TopologyError } from './errors.ts'

describe('parseCommandLine', () => {
  it('makes a dual stack cluster of two nodes that does not outlive the run', () => {
    expect(parseCommandLine([])).toEqual({
      verb: 'run',
      rest: [],
      isJson: false,
      hasNewAddresses: false,
      fakes: { nodes: 0, pods: 0 },
      topologies: [{ ...defaultTopology, nodes: plainNodes(2), stack: 'dual', isKept: false }],
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
    expect(parseCommandLine(['up', '--nodes', '3', '--id', 'other']).topologies[0]).toMatchObject({
      id: 'other',
      nodes: plainNodes(3),
      isKept: true,
    })
  })

  it('takes a preset, and flags before what it says', () => {
    const { nodes, stack } = parseCommandLine(['--topology', 'ha', '--stack', 'ipv4', '--zones', 'a,b'])
      .topologies[0]
    expect(stack).toBe('ipv4')
    expect(nodes.map(({ isMaster, zone }) => [isMaster, zone])).toEqual([
      [true, 'a'],
      [true, 'b'],
      [true, 'a'],
    ])
    expect(parseCommandLine(['--topology', 'ha', '--nodes', '5']).topologies[0].nodes).toEqual(
      plainNodes(5, 3),
    )
  })

  it('makes clusters that see each other', () => {
    const [first, second, ...others] = parseCommandLine(['up', '--topology', 'multi-cluster']).topologies
    expect(first).toMatchObject({ id: 'lab', isKept: true })
    expect(second).toMatchObject({ id: 'lab-2', sees: 'lab', isKept: true })
    expect(second?.podRange).not.toEqual(first.podRange)
    expect(others).toEqual([])
  })

  it('takes VLANs and routers', () => {
    const [topology] = parseCommandLine(['--vlans', '7,4094', '--routers', 'bird,bird']).topologies
    expect(topology).toMatchObject({ vlans: [7, 4094], routers: ['bird', 'bird'] })
    expect(() => parseCommandLine(['--vlans', '7,4095'])).toThrow(TopologyError)
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
    [['--fake-nodes', '10', '--cni', 'bridge'], '--fake-nodes 10'],
    [['--topology', 'multi-cluster', '--nodes', '101'], '--nodes 101'],
    // A lab is not meant by its place.
    [['down', 'other'], 'down other'],
    [['up', 'ha'], 'up ha'],
    [['logs', 'node-1', 'node-2'], 'logs node-2'],
    [['matrix', 'a.yaml', 'b.yaml'], 'matrix b.yaml'],
    [['down', '--keep'], 'down --keep'],
    [['up', '--json'], 'up --json'],
    [['exec', '--nodes', '2', 'node-1'], 'exec --nodes'],
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
    const { rest, topologies } = parseCommandLine([
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
    expect(topologies[0].id).toBe('other')
  })

  it('leaves out the two dashes before the command of exec, as kubectl does', () => {
    expect(parseCommandLine(['exec', 'node-1', '--', 'ip', '--help']).rest).toEqual([
      'node-1',
      'ip',
      '--help',
    ])
  })

  it('names a zone that can be no label', () => {
    expect(() => parseCommandLine(['--zones', 'a,b/c'])).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: '--zones', value: 'b/c' }) }),
    )
  })

  it.each([
    [['--help'], true],
    [['-h'], true],
    [['help'], true],
    [['exec', '--help'], true],
    [['exec', 'node-1', 'ip', '--help'], false],
    [['matrix', 'help.yaml'], false],
  ])('knows whether %j asks for help', (args, isAsked) => {
    expect(asksForHelp(args)).toBe(isAsked)
  })

  it('names an option that it does not know', () => {
    expect(() => parseCommandLine(['--sideways'])).toThrow(LabUsageError)
  })
})
