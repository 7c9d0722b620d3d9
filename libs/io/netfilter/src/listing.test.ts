import { describe, expect, it } from 'vitest'
import { parseListing, parseTables, sameListing } from './listing.ts'

interface Details {
  readonly handle: number
  readonly packets: number
  readonly elements: readonly string[]
  readonly swapped?: boolean
}

/** What nft 1.0.6 printed for a table, with other handles, counts and orders of elements. */
function printed({ handle, packets, elements, swapped = false }: Details): string {
  const of = { family: 'inet', table: 't' }
  const counting = {
    rule: { ...of, chain: 'c', handle: handle + 3, expr: [{ counter: { packets, bytes: packets * 60 } }] },
  }
  const dropping = { rule: { ...of, chain: 'c', handle: handle + 4, expr: [{ drop: null }] } }
  return JSON.stringify({
    nftables: [
      { metainfo: { version: '1.0.6', release_name: 'Lester Gooch #5', json_schema_version: 1 } },
      { table: { family: 'inet', name: 't', handle } },
      { set: { ...of, name: 's', type: 'ipv4_addr', handle: handle + 1, elem: elements } },
      { chain: { ...of, name: 'c', handle: handle + 2 } },
      ...(swapped ? [dropping, counting] : [counting, dropping]),
    ],
  })
}

const one = parseListing(printed({ handle: 1, packets: 0, elements: ['10.0.0.1', '10.0.0.2'] }))

describe('a listing', () => {
  it('does not depend on handles, counts and the order of set elements', () => {
    const other = parseListing(printed({ handle: 40, packets: 9, elements: ['10.0.0.2', '10.0.0.1'] }))
    expect(sameListing(one, other)).toBe(true)
  })

  it('depends on the elements', () => {
    const other = parseListing(printed({ handle: 1, packets: 0, elements: ['10.0.0.1'] }))
    expect(sameListing(one, other)).toBe(false)
  })

  it('depends on the order of rules', () => {
    const elements = ['10.0.0.1', '10.0.0.2']
    const other = parseListing(printed({ handle: 1, packets: 0, elements, swapped: true }))
    expect(sameListing(one, other)).toBe(false)
  })

  it('of nothing is like that of nothing only', () => {
    expect(sameListing(undefined, undefined)).toBe(true)
    expect(sameListing(one, undefined)).toBe(false)
  })
})

it('of all tables tells those of the families that may be asked for', () => {
  const tables = [
    { metainfo: { version: '1.0.6', release_name: 'Lester Gooch #5', json_schema_version: 1 } },
    { table: { family: 'inet', name: 'kube-ovn', handle: 1 } },
    { table: { family: 'bridge', name: 'other', handle: 2 } },
    { table: { family: 'ip', name: 'nat', handle: 3 } },
  ]
  expect(parseTables(JSON.stringify({ nftables: tables }))).toEqual([
    { family: 'inet', name: 'kube-ovn' },
    { family: 'ip', name: 'nat' },
  ])
})
