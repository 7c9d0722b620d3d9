import { describe, expect, it } from 'vitest'
import { balance, bucketsOf } from './balance.ts'
import { servedPorts, type ServedPort } from './served-ports.ts'

const backends = Array.from({ length: 8 }, (_, index) => `10.16.0.${index + 2}:8080`)

/** The backend of each part of the clients. */
function chosen(of: readonly string[]): readonly string[] {
  return bucketsOf(of).flatMap(({ range, backend }) => {
    if (typeof range !== 'object' || !('range' in range)) return [backend]
    const [from, to] = range.range.map(Number)
    return Array.from({ length: (to ?? 0) - (from ?? 0) + 1 }, () => backend)
  })
}

describe('clients with affinity', () => {
  it('are divided among all backends, none of which has many more than another', () => {
    const counts = backends.map((one) => chosen(backends).filter((backend) => backend === one).length)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(256)
    expect(Math.min(...counts)).toBeGreaterThan(256 / 8 / 3)
    expect(Math.max(...counts)).toBeLessThan((256 / 8) * 2)
  })

  it('stay where they are when another backend goes, and come to a new one only', () => {
    const before = chosen(backends)
    const gone = backends[3]
    const after = chosen(backends.filter((one) => one !== gone))
    expect(before.filter((one, bucket) => one !== gone && after[bucket] !== one)).toEqual([])
    const more = chosen([...backends, '10.16.0.99:8080'])
    expect(more.filter((one, bucket) => one !== before[bucket] && one !== '10.16.0.99:8080')).toEqual([])
  })

  it('are divided among all backends of many, too', () => {
    const many = Array.from({ length: 1200 }, (_, index) => `10.16.${index >> 8}.${index & 255}:8080`)
    expect(new Set(chosen(many)).size).toBeGreaterThan(1200 * 0.99)
  })

  it('do not depend on the order in which backends are listed', () => {
    expect(chosen(backends.toReversed())).toEqual(chosen(backends))
  })
})

it('is one translation where there is one backend', () => {
  const [port] = servedPorts(
    { metadata: { name: 'a' }, spec: { clusterIP: 'fd00::1', ports: [{ port: 1 }] } },
    [],
    { node: 'n1', zone: undefined },
  )
  expect(balance(port as ServedPort, ['[fd00:10:16::2]:8080'])).toEqual([
    { match: { op: '==', left: { meta: { key: 'l4proto' } }, right: 'tcp' } },
    { dnat: { family: 'ip6', addr: 'fd00:10:16::2', port: 8080 } },
  ])
})
