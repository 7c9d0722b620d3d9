import type { LinkInfo } from '@kube-ovn/netlink'
import { describe, expect, it } from 'vitest'
import type { VlanChoice } from './snapshot.ts'
import { chooseVlans, parseVlanName, vlanPortName } from './vlan-interfaces.ts'

it.each([
  ['eth1.100', { parent: 'eth1', id: 100 }],
  ['bond0.1.4094', { parent: 'bond0.1', id: 4094 }],
  ['eth1', undefined],
  ['eth1.0', undefined],
  ['eth1.4095', undefined],
  ['eth1.x', undefined],
  ['.7', undefined],
  ['enp3s0f0np.1000', { parent: 'enp3s0f0np', id: 1000 }],
  ['enp3s0f0np0.1000', undefined],
])('%s names %j', (name, parts) => {
  expect(parseVlanName(name)).toEqual(parts)
})

describe('the port that stands for a VLAN interface', () => {
  it('has a name that says what it is, if that is short enough', () => {
    expect(vlanPortName('br-quay', 100)).toBe('br-quay-vlan100')
  })

  it('has a name of 15 characters that is its own otherwise', () => {
    const names = ['br-harbour', 'br-harbou2'].map((bridge) => vlanPortName(bridge, 1234))
    for (const name of names) expect(name).toMatch(/^kv1234-[a-z2-7]{8}$/)
    expect(new Set(names).size).toBe(2)
  })
})

describe('the VLAN interfaces that are kept', () => {
  const device = (name: string, id: number, index: number, more: Partial<LinkInfo> = {}) => ({
    ...({ index, name, kind: 'vlan', vlanId: id, linkIndex: 2 } as LinkInfo),
    ...{ ...more, id },
  })
  const eth100 = device('eth1.100', 100, 5)
  const eth200 = device('eth1.200', 200, 6)
  const all: VlanChoice = { preservesAll: true, named: [], others: [] }

  function chosen(choice: Partial<VlanChoice>, devices = [eth100, eth200]) {
    const known = [{ name: 'eth1.300', id: 300 }]
    const wanted = chooseVlans('br-quay', { ...all, ...choice }, devices, known, devices)
    return wanted.map(({ name, port, device: link }) => `${name} ${port} ${link?.index ?? 'none'}`)
  }

  it('are all of them, or those that are named, with those that are kept already', () => {
    expect(chosen({})).toEqual([
      'eth1.100 br-quay-vlan100 5',
      'eth1.200 br-quay-vlan200 6',
      'eth1.300 br-quay-vlan300 none',
    ])
    expect(chosen({ preservesAll: false, named: ['eth1.200', 'eth1.7'] })).toEqual([
      'eth1.200 br-quay-vlan200 6',
    ])
  })

  it('have a tag each, and nobody who depends on them', () => {
    const refusal = (links: readonly LinkInfo[], devices = [eth100]) => {
      try {
        chooseVlans('br-quay', all, devices, [], links)
      } catch (error) {
        return error
      }
      return undefined
    }
    const named = (value: string, cure: string) =>
      expect.objectContaining({
        details: expect.objectContaining({ value, cure: expect.stringContaining(cure) }),
      })
    expect(refusal([], [eth100, device('uplink', 100, 9)])).toEqual(named('uplink', 'eth1.100 and uplink'))
    const above = { index: 8, name: 'mv0', kind: 'macvlan', linkIndex: 5 } as LinkInfo
    expect(refusal([above])).toEqual(named('eth1.100', 'take it from mv0'))
    // An index in another namespace is one of another link.
    expect(refusal([{ ...above, linkNetnsId: 0 }])).toBeUndefined()
    const bridge = { index: 8, name: 'br0', kind: 'bridge' } as LinkInfo
    expect(refusal([bridge], [device('eth1.100', 100, 5, { masterIndex: 8 })])).toEqual(
      named('eth1.100', 'take it from br0'),
    )
  })
})
