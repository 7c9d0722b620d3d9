import { pod } from '@kube-ovn/testing-builders'
import type { Pod } from '@kube-ovn/kube-api/core'
import { expect, it } from 'vitest'
import { needsPort } from './alive.ts'

type Phase = NonNullable<Pod['status']>['phase']
type Policy = NonNullable<Pod['spec']['restartPolicy']>

function finished(phase: Phase, restartPolicy: Policy, reason?: string): Pod {
  const plain = pod({ node: 'n1' })
  const status = { ...plain.status, phase, ...(reason === undefined ? {} : { reason }) }
  return { ...plain, spec: { ...plain.spec, restartPolicy }, status } as Pod
}

it.each<[Phase, Policy, string | undefined, boolean]>([
  ['Pending', 'Never', undefined, true],
  ['Running', 'Always', undefined, true],
  ['Succeeded', 'Always', undefined, false],
  ['Succeeded', 'OnFailure', undefined, false],
  ['Succeeded', 'Never', undefined, false],
  ['Failed', 'Always', 'UnexpectedAdmissionError', false],
  ['Failed', 'OnFailure', 'DeadlineExceeded', false],
  ['Failed', 'Never', undefined, false],
  ['Failed', 'Always', 'Evicted', false],
])('a pod that is %s, restarted %s, for the reason %s needs a port: %s', (phase, policy, reason, want) => {
  expect(needsPort(finished(phase, policy, reason))).toBe(want)
})

it('needs no port before it is scheduled, or in the network of its node', () => {
  expect(needsPort(pod())).toBe(false)
  expect(needsPort(pod({ node: 'n1', hostNetwork: true }))).toBe(false)
  expect(needsPort(pod({ node: 'n1' }))).toBe(true)
})
