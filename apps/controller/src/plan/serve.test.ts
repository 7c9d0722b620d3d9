import type { PlanAnswer, PlanRequest } from '@kube-ovn/assembly-controller'
import { silentLogger } from '@kube-ovn/log'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { servePlans } from './serve.ts'

const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' } }
const request: PlanRequest = { version: 1, changes: [{ verb: 'apply', object }] }

let directory: string
let path: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-plan-'))
  path = join(directory, 'plan.sock')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** Tells what it was asked. */
function planner({ changes }: PlanRequest): PlanAnswer {
  const ignored = changes.map(({ verb, object: { metadata } }) => `${verb} ${metadata.name}`)
  return { version: 1, rows: [], addresses: [], writes: [], refusals: [], waits: [], ignored }
}

async function ask(question: string): Promise<unknown> {
  const socket = createConnection({ path, allowHalfOpen: true })
  socket.end(question)
  return JSON.parse(await text(socket))
}

it('answers who may open the socket: its own user alone', async () => {
  await writeFile(path, 'left behind')
  await using _server = await servePlans({ path, planner: () => planner, log: silentLogger })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await ask(JSON.stringify(request))).toMatchObject({ version: 1, ignored: ['apply web'] })
})

it('says that it does not lead', async () => {
  await using _server = await servePlans({ path, planner: () => undefined, log: silentLogger })
  expect(await ask(JSON.stringify(request))).toEqual({
    problem: 'this controller does not lead; ask the one that does',
  })
})

it.each([
  { question: '', says: 'the question is no JSON' },
  { question: '{"version":2,"changes":[]}', says: 'another form' },
  { question: '7', says: 'another form' },
  {
    question: '{"version":1,"changes":[{"verb":"apply","object":{"kind":"Pod"}}]}',
    says: 'lacks apiVersion',
  },
  {
    question: JSON.stringify({ version: 1, changes: [{ verb: 'drop', object }] }),
    says: 'write apply or delete',
  },
  {
    question: JSON.stringify({ version: 1, changes: Array(501).fill(request.changes[0]) }),
    says: 'more than 500',
  },
  { question: ' '.repeat(17 * 1024 * 1024), says: 'more than 16777216 bytes' },
])('says "$says", and goes on', async ({ question, says }) => {
  await using _server = await servePlans({ path, planner: () => planner, log: silentLogger })
  expect(await ask(question)).toEqual({ problem: expect.stringContaining(says) })
  expect(await ask(JSON.stringify(request))).toMatchObject({ version: 1 })
})

it('tells what a feature failed with', async () => {
  const failing = () => {
    throw new TypeError('defect')
  }
  await using _server = await servePlans({ path, planner: () => failing, log: silentLogger })
  expect(await ask(JSON.stringify(request))).toEqual({ problem: 'defect' })
})
