import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { MatrixError } from '../errors.ts'
import { parseMatrix, readMatrix, type MatrixRuleInput } from './declaration.ts'
import type { Endpoint } from './endpoints.ts'
import { judge } from './judge.ts'
import { planCells } from './plan.ts'
import { exampleMatrix } from './preset.ts'
import { renderMatrix, summarizeMatrix } from './render.ts'
import type { MatrixRow } from './run-matrix.ts'

function pod(number: number, addresses = [`10.16.0.${number}`, `fd00:10:16::${number}`]): Endpoint {
  return {
    name: `shop/web-${number}`,
    addresses,
    netns: `/proc/${number}/ns/net`,
    nodeAddresses: ['10.172.3.10'],
  }
}

function cellsOf(declared: Partial<MatrixRuleInput>, from: readonly Endpoint[], to = from) {
  const everybody = [{ namespace: 'shop' }]
  return parseMatrix([{ from: everybody, to: everybody, ...declared }]).flatMap((rule) =>
    planCells(rule, from, to),
  )
}

describe('parseMatrix', () => {
  it('completes a rule: ping and TCP over both families are meant to reach', () => {
    expect(parseMatrix([{ from: ['nodes'], to: [{ namespace: 'shop' }] }])).toEqual([
      {
        from: ['nodes'],
        to: [{ namespace: 'shop', pods: '' }],
        by: ['ping', 'tcp'],
        families: ['ipv4', 'ipv6'],
        expect: 'reach',
      },
    ])
  })

  it('takes the matrix of the example', () => {
    expect(parseMatrix(exampleMatrix)).toHaveLength(exampleMatrix.length)
  })

  it('names field, value and cure of what it does not understand', () => {
    const declared = [{ from: ['nodes'], to: ['outside'], by: ['pigeon'] }]
    expect(() => parseMatrix(declared)).toThrow(MatrixError)
    expect(() => parseMatrix(declared)).toThrow(
      expect.objectContaining({
        details: { field: '0.by.0', value: '"pigeon"', cure: expect.stringContaining('"ping"') },
      }),
    )
  })
})

describe('readMatrix', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lab-matrix-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  it.each([
    ['- from: [', 'the file', /Flow sequence/, 'YAML or JSON'],
    ['', 'the file', /^null$/, 'a list of rules'],
    ['from: [nodes]', 'the file', /nodes/, 'a list of rules'],
    ['[{ to: [nodes] }]', '0.from', /^nothing$/, 'array'],
    [
      '[{ from: [shop], to: [nodes] }]',
      '0.from.0',
      /^"shop"$/,
      'nodes, outside, {namespace, pods: SELECTOR}',
    ],
    ['[{ from: [nodes], to: [nodes], expect: maybe }]', '0.expect', /^"maybe"$/, 'reach, no-reach or'],
    ['[{ from: [nodes], to: [nodes], port: 0 }]', '0.port', /^0$/, '>=1'],
  ])('names field, value and cure of "%s"', (text, field, value, cure) => {
    const file = join(directory, 'matrix.yaml')
    writeFileSync(file, text)
    expect(() => readMatrix(file)).toThrow(
      expect.objectContaining({
        name: 'MatrixError',
        details: { field, value: expect.stringMatching(value), cure: expect.stringContaining(cure) },
      }),
    )
  })

  it('names a file that is not there', () => {
    expect(() => readMatrix('/nowhere.yaml')).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ value: '/nowhere.yaml' }) }),
    )
  })
})

