import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { awaitRows } from './await-rows.ts'
import { UnansweredError } from './errors.ts'
import { startNorthbound, type Northbound } from './northbound.ts'
import { startProxy } from './proxy.ts'

let northbound: Northbound
beforeAll(async () => {
  northbound = await startNorthbound()
})
afterAll(() => northbound[Symbol.asyncDispose]())
beforeEach(() => northbound.reset())

const never = new AbortController().signal

function switchNamed(name: string, table = 'Logical_Switch') {
  const where = [['name', '==', name]] as const
  return { database: 'OVN_Northbound', table, where, columns: ['name'], rows: [{ name }] }
}

/** Says whether a transaction waits in the server. */
async function holdsQuestion(): Promise<boolean> {
  return (await northbound.server.control('memory/show')).includes('triggers:')
}

it('resolves at once when the rows are there, and otherwise when they come', async () => {
  await northbound.nbctl('ls-add', 'sw0')
  await awaitRows(northbound.address, switchNamed('sw0'), never)
  const answer = awaitRows(northbound.address, switchNamed('sw1'), never)
  await expect.poll(holdsQuestion).toBe(true)
  await northbound.nbctl('ls-add', 'sw1')
  await answer
})

it('leaves nothing of the question in the server when it is aborted', async () => {
  const asking = new AbortController()
  const answer = awaitRows(northbound.address, switchNamed('sw0'), asking.signal)
  await expect.poll(holdsQuestion).toBe(true)
  asking.abort()
  await expect(answer).rejects.toThrow('aborted')
  await expect.poll(holdsQuestion).toBe(false)
})

it('tells the server that it is still there', async () => {
  const { server } = northbound
  await northbound.nbctl('--inactivity-probe=1000', 'set-connection', 'ptcp:6699')
  await server.control('ovsdb-server/add-remote db:OVN_Northbound,NB_Global,connections')
  await using proxy = await startProxy(northbound.address.replace(/\d+$/, '6699'))
  const answer = awaitRows(proxy.address, switchNamed('sw0'), never)
  // The server ends a connection that does not answer the first.
  await expect.poll(() => proxy.received).toMatch(/("method":"echo".*){2}/)
  await northbound.nbctl('ls-add', 'sw0')
  await answer
})

it('rejects when the server refuses the question, or ends', async () => {
  const refused = awaitRows(northbound.address, switchNamed('sw0', 'No_Such_Table'), never)
  await expect(refused).rejects.toThrow(UnansweredError)
  await expect(refused).rejects.toThrow('No_Such_Table')
  const answer = awaitRows(northbound.address, switchNamed('sw0'), never)
  await expect.poll(holdsQuestion).toBe(true)
  const rejected = expect(answer).rejects.toThrow(UnansweredError)
  await northbound.stop()
  await rejected
  await northbound.start()
})
