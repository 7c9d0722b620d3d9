import { expect, it } from 'vitest'
import { matchesLabels } from './label-selector.ts'

const labels = { team: 'red', tier: 'web' }

it.each([
  [{}, true],
  [{ matchLabels: { team: 'red', tier: 'web' } }, true],
  [{ matchLabels: { team: 'red', tier: 'db' } }, false],
  [{ matchLabels: { constructor: 'red' } }, false],
  [{ matchExpressions: [{ key: 'team', operator: 'In', values: ['blue', 'red'] }] }, true],
  [{ matchExpressions: [{ key: 'team', operator: 'In' }] }, false],
  [{ matchExpressions: [{ key: 'stage', operator: 'In', values: ['red'] }] }, false],
  [{ matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['red'] }] }, false],
  [{ matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['red'] }] }, true],
  [{ matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
  [{ matchExpressions: [{ key: 'team', operator: 'Maybe' }] }, false],
  [{ matchLabels: { team: 'red' }, matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }, false],
])('reads the selector %j', (selector, isMatch) => expect(matchesLabels(selector, labels)).toBe(isMatch))
