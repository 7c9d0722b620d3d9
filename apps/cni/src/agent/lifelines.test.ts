import { once } from 'node:events'
import { createServer } from 'node:net'
import { systemClock } from '@kube-ovn/process'
import { expect, it } from 'vitest'
import { ClusterLifelines } from './lifelines.ts'

/** Takes connections at a port of its own, or at the given one, until it is disposed of. */
async function listener(port = 0, host = '127.0.0.1') {
  const server = createServer((socket) => socket.destroy()).listen(port, host)
  await once(server, 'listening')
  const bound = server.address()
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : 0,
    async [Symbol.asyncDispose]() {
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}

function lifelines(apiServer: number, remote: string): ClusterLifelines {
  const row = { external_ids: { 'ovn-remote': remote } }
  const cache = { get: () => undefined, find: () => [], count: () => 1, scan: () => [row] as never[] }
  return new ClusterLifelines(`https://127.0.0.1:${apiServer}`, { cache }, systemClock)
}

it('names the ways that answer: the API server, and each member of the Southbound that is elsewhere', async () => {
  await using api = await listener()
  await using first = await listener()
  await using second = await listener(0, '::1')
  const gone = await listener()
  await gone[Symbol.asyncDispose]()
  const members = [`tcp:127.0.0.1:${first.port}`, `ssl:[::1]:${second.port}`, `tcp:127.0.0.1:${gone.port}`]
  expect(await lifelines(api.port, [...members, 'unix:/run/ovn/ovnsb_db.sock'].join()).answering()).toEqual([
    `tcp:127.0.0.1:${api.port}`,
    ...members.slice(0, 2),
  ])
  expect(await lifelines(gone.port, '').answering()).toEqual([])
})

it('waits for every way that answered before: one of two that is lost is not made up for by the other', async () => {
  await using api = await listener()
  const southbound = await listener()
  const ways = lifelines(api.port, `tcp:127.0.0.1:${southbound.port}`)
  const before = await ways.answering()
  expect(before).toHaveLength(2)
  await ways.answered(before, new AbortController().signal)

  await southbound[Symbol.asyncDispose]()
  const [toApi = '', toSouthbound = ''] = before
  await ways.answered([toApi], new AbortController().signal)
  const controller = new AbortController()
  const answered = ways.answered(before, controller.signal)
  await expect.poll(() => ways.answering()).toEqual([toApi])
  controller.abort(new Error('too late'))
  await expect(answered).rejects.toThrow('too late')

  const again = ways.answered([toSouthbound], new AbortController().signal)
  await using _back = await listener(southbound.port)
  await again
})
