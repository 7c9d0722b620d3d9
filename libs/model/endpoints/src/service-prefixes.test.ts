import type { ServiceCidr } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { servicePrefixesOf } from './service-prefixes.ts'

function of(name: string, cidrs: readonly string[], isReady: boolean, isDeleted = false): ServiceCidr {
  return {
    metadata: { name, ...(isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
    spec: { cidrs },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  }
}

it('are those of objects that are ready, and of those that wait for their last Service to go', () => {
  const usual = of('kubernetes', ['10.96.0.0/12', 'fd00:10:96::/112'], true)
  const all = [of('more', ['10.200.0.0/24'], true), usual, of('again', ['10.96.0.0/12'], true)]
  expect(servicePrefixesOf(all, ['10.0.0.0/8'])).toEqual([
    '10.200.0.0/24',
    '10.96.0.0/12',
    'fd00:10:96::/112',
  ])
  expect(servicePrefixesOf([usual, of('new', ['10.200.0.0/24'], false)], [])).not.toContain('10.200.0.0/24')
  expect(servicePrefixesOf([usual, of('leaves', ['10.200.0.0/24'], false, true)], [])).toContain(
    '10.200.0.0/24',
  )
})

it('are those of the flag where nothing is said', () => {
  expect(servicePrefixesOf([], ['10.0.0.0/8'])).toEqual(['10.0.0.0/8'])
  expect(servicePrefixesOf([of('new', ['10.200.0.0/24'], false)], ['10.0.0.0/8'])).toEqual(['10.0.0.0/8'])
})
