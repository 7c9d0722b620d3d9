import { describe, expect, it } from 'vitest'
import { answerText, firstFault } from './api-fault.ts'

const pods = '/api/v1/namespaces/shop/pods'

describe('firstFault', () => {
  it.each([
    ['GET', `${pods}?watch=true`, 'watch'],
    ['GET', `${pods}?watch=1&resourceVersion=5`, 'watch'],
    ['GET', `${pods}?watch=false`, 'read'],
    ['GET', `${pods}/web`, 'read'],
    ['PATCH', `${pods}/web`, 'write'],
  ] as const)('takes %s %s for a %s', (method, url, kind) => {
    expect(firstFault([{ kind }], method, url)).toEqual({ kind })
    const others = (['read', 'watch', 'write'] as const).filter((other) => other !== kind)
    expect(
      firstFault(
        others.map((other) => ({ kind: other })),
        method,
        url,
      ),
    ).toBeUndefined()
  })

  it('looks at the path without its query, and takes the first that matches', () => {
    const faults = [
      { path: '^/api/v1/nodes$', answer: 500 },
      { path: '/pods$', answer: 409 },
      { answer: 429 },
    ]
    expect(firstFault(faults, 'POST', `${pods}?dryRun=All`)?.answer).toBe(409)
    expect(firstFault(faults, 'GET', '/api/v1/nodes?watch=true')?.answer).toBe(500)
    expect(firstFault(faults, 'GET', '/healthz')?.answer).toBe(429)
  })
})

it('answers with a Status that clients understand', () => {
  expect(JSON.parse(answerText(429, 7))).toMatchObject({
    kind: 'Status',
    code: 429,
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 7 },
  })
})
