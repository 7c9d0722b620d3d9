import { expect, it } from 'vitest'
import { misplacedRequests } from './misplaced.ts'

const pool = { 'ovn.kubernetes.io/ip_pool': '10.16.0.5' }
const metadata = { namespace: 'default', name: 'db' }

it.each([
  ['on the workload itself', { metadata: { ...metadata, annotations: pool }, spec: {} }, pool],
  [
    'in both places',
    { metadata: { ...metadata, annotations: pool }, spec: { template: { metadata: { annotations: pool } } } },
    {},
  ],
  ['in the template', { metadata, spec: { template: { metadata: { annotations: pool } } } }, {}],
  ['nowhere', { metadata: { ...metadata, annotations: { 'example.com/note': 'x' } } }, {}],
])('finds a request for addresses %s', (_name, workload, want) => {
  expect(misplacedRequests(workload)).toEqual(want)
})
