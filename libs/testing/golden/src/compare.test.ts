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

  it('counts routes once that are the same without what is declared', () => {
    const route = (owner: string) => ({ ip_prefix: '10.1.0.0/16', external_ids: { owner } })
    const found = { Logical_Router_Static_Route: [route('vpc-route/a'), route('vpc-route/b')] }
    expect(
      compareDumps({ Logical_Router_Static_Route: [{ ip_prefix: '10.1.0.0/16' }] }, found, [mark]),
    ).toEqual([])
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

  it('leaves out rows that match, and no others', () => {
    const row = { ip_prefix: '10.*', 'external_ids.vendor': 'kube-ovn' }
    const rule: DeclaredDifference = { in: 'northbound', kind: 'Route', row, why: 'not needed' }
    const external_ids = { vendor: 'kube-ovn' }
    const recorded = {
      Route: [
        { ip_prefix: '10.1.0.0/16', external_ids },
        { ip_prefix: '::/0', external_ids },
        { ip_prefix: '10.2.0.0/16' },
      ],
    }
    expect(compareDumps(recorded, {}, [rule]).map(({ object }) => object['ip_prefix'])).toEqual([
      '::/0',
      '10.2.0.0/16',
    ])
  })

  it('leaves out a path of the rows that match', () => {
    const rule: DeclaredDifference = {
      in: 'kubernetes',
      kind: 'Vpc',
      row: { 'metadata.name': 'a' },
      path: ['status'],
      why: '',
    }
    const vpc = (name: string, status?: object) => ({
      metadata: { name },
      ...(status && { status: { ...status } }),
    })
    const recorded = { Vpc: [vpc('a'), vpc('b')] }
    const found = { Vpc: [vpc('a', { standby: true }), vpc('b', { standby: true })] }
    expect(compareDumps(recorded, found, [rule])).toHaveLength(2)
    expect(compareDumps(recorded, { Vpc: [vpc('a', { standby: true }), vpc('b')] }, [rule])).toEqual([])
  })

  it('leaves out the texts of a list that match', () => {
    const rule: DeclaredDifference = {
      in: 'northbound',
      kind: 'Router',
      path: ['routes', 'Route:*src-ip*'],
      why: '',
    }
    const recorded = { Router: [{ routes: ['Route:|dst-ip|::/0', 'Route:|src-ip|10.1.0.0/16'] }] }
    expect(compareDumps(recorded, { Router: [{ routes: ['Route:|dst-ip|::/0'] }] }, [rule])).toEqual([])
    expect(compareDumps(recorded, { Router: [{ routes: [] }] }, [rule])).toHaveLength(2)
  })

  it('leaves out a whole kind', () => {
    const rule: DeclaredDifference = { in: 'northbound', kind: 'Load_*', why: 'later' }
    expect(compareDumps({ Load_Balancer: [{ name: 'l' }], ACL: [] }, {}, [rule])).toEqual([])
  })
})

describe('rulesFor', () => {
  it('picks the declarations of a side and of a case', () => {
    const one: DeclaredDifference = { in: 'kubernetes', kind: 'Pod', case: 'pods/*', why: '' }
    expect(rulesFor([mark, one], 'northbound', 'pods/burst', '01')).toEqual([mark])
    expect(rulesFor([mark, one], 'kubernetes', 'pods/burst', '01')).toEqual([one])
    expect(rulesFor([mark, one], 'kubernetes', 'base/v4', '01')).toEqual([])
  })

  it('picks those of a step', () => {
    const third: DeclaredDifference = { ...mark, step: '03' }
    expect(rulesFor([third], 'northbound', 'pods/burst', '03')).toEqual([third])
    expect(rulesFor([third], 'northbound', 'pods/burst', '04')).toEqual([])
  })
})
