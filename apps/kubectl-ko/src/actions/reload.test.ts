import { expect, it } from 'vitest'
import { isRolledOut } from './reload.ts'

const metadata = { name: 'x' }

it.each([
  [
    {
      status: {
        observedGeneration: 2,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 2,
      },
    },
    true,
  ],
  [
    {
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 2,
      },
    },
    false,
  ],
  [
    {
      status: {
        observedGeneration: 2,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 1,
        numberAvailable: 2,
      },
    },
    false,
  ],
  [
    {
      status: {
        observedGeneration: 2,
        desiredNumberScheduled: 2,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    false,
  ],
  [
    {
      spec: { replicas: 1 },
      status: { observedGeneration: 2, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
    },
    true,
  ],
  [
    {
      spec: { replicas: 1 },
      status: { observedGeneration: 2, replicas: 2, updatedReplicas: 1, availableReplicas: 1 },
    },
    false,
  ],
  [{}, false],
])('%j has rolled out: %s', (object, expected) => {
  expect(isRolledOut({ metadata, ...object }, 2)).toBe(expected)
})
