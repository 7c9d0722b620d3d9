import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AuditLog } from './audit-log.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-ovn-audit-'))
  path = join(directory, 'audit.log')
  writeFileSync(path, '')
})

afterEach(() => rmSync(directory, { recursive: true }))

function line(auditID: string, stage: string): string {
  const objectRef = { resource: 'pods', namespace: 'default', name: auditID }
  const event = { auditID, stage, verb: 'patch', user: { username: 'admin' }, objectRef }
  return `${JSON.stringify(event)}\n`
}

it('yields what was answered since it was cleared', async () => {
  await using log = await AuditLog.open(path, () => undefined)
  appendFileSync(path, line('a', 'RequestReceived') + line('a', 'ResponseComplete'))
  expect(await log.settled()).toMatchObject([{ verb: 'patch', resource: 'pods', name: 'a' }])
  await log.clear()
  appendFileSync(path, line('b', 'RequestReceived') + line('b', 'ResponseComplete'))
  expect(await log.settled()).toMatchObject([{ name: 'b' }])
})

it('says that it misses what the server writes into another file', async () => {
  await using log = await AuditLog.open(path, () => undefined)
  renameSync(path, `${path}.1`)
  writeFileSync(path, line('a', 'RequestReceived') + line('a', 'ResponseComplete'))
  await expect(log.settled()).rejects.toThrow('The log was rotated')
})
