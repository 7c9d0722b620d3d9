import { describe, expect, it } from 'vitest'
import { network } from '../testing/networks.ts'
import { accept, isDeclined, type Acceptance } from './acceptance.ts'

const [old, wanted, other] = ['10.1.0.0/16', '10.2.0.0/16', '10.3.0.0/16'].map((cidr) =>
  network('blue', cidr),
)

function acceptance(fields: Partial<Acceptance>): Acceptance {
  return { inEffect: undefined, accepted: undefined, declined: undefined, ...fields }
}

describe('What a subnet comes to', () => {
  it.each([
    ['gives addresses at once when it is new', {}, wanted, undefined, { inEffect: wanted, accepted: wanted }],
    ['is what its status says', {}, wanted, wanted, { inEffect: wanted }],
    [
      'stays until the status says the edit',
      { inEffect: old },
      wanted,
      old,
      { inEffect: old, accepted: wanted },
    ],
    ['waits on', { inEffect: old, accepted: wanted }, wanted, old, { inEffect: old, accepted: wanted }],
    [
      'changes when the status says so',
      { inEffect: old, accepted: wanted },
      wanted,
      wanted,
      { inEffect: wanted },
    ],
    ['stays when an edit is bad', { inEffect: old }, undefined, old, { inEffect: old }],
    ['stays when somebody writes another status', { inEffect: old }, undefined, other, { inEffect: old }],
    [
      'changes to what was accepted and told before the next edit was bad',
      { inEffect: old, accepted: wanted },
      undefined,
      wanted,
      { inEffect: wanted },
    ],
    [
      'forgets what was accepted when the next edit is bad before it was told',
      { inEffect: old, accepted: wanted },
      undefined,
      old,
      { inEffect: old },
    ],
    [
      'follows the last of two edits',
      { inEffect: old, accepted: wanted },
      other,
      wanted,
      { inEffect: old, accepted: other },
    ],
  ] as const)('%s', (_what, before, asked, said, expected) => {
    expect(accept(acceptance(before), asked, (one) => one === said)).toEqual(acceptance(expected))
  })

  it('needs no second write for what only nodes go by', () => {
    const told = network('blue', '10.1.0.0/16', { natOutgoing: true })
    expect(accept(acceptance({ inEffect: old }), told, () => false)).toEqual(acceptance({ inEffect: told }))
  })
})

it('What was declined is known by what it means', () => {
  const declined = network('blue', '10.2.0.0/16')
  expect(isDeclined(network('blue', '10.2.0.0/16'), { declined })).toBe(true)
  expect(isDeclined(network('blue', '10.2.0.0/17'), { declined })).toBe(false)
})
