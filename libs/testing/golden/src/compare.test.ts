import { describe, expect, it } from 'vitest'
import { compareDumps, rulesFor } from './compare.ts'
import type { DeclaredDifference } from './differences.ts'

const mark: DeclaredDifference = { in: 'northbound', kind: '*', path: ['external_ids', 'owner'], why: 'mark' }

describe('compareDumps', () => {
  it('finds nothing between equal dumps, whatever their order', () => {
    const a = { Logical_Switch: [{ name: 'a' }, { name: 'b', ports: ['p'] }] }
    const b = { Logical_Switch: [{ ports: ['p'], name: 'b' }, { name: 'a' }] }
    expect(compareDumps(a, b, [])).toEqual([])
  })

  it('tells for each side what only it has', () => {
    const differences = compareDumps(
      { ACL: [{ priority: 1 }] },
      { ACL: [{ priority: 2 }], NAT: [{ type: 'snat' }] },
      [],
    )
    expect(differences).toEqual([
      { kind: 'ACL', side: 'recorded', object: { priority: 1 } },
      { kind: 'ACL', side: 'ours', object: { priority: 2 } },
      { kind: 'NAT', side: 'ours', object: { type: 'snat' } },
    ])
  })

  it('counts equal rows', () => {
    expect(
      compareDumps({ NAT: [{ type: 'snat' }] }, { NAT: [{ type: 'snat' }, { type: 'snat' }] }, []),
    ).toHaveLength(1)
  })

  it('leaves out a declared path on both sides, with what is empty without it', () => {
    const recorded = {
      Port_Group: [{ name: 'g', external_ids: { vendor: 'kube-ovn' } }],
      Meter: [{ name: 'm' }],
    }
    const found = {
      Port_Group: [{ name: 'g', external_ids: { vendor: 'kube-ovn', owner: 'node/n1' } }],
      Meter: [{ name: 'm', external_ids: { owner: 'x' } }],
    }
    expect(compareDumps(recorded, found, [mark])).toEqual([])
    expect(compareDumps(recorded, found, [])).toHaveLength(4)
  })

  it('leaves out a whole kind', () => {
    const rule: DeclaredDifference = { in: 'northbound', kind: 'Load_*', why: 'later' }
    expect(compareDumps({ Load_Balancer: [{ name: 'l' }], ACL: [] }, {}, [rule])).toEqual([])
  })
})

describe('rulesFor', () => {
  it('picks the declarations of a side and of a case', () => {
    const one: DeclaredDifference = { in: 'kubernetes', kind: 'Pod', case: 'pods/*', why: '' }
    expect(rulesFor([mark, one], 'northbound', 'pods/burst')).toEqual([mark])
    expect(rulesFor([mark, one], 'kubernetes', 'pods/burst')).toEqual([one])
    expect(rulesFor([mark, one], 'kubernetes', 'base/v4')).toEqual([])
  })
})
