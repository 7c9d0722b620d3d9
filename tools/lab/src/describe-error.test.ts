import { expect, it } from 'vitest'
import { describeError } from './describe-error.ts'
import { DockerError, TopologyError } from './errors.ts'

it('says what is wrong in a sentence, and what to do below it', () => {
  const details = { field: 'nodes', value: 'two', cure: 'a whole number from 1 to 200' }
  expect(describeError(new TopologyError('the topology is not understood', details))).toBe(
    'the topology is not understood: field nodes, value two\n→ a whole number from 1 to 200\n',
  )
})

it('leaves out a cure that nobody knows', () => {
  const details = { method: 'GET', path: '/info', status: 500, reason: 'broken' }
  expect(describeError(new DockerError('the Docker engine refused a request', details))).toBe(
    'the Docker engine refused a request: method GET, path /info, status 500, reason broken\n',
  )
})
