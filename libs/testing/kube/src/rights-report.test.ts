import { expect, it } from 'vitest'
import { needlessRights } from './rights-report.ts'

it('names the rights that were not used, but for those that are kept for a reason', () => {
  const rights = [
    'kube-system/ovn may list pods',
    'kube-system/ovn may get pods',
    'kube-system/ovn may delete nodes',
  ]
  expect(needlessRights(rights, new Set(['kube-system/ovn may list pods']))).toEqual([
    'kube-system/ovn may delete nodes',
  ])
})
