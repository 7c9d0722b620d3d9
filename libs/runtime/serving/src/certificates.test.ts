import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingLogger } from '@kube-ovn/log'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { Certificates } from './certificates.ts'
import { selfSigned } from './self-signed.ts'

const hosts = ['localhost', 'node-1', '10.0.0.1', 'fd00::1']
const dayMs = 24 * 3600 * 1000

function pairFor(host: string) {
  return selfSigned({ hosts: [host], from: new Date(0), until: new Date('2060-01-01T00:00:00Z') })
}

/** A directory with two files, as long as the result lives. */
function openFiles() {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'))
  const [certFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')]
  const write = (cert: string, key: string): void => {
    writeFileSync(certFile, cert)
    writeFileSync(keyFile, key)
  }
  return { certFile, keyFile, write, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) }
}

it('makes one for all names and addresses, and another one a month before it ends', async () => {
  const clock = new ManualClock(Date.parse('2030-06-01T00:00:00Z'))
  const made = new Certificates({ certFile: '', keyFile: '', hosts, clock, log: recordingLogger() })
  const first = await made.current()
  const certificate = new X509Certificate(first.cert)
  expect(certificate.subjectAltName).toBe(
    'DNS:localhost, DNS:node-1, IP Address:10.0.0.1, IP Address:FD00:0:0:0:0:0:0:1',
  )
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect(new Date(certificate.validFrom).getTime()).toBeLessThan(clock.now())
  expect(new Date(certificate.validTo).getTime()).toBe(clock.now() + 365 * dayMs)
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  clock.advance(334 * dayMs)
  expect(await made.current()).toBe(first)
  clock.advance(2 * dayMs)
  expect(await made.current()).not.toBe(first)
})

it('goes by files, keeps the pair before while one is half replaced, and says once what is wrong', async () => {
  using files = openFiles()
  const log = recordingLogger()
  const given = new Certificates({ ...files, hosts, clock: new ManualClock(), log })
  const [a, b] = [pairFor('a'), pairFor('b')]

  // Nothing is there yet: kubelet may be late, and a user wrong.
  expect(new X509Certificate((await given.current()).cert).subjectAltName).toContain('node-1')
  files.write('garbage', a.key)
  await given.current()
  files.write(a.cert, a.key)
  expect(await given.current()).toEqual(a)
  files.write(b.cert, a.key)
  expect(await given.current()).toEqual(a)
  expect(await given.current()).toEqual(a)
  files.write(b.cert, b.key)
  expect(await given.current()).toEqual(b)
  expect(log.lines.map(({ level, fields }) => [level, fields['served']])).toEqual([
    ['error', 'a certificate that was made'],
    ['error', 'a certificate that was made'],
    ['info', undefined],
    ['error', 'the one before'],
    ['info', undefined],
  ])
})

it('serves no chain that is written half, and the whole one when it is there', async () => {
  using files = openFiles()
  const log = recordingLogger()
  const given = new Certificates({ ...files, hosts, clock: new ManualClock(), log })
  const [a, b] = [pairFor('a'), pairFor('b')]
  files.write(a.cert, a.key)
  expect(await given.current()).toEqual(a)
  const chain = `${b.cert}${a.cert}`
  // The key is that of the first certificate, which is there as a whole.
  files.write(chain.slice(0, -100), b.key)
  expect(await given.current()).toEqual(a)
  files.write(chain, b.key)
  expect(await given.current()).toEqual({ cert: chain, key: b.key })
  expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info'])
})
