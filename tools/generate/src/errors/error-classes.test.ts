import { expect, it } from 'vitest'
import { errorClasses } from './error-classes.ts'

const source = `
/**
 * The server refused.
 *
 * Its words are in the details.
 */
export class RefusedError extends KubeOvnError<{ reason: string }> {
  readonly code: string = 'example-refused'
  readonly retry: RetryClass = 'backoff'
}

/** Too many at once. */
export class BusyError extends RefusedError {
  override readonly code = 'example-busy'
}

export abstract class Plain extends KubeOvnError {}
export class Reply { readonly code = 'no-error' }
`

it('finds code, retry class and meaning, of the base too', () => {
  expect(errorClasses('errors.ts', source)).toEqual([
    {
      name: 'RefusedError',
      code: 'example-refused',
      retry: 'backoff',
      meaning: 'The server refused. Its words are in the details.',
    },
    { name: 'BusyError', code: 'example-busy', retry: 'backoff', meaning: 'Too many at once.' },
  ])
})
