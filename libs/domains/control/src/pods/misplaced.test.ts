import { expect, it } from 'vitest'
import { misplacedRequests, misplacedRequestsOfJobs } from './misplaced.ts'

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

it('leaves what the Jobs of a CronJob were given to their CronJob', () => {
  const ownerReferences = [
    { apiVersion: 'batch/v1', kind: 'CronJob', name: 'db', uid: 'x', controller: true },
  ]
  expect(misplacedRequests({ metadata: { ...metadata, annotations: pool, ownerReferences } })).toEqual({})
})

it.each([
  ['on itself', { metadata: { ...metadata, annotations: pool } }, pool],
  ['on its Jobs', { metadata, spec: { jobTemplate: { metadata: { annotations: pool } } } }, pool],
  [
    'on itself and on its pods',
    {
      metadata: { ...metadata, annotations: pool },
      spec: { jobTemplate: { spec: { template: { metadata: { annotations: pool } } } } },
    },
    {},
  ],
  ['nowhere', { metadata }, {}],
])('finds a request for addresses of a CronJob %s', (_name, cronJob, want) => {
  expect(misplacedRequestsOfJobs(cronJob)).toEqual(want)
})
