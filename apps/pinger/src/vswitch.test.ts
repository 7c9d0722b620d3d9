import { once } from 'node:events'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingLogger } from '@kube-ovn/log'
import { Sources } from '@kube-ovn/telemetry'
import { expect, it } from 'vitest'
import { openVswitchAt } from './port-bindings.ts'
import { Vswitch } from './vswitch.ts'

/** Of a daemon that can not open one of its data paths, and knows nothing of events. */
const answers: Readonly<Record<string, object>> = {
  'memory/show': { result: 'ports:3', error: null },
  'dpctl/show': { result: null, error: 'ovs-vswitchd: opening datapath failed (No such device)' },
  'coverage/show': { result: null, error: '"coverage/show" is not a valid command' },
}

it('takes no daemon for dead that refuses a question', async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'vswitch-'))
  const server = createServer((socket) =>
    socket.on('data', (data) => {
      const { method } = JSON.parse(data.toString()) as { readonly method: string }
      socket.write(JSON.stringify({ id: 0, ...answers[method] }))
    }),
  )
  server.listen(join(directory.path, 'ovs-vswitchd.1.ctl'))
  await once(server, 'listening')
  const pid = join(directory.path, 'ovs-vswitchd.pid')
  writeFileSync(pid, '1\n')
  const nothing = join(directory.path, 'nothing')
  const timeoutMs = 10_000
  // What the database says is of no concern: it is not waited for.
  const local = openVswitchAt(`unix:${nothing}`, timeoutMs)
  await local[Symbol.asyncDispose]()
  const vswitch = new Vswitch({
    ...{ nodeName: 'node-1', local, timeoutMs, sources: new Sources(recordingLogger()) },
    ...{ server: { pid: nothing, log: nothing }, vswitchd: { pid, log: nothing }, databaseFile: nothing },
  })
  await vswitch.look()
  const { daemons, datapaths, coverage } = vswitch.reading
  expect(daemons).toEqual([
    { component: 'ovsdb-server', isUp: false, memory: new Map() },
    { component: 'ovs-vswitchd', isUp: true, memory: new Map([['ports', 3]]) },
  ])
  expect([datapaths, coverage.size]).toEqual([undefined, 0])
  server.close()
})
