import { expect, it } from 'vitest'
import { Living } from './living.ts'
import { ownerMark, type OwnerMark } from './marks.ts'

const named = (name: string): OwnerMark => ownerMark('service', name)

it('forgets what keys have read that are gone for good, now and then, and nothing of those that a start would look at', () => {
  const forgotten: string[] = []
  let looks = 0
  const living = new Living({
    watches: new Map([['service', { forget: (key) => void forgotten.push(key) }]]),
    known() {
      looks++
      return new Set([named('shop/7')])
    },
  })
  for (let n = 0; n < 500; n++) living.comes(named(`shop/stays-${n}`))
  for (let n = 0; n < 20_000; n++) {
    living.comes(named(`shop/${n}`))
    living.goes(named(`shop/${n}`))
    // It is back before anybody looks.
    if (n === 10_000) living.comes(named(`shop/${n}`))
  }
  expect([...living]).toHaveLength(501)
  expect(forgotten).not.toContain('shop/7')
  expect(forgotten).not.toContain('shop/10000')
  expect(new Set(forgotten).size).toBe(forgotten.length)
  expect(forgotten.length + living.gone).toBe(19_998)
  expect(living.gone).toBeLessThanOrEqual(1501)
  // Each look walks everything there is.
  expect(looks).toBeLessThanOrEqual(14)
})
