import { expect, it } from 'vitest'
import { skewOf } from './version.ts'

it.each([
  ['v1.17.0', ['v1.17.0']],
  ['v1.17.0', ['v1.17.3-amd64']],
  ['v1.17.0', ['latest']],
  ['v1.17.0', []],
  ['development', ['v1.17.0']],
])('%s has nothing to say of %j', (own, tags) => {
  expect(skewOf(own, tags)).toBeUndefined()
})

it.each([
  ['v1.18.0', ['v1.17.0']],
  ['v1.17.0', ['v2.17.0', 'v1.17.0']],
])('%s says that it does not fit %j', (own, tags) => {
  expect(skewOf(own, tags)).toContain(`of ${own}, the cluster runs ${tags[0] ?? ''}:`)
})
