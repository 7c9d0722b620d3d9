import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { KubeconfigError } from '../errors.ts'
import { readKubeconfig } from './kubeconfig.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'))
})

afterAll(() => rmSync(directory, { recursive: true }))

function write(content: unknown): string {
  const path = join(directory, 'config')
  writeFileSync(path, typeof content === 'string' ? content : stringify(content))
  return path
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('readKubeconfig', () => {
  it('takes what the current context names', () => {
    const path = write({
      'current-context': 'b',
      contexts: [
        { name: 'a', context: { cluster: 'one', user: 'eve' } },
        { name: 'b', context: { cluster: 'two', user: 'adam' } },
      ],
      clusters: [
        { name: 'one', cluster: { server: 'https://one' } },
        { name: 'two', cluster: { server: 'https://two/', 'certificate-authority-data': base64('CA') } },
      ],
      users: [
        { name: 'eve', user: {} },
        { name: 'adam', user: { token: 'secret' } },
      ],
    })
    expect(readKubeconfig(path)).toEqual({ server: 'https://two', ca: 'CA', token: 'secret' })
  })

  it('reads files beside it', () => {
    writeFileSync(join(directory, 'crt'), 'CRT')
    const path = write({
      clusters: [{ cluster: { server: 'https://one' } }],
      users: [{ user: { 'client-certificate': 'crt', 'client-key-data': base64('KEY') } }],
    })
    expect(readKubeconfig(path)).toEqual({ server: 'https://one', cert: 'CRT', key: 'KEY' })
  })

  it.each([
    ['{}', 'names no server or no user'],
    ['[', 'not understood'],
    ['just words', 'not understood'],
    ['{ current-context: a, contexts: 5 }', 'not understood'],
    ['{ clusters: [{ cluster: { server: 5 } }], users: [{ user: {} }] }', 'not understood'],
    ['{ clusters: [{ cluster: { server: nowhere } }], users: [{ user: {} }] }', 'not understood'],
    ['{ clusters: null, contexts: null, users: null }', 'names no server or no user'],
    ['{ clusters: [{ cluster: { server: https://a } }], users: [{ user: { exec: {} } }] }', 'program'],
    ['{ clusters: [{ cluster: { server: https://a } }], users: [{ user: { tokenFile: none } }] }', 'missing'],
  ])('refuses %s', (text, reason) => {
    const read = (): unknown => readKubeconfig(write(text))
    expect(read).toThrow(KubeconfigError)
    expect(read).toThrow(reason)
  })

  it('names a file that is not there', () => {
    expect(() => readKubeconfig(join(directory, 'nowhere'))).toThrow('there is no kubeconfig')
  })
})
