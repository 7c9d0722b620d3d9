import { describe, expect, it } from 'vitest'
import { desiredChassis, type Chassis } from './desired.ts'

function chassis(
  name: string,
  hostname: string,
  external: Chassis['external_ids'] = {},
  config: Chassis['other_config'] = {},
): Chassis {
  return { _uuid: `uuid-${name}`, name, hostname, external_ids: external, other_config: config }
}

const vendor = { vendor: 'kube-ovn' }
const of = (node: string) => ({ ...vendor, node })

interface Case {
  readonly nodes?: Readonly<Record<string, string | undefined>>
  readonly chassis: readonly Chassis[]
  readonly removed?: Readonly<Record<string, string>>
}

function decide({ nodes = {}, chassis: rows, removed = {} }: Case) {
  const { marks, doomed, waiting } = desiredChassis({
    nodes: Object.entries(nodes).map(([node, told]) => ({ node, chassis: told })),
    chassis: rows,
    removed: new Map(Object.entries(removed)),
  })
  return {
    marks: marks.map((mark) => `${mark.chassis.name} ${mark.node}`),
    doomed: doomed.map((one) => `${one.chassis.name} ${one.node} ${one.why}`),
    waiting,
  }
}

const idle = { marks: [], doomed: [], waiting: [] }

describe('what is wanted of a chassis', () => {
  it.each<[string, Case, Partial<ReturnType<typeof decide>>]>([
    ['marked, of a node that has it', { nodes: { a: 'x' }, chassis: [chassis('x', 'a', of('a'))] }, {}],
    ['unmarked', { nodes: { a: 'x' }, chassis: [chassis('x', 'a')] }, { marks: ['x a'] }],
    [
      'with upstream’s mark and another hostname than the node’s name',
      { nodes: { a: 'x' }, chassis: [chassis('x', 'a.example.org', vendor)] },
      { marks: ['x a'] },
    ],
    ['of a node that is gone', { chassis: [chassis('x', 'a', of('a'))] }, { doomed: ['x a node-gone'] }],
    [
      'with upstream’s mark, of a node that is gone',
      { nodes: { b: 'y' }, chassis: [chassis('x', 'a', vendor), chassis('y', 'b', of('b'))] },
      { doomed: ['x a node-gone'] },
    ],
    [
      'with upstream’s mark, while a node has not told its chassis',
      { nodes: { b: undefined }, chassis: [chassis('x', 'a', vendor)] },
      {},
    ],
    [
      'of a node that has not told it again yet',
      { nodes: { a: undefined }, chassis: [chassis('x', 'a', of('a'))] },
      {},
    ],
    [
      'of a node that has another one, which may have to wait for it to go',
      { nodes: { a: 'y' }, chassis: [chassis('x', 'a', of('a'))] },
      {
        doomed: ['x a replaced'],
        waiting: [{ node: 'a', chassis: 'y', reason: { is: 'unregistered', others: ['x'] } }],
      },
    ],
    [
      'of a node that names that of another node',
      { nodes: { a: 'y', b: 'y' }, chassis: [chassis('x', 'a', of('a')), chassis('y', 'b', of('b'))] },
      {
        waiting: [
          { node: 'a', chassis: 'y', reason: { is: 'shared', nodes: ['b'] } },
          { node: 'b', chassis: 'y', reason: { is: 'shared', nodes: ['a'] } },
        ],
      },
    ],
    ['of a renamed node', { nodes: { b: 'x' }, chassis: [chassis('x', 'b', of('a'))] }, { marks: ['x b'] }],
    ['of somebody else', { nodes: { a: 'x' }, chassis: [chassis('x', 'a', of('a')), chassis('y', 'a')] }, {}],
    [
      'of another availability zone',
      {
        chassis: [
          chassis('x', 'a', of('a'), { 'is-remote': 'true' }),
          chassis('y', 'b', {}, { 'is-remote': 'true' }),
        ],
      },
      {},
    ],
    ['of an interconnection, unmarked', { chassis: [chassis('x', 'a', {}, { 'is-interconn': 'true' })] }, {}],
    [
      'registered again by an ovn-controller that outlived its node',
      { chassis: [chassis('x', 'a')], removed: { x: 'a' } },
      { marks: ['x a'] },
    ],
    [
      'removed once, of a node that came back',
      { nodes: { b: 'x' }, chassis: [chassis('x', 'b')], removed: { x: 'a' } },
      { marks: ['x b'] },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decide(given)).toEqual({ ...idle, ...expected })
  })
})
