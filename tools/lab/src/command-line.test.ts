import { describe, expect, it } from 'vitest'
import { parseCommandLine } from './command-line.ts'
import { LabUsageError } from './errors.ts'

describe('parseCommandLine', () => {
  it('makes a dual stack cluster of two nodes that does not outlive the run', () => {
    expect(parseCommandLine([])).toEqual({
      verb: 'run',
      rest: [],
      isJson: false,
      topology: { id: 'lab', nodes: 2, stack: 'dual', podNetwork: 'kube-ovn', isKept: false },
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
      nodes: 3,
      isKept: true,
    })
  })

  it.each([
    [['sideways'], 'verb sideways'],
    [['--nodes', 'two'], '--nodes two'],
    [['--stack', 'ipv5'], '--stack ipv5'],
    [['--id', 'No spaces'], '--id No spaces'],
  ])('names what it does not understand in %j', (args, argument) => {
    try {
      parseCommandLine(args)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(LabUsageError)
      expect(error).toMatchObject({ details: { argument } })
    }
  })
})
