import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alertRules } from '@kube-ovn/lab'
import { expect, it } from 'vitest'

it('has a drill for each alert', () => {
  const suites = ['monitoring.e2e.test.ts', 'bgp-metrics.ts'].map((name) =>
    readFileSync(join(import.meta.dirname, name), 'utf8'),
  )
  const drilled = new Set([...suites.join('\n').matchAll(/'(KubeOvn\w+)'/g)].map(([, name = '']) => name))
  expect([...drilled].toSorted()).toEqual(alertRules.map(({ alert }) => alert).toSorted())
})
