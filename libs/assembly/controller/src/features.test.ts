import { expect, it } from 'vitest'
import { controlFeatures } from './features.ts'

it('features with rows say which a key can want, but where names tell nothing or there is one key', () => {
  const silent = controlFeatures.filter(({ kinds, mayOwn }) => kinds.length > 0 && mayOwn === undefined)
  expect(silent.map(({ name }) => name)).toEqual(['sg', 'chassis-variables'])
})
