import { kubectlAnnotations } from '@kube-ovn/annotations'
import { expect, it } from 'vitest'
import { patchOf } from './applied.ts'

function applied(spec: object) {
  const annotations = { [kubectlAnnotations.lastApplied]: JSON.stringify({ metadata: { name: 'a' }, spec }) }
  return { metadata: { name: 'a', annotations } }
}

it('takes away what the manifest said last and says no more', () => {
  const current = applied({ gateway: '10.0.0.1', nested: { kept: 1, gone: 2 }, list: [1] })
  const wanted = { metadata: { name: 'a' }, spec: { nested: { kept: 1 }, list: [2] } }
  expect(patchOf(wanted, current)).toEqual({
    metadata: { name: 'a' },
    spec: { gateway: null, nested: { kept: 1, gone: null }, list: [2] },
  })
})

it('leaves alone what others wrote', () => {
  const wanted = { metadata: { name: 'a' }, spec: { vpc: 'red' } }
  expect(patchOf(wanted, { metadata: { name: 'a' } })).toBe(wanted)
  expect(patchOf(wanted, applied({ vpc: 'blue' }))).toEqual(wanted)
})
