import { expect, it } from 'vitest'
import { startFailure } from './nft.ts'

it.each([
  ['ENOENT', { code: 'nft-not-found', retry: 'on-change' }],
  ['EACCES', { code: 'nft-not-found', retry: 'on-change' }],
  ['EAGAIN', { code: 'nft-not-started', retry: 'backoff', details: { command: 'nft', errno: 'EAGAIN' } }],
  ['EMFILE', { code: 'nft-not-started', retry: 'backoff', details: { command: 'nft', errno: 'EMFILE' } }],
])('is tried again unless there is no nft: %s', (code, want) => {
  const cause = Object.assign(new Error(`spawn nft ${code}`), { code })
  expect(startFailure('nft', cause)).toMatchObject({ ...want, cause })
})
