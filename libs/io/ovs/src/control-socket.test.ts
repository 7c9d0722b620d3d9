import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askDaemon, controlSocketOf } from './control-socket.ts'

let directory: string
beforeAll(async () => (directory = await mkdtemp(join(tmpdir(), 'ctl-'))))
afterAll(() => rm(directory, { recursive: true }))

it('finds the socket beside the process id', async () => {
  const pidFile = join(directory, 'ovs-vswitchd.pid')
  await writeFile(pidFile, '4711\n')
  expect(await controlSocketOf(pidFile)).toBe(join(directory, 'ovs-vswitchd.4711.ctl'))
  await writeFile(pidFile, '')
  await expect(controlSocketOf(pidFile)).rejects.toMatchObject({ details: { reason: 'no process id in it' } })
  await expect(controlSocketOf(join(directory, 'none.pid'))).rejects.toMatchObject({
    details: { reason: 'ENOENT' },
  })
})

it('asks as ovs-appctl does, and takes an answer in pieces', async () => {
  let asked = ''
  const path = await daemon('pieces', (socket, question) => {
    asked += question
    socket.write('{"id":0,"result":"system@ovs-system: {}')
    setImmediate(() => socket.write('\\n","error":null}'))
  })
  expect(await askDaemon({ path, method: 'dpctl/show', args: ['-s'], timeoutMs: 10_000 })).toBe(
    'system@ovs-system: {}\n',
  )
  expect(JSON.parse(asked)).toEqual({ id: 0, method: 'dpctl/show', params: ['-s'] })
})

it('tells a refusal from silence, and from nobody', async () => {
  const refusing = await daemon('refusing', (socket) =>
    socket.write('{"id":0,"result":null,"error":"\\"x\\" is not a valid command\\n"}'),
  )
  await expect(askDaemon({ path: refusing, method: 'x', timeoutMs: 10_000 })).rejects.toMatchObject({
    code: 'daemon-refused',
    details: { method: 'x', reason: '"x" is not a valid command' },
  })
  const hanging = await daemon('hanging', () => undefined)
  await expect(askDaemon({ path: hanging, method: 'version', timeoutMs: 50 })).rejects.toMatchObject({
    code: 'daemon-unreachable',
    details: { reason: 'no answer to version in 50 ms' },
  })
  const ending = await daemon('ending', (socket) => socket.end())
  await expect(askDaemon({ path: ending, method: 'version', timeoutMs: 10_000 })).rejects.toMatchObject({
    details: { reason: 'hung up on version' },
  })
  const gone = join(directory, 'gone')
  await expect(askDaemon({ path: gone, method: 'version', timeoutMs: 10_000 })).rejects.toMatchObject({
    details: { reason: 'ENOENT' },
  })
})

async function daemon(name: string, answer: (socket: Socket, question: string) => void): Promise<string> {
  const path = join(directory, name)
  const server = createServer((socket) => socket.on('data', (data) => answer(socket, data.toString())))
  server.unref()
  server.listen(path)
  await once(server, 'listening')
  return path
}
