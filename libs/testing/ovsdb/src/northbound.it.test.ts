import { connect } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startNorthbound, type Northbound } from './northbound.ts'

describe('a standalone database', () => {
  let northbound: Northbound

  beforeAll(async () => {
    northbound = await startNorthbound()
  })
  beforeEach(() => northbound.reset())
  afterAll(() => northbound[Symbol.asyncDispose]())

  it('can be reached from here', async () => {
    const [, host, port] = northbound.address.split(':')
    const socket = connect({ host: String(host), port: Number(port) })
    await once(socket, 'connect')
    expect(socket.remotePort).toBe(Number(port))
    socket.destroy()
  })

  it('counts a transaction for each change, and none for a look', async () => {
    const before = await northbound.transactions()
    await northbound.nbctl('ls-add', 'sw0')
    expect(await northbound.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch')).toBe('sw0')
    expect(await northbound.transactions()).toBe(before + 1)
    const last = (await northbound.server.transactionLog()).at(-1)
    expect(last?.comment).toContain('ls-add sw0')
    expect(Object.keys(last?.tables ?? {})).toEqual(['Logical_Switch'])
  })

  it('is empty after a reset but for the NB_Global row, which has nothing but its sequence numbers', async () => {
    await northbound.nbctl('--may-exist', 'ls-add', 'sw0', '--', 'lsp-add', 'sw0', 'p0')
    await northbound.nbctl('set', 'NB_Global', '.', 'options:use_ct_inv_match=false', 'nb_cfg=7', 'name=zone')
    const row = await northbound.nbctl('--bare', '--columns=_uuid', 'list', 'NB_Global')
    const before = await northbound.transactions()
    await northbound.reset()
    expect(await northbound.transactions()).toBe(before + 1)
    expect(await northbound.nbctl('list', 'Logical_Switch')).toBe('')
    expect(await northbound.nbctl('list', 'Logical_Switch_Port')).toBe('')
    const columns = '--columns=_uuid,name,nb_cfg,options'
    expect(await northbound.nbctl('--format=csv', '--no-heading', columns, 'list', 'NB_Global')).toBe(
      `${row},"""""",7,{}`,
    )
  })

  it('keeps its rows when it is killed', async () => {
    await northbound.nbctl('ls-add', 'kept')
    await northbound.kill()
    await northbound.start()
    expect(await northbound.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch')).toBe('kept')
  })
})

it('runs ovn-northd on request', async () => {
  await using northbound = await startNorthbound({ northd: true })
  await northbound.nbctl('--wait=sb', 'ls-add', 'sw0')
  expect(await northbound.sbctl('--bare', '--columns=external_ids', 'list', 'Datapath_Binding')).toContain(
    'name=sw0',
  )
})