describe('planCells', () => {
  it('asks everybody for everybody else: six pods are 30 pairs, by each family and protocol', () => {
    const pods = [1, 2, 3, 4, 5, 6].map((number) => pod(number))
    expect(cellsOf({}, pods)).toHaveLength(30 * 2 * 2)
    expect(cellsOf({ families: ['ipv6'], by: ['udp'] }, pods)).toHaveLength(30)
  })

  it('asks only over families that both ends have', () => {
    const cells = cellsOf({ by: ['ping'] }, [pod(1, ['10.16.0.1'])], [pod(2)])
    expect(cells.map(({ family, target }) => [family, target])).toEqual([['ipv4', '10.16.0.2']])
  })

  it('takes the port of the rule, else of the Service, else one of its own', () => {
    const service: Endpoint = { ...pod(9), name: 'service shop/web', port: 80 }
    const portsOf = (declared: Partial<MatrixRuleInput>, to: Endpoint): number[] => [
      ...new Set(cellsOf({ by: ['tcp'], ...declared }, [pod(1)], [to]).map(({ port }) => port)),
    ]
    expect(portsOf({ port: 8080 }, service)).toEqual([8080])
    expect(portsOf({}, service)).toEqual([80])
    expect(portsOf({}, pod(2))).toEqual([18_080])
    expect(portsOf({ by: ['dns'] }, pod(2))).toEqual([53])
  })

  it('names a rule that has no name by what it claims', () => {
    const [cell] = cellsOf({ from: ['nodes'], expect: 'no-reach' }, [pod(1)], [pod(2)])
    expect(cell?.rule).toBe('nodes do not reach pods of shop')
  })
})

describe('judge', () => {
  const from = { addresses: ['10.16.0.1'], nodeAddresses: ['10.172.3.10'] }
  const seen = { source: '10.172.3.10', sourcePort: 40_000 }

  it.each([
    ['reach', { kind: 'reached', ms: 1 }, 'as expected'],
    ['reach', { kind: 'lost', reason: 'no answer' }, 'differs'],
    ['no-reach', { kind: 'lost', reason: 'no answer' }, 'as expected'],
    ['no-reach', { kind: 'reached', ms: 1 }, 'differs'],
    [{ source: 'node' }, { kind: 'reached', ms: 1, seen }, 'as expected'],
    [{ source: 'own' }, { kind: 'reached', ms: 1, seen }, 'differs'],
    [{ source: '10.172.3.10' }, { kind: 'reached', ms: 1, seen }, 'as expected'],
    [{ source: 'own' }, { kind: 'lost', reason: 'ECONNREFUSED' }, 'differs'],
    [{ source: 'own' }, { kind: 'reached', ms: 1 }, 'skipped'],
    ['no-reach', { kind: 'skipped', reason: 'the kernel has no sctp' }, 'skipped'],
  ] as const)('holds %j against %j: %s', (expect_, outcome, verdict) => {
    expect(judge(expect_, from, outcome).verdict).toBe(verdict)
  })
})

describe('the table', () => {
  function row(more: Partial<MatrixRow>): MatrixRow {
    return {
      rule: 'pods reach each other',
      from: 'shop/web-1',
      to: 'shop/web-2',
      address: '10.16.0.2',
      family: 'ipv4',
      protocol: 'ping',
      verdict: 'as expected',
      expected: 'reached',
      seen: 'reached',
      ms: 1.5,
      ...more,
    }
  }
  const lost = row({ verdict: 'differs', seen: 'no answer', to: 'shop/web-3' })
  const sctp = row({ protocol: 'sctp', verdict: 'skipped', seen: 'the kernel has no sctp' })

  it('begins with the pairs that differ', () => {
    expect(renderMatrix({ rows: [row({}), lost, sctp], ms: 1234 }))
      .toBe(`  ✗ shop/web-1 → shop/web-3 ping ipv4 expected reached saw no answer

  ✗ pods reach each other: ping ipv4 1 of 2 reached
  ∅ pods reach each other: sctp ipv4 1 skipped: the kernel has no sctp

1 of 3 differ, 1.2 s
`)
  })

  it('sums up by rule, protocol and family', () => {
    expect(
      summarizeMatrix([row({}), row({ family: 'ipv6', ms: 2 })]).map(({ name, verdict }) => [name, verdict]),
    ).toEqual([
      ['pods reach each other: ping ipv4', 'as expected'],
      ['pods reach each other: ping ipv6', 'as expected'],
    ])
  })
})
