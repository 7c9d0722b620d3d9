import { expect, it } from 'vitest'
import { askedKind } from './asked-kind.ts'
import { policyKinds } from './policy-unmet.ts'
import { conditionsUnmet } from './unmet.ts'

it('knows of all kinds of policies where they are', () => {
  for (const kind of Object.keys(policyKinds))
    expect(askedKind(kind)).toMatchObject({ kind, resource: { kind } })
})

it('knows what conditions say against an object', () => {
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'Waiting', message: 'waits for its gateway' },
    { type: 'Error', status: 'True', reason: 'Overlaps' },
    { type: 'FieldsIgnored', status: 'False', message: 'none' },
    { type: 'Validated', status: 'True', message: 'well' },
    { type: 'Bound', status: 'Unknown' },
  ]
  expect(conditionsUnmet({ metadata: { name: 'blue' }, status: { conditions } })).toEqual([
    { from: 'condition Ready', what: 'waits for its gateway' },
    { from: 'condition Error', what: 'Overlaps' },
  ])
  expect(conditionsUnmet({ metadata: { name: 'blue' } })).toEqual([])
})
