import { expect, it } from 'vitest'
import { readinessOf } from './cluster-checks.ts'

const metadata = { name: 'of-somebody' }

it.each([
  { what: 'all pods of a DaemonSet', status: { desiredNumberScheduled: 3, numberReady: 3 }, isGood: true },
  { what: 'too few', status: { desiredNumberScheduled: 3, numberReady: 2 }, isGood: false },
  { what: 'a DaemonSet without nodes', status: { desiredNumberScheduled: 0, numberReady: 0 }, isGood: true },
  { what: 'all of a Deployment', spec: { replicas: 2 }, status: { readyReplicas: 2 }, isGood: true },
  { what: 'none of a Deployment', spec: { replicas: 2 }, isGood: false },
  { what: 'none, where nobody said how many', isGood: false },
])('tells whether the pods are ready: $what', ({ spec, status, isGood }) => {
  const found = readinessOf('it', { metadata, ...(spec && { spec }), ...(status && { status }) })
  expect(found).toMatchObject({ check: 'workload', subject: 'it', isGood })
})
