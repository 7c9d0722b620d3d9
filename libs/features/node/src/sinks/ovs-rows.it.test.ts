import { openVswitchSchema, type OpenVswitch } from '@kube-ovn/ovsdb-schema'
import { startOpenVswitch, type OpenVswitchDatabase } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient } from 'ovsdb-client'
import type { Wanted } from '@kube-ovn/fragments'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findInterface, localOvsTables } from '../local-ovs.ts'
import { waitUntil } from '../wait-until.ts'
import { OvsRowsSink, type OvsFragment } from './ovs-rows.ts'

let database: OpenVswitchDatabase
let ovs: OvsdbClient<OpenVswitch>
let sink: OvsRowsSink

beforeAll(async () => {
  database = await startOpenVswitch()
  ovs = new OvsdbClient<OpenVswitch>({
    endpoints: [database.address],
    schema: openVswitchSchema,
    tables: localOvsTables,
  })
  await ovs.connect()
  sink = new OvsRowsSink(ovs)
  await database.vsctl('set', 'Open_vSwitch', '.', 'external_ids:foreign=stays', 'external_ids:ours=old')
  // The server sends what others changed before it answers this.
  await ovs.transact([{ op: 'select', table: 'Open_vSwitch', where: [], columns: [] }])
})
afterAll(async () => {
  await ovs[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

it('writes the entries that differ, and lets those of others stay', async () => {
  const wanted = {
    claims: [{ owner: 'one/node', fragment: { externalIds: { ours: 'new', more: '1' } } }],
    isComplete: true,
  }
  const touched: (string | undefined)[] = []
  using _watch = sink.watch((target) => touched.push(target))
  const plan = sink.plan('Open_vSwitch', wanted)
  expect(plan.changes).toEqual(['external_ids:ours=new', 'external_ids:more=1'])
  await plan.carryOut()
  expect(sink.plan('Open_vSwitch', wanted).changes).toEqual([])
  expect(touched).toEqual(['Open_vSwitch'])
  for (const [key, value] of Object.entries({ foreign: 'stays', ours: 'new', more: '1' }))
    expect(await database.vsctl('get', 'Open_vSwitch', '.', `external_ids:${key}`)).toContain(value)
})

it('gives an entry to who stands first, and tells the other one', () => {
  const claims = [
    { owner: 'one/node', fragment: { externalIds: { both: '1' } } },
    { owner: 'two/node', fragment: { externalIds: { both: '2', own: '3' } } },
  ]
  const { changes, refused } = sink.plan('Open_vSwitch', { claims, isComplete: false })
  expect(changes).toEqual(['external_ids:both=1', 'external_ids:own=3'])
  expect(refused?.get('two/node')?.details).toMatchObject({ field: 'external_ids:both', holder: 'one/node' })
})

describe('what nobody wants any more', () => {
  const port = {
    bridge: 'br-int',
    row: { name: 'own0', type: 'internal', mac: '00:00:00:00:00:01' },
  } as const
  const settings = { owner: 'one/node', fragment: { externalIds: { kept: '1', dropped: '2' } } }
  const fewer = { owner: 'one/node', fragment: { externalIds: { kept: '1' } } }
  const ownPort = {
    owner: 'two/node',
    fragment: { port: { ...port, row: { ...port.row, mtu_request: 1400, external_ids: {} } } },
  }

  async function make(target: string, wanted: Wanted<OvsFragment>): Promise<readonly string[]> {
    // As a later agent, which knows nothing but the database.
    const { changes, carryOut } = new OvsRowsSink(ovs).plan(target, wanted)
    if (changes.length > 0) await carryOut()
    return changes
  }

  beforeAll(async () => {
    await database.vsctl('add-br', 'br-int')
    await database.vsctl('add-port', 'br-int', 'foreign0')
    await waitUntil(
      () => findInterface(ovs, 'foreign0'),
      (recheck) => [ovs.onChange(recheck)],
      new AbortController().signal,
    )
  })
  beforeEach(async () => {
    await make('Open_vSwitch', { claims: [settings], isComplete: true })
    await make('port own0', { claims: [ownPort], isComplete: true })
  })

  it('stays while it is not known what all want', async () => {
    for (const target of ['Open_vSwitch', 'port own0', 'port foreign0'])
      expect(await make(target, { claims: [], isComplete: false })).toEqual([])
    expect(await make('Open_vSwitch', { claims: [fewer], isComplete: false })).toEqual([])
    expect(await database.vsctl('get', 'Open_vSwitch', '.', 'external_ids:dropped')).toContain('2')
    expect(await make('Open_vSwitch', { claims: [fewer], isComplete: true })).toEqual([
      'no external_ids:dropped',
    ])
  })

  it('goes after a restart, too, as far as it was ours, and what others have stays', async () => {
    expect(new OvsRowsSink(ovs).owned()).toEqual(['Open_vSwitch', 'port own0'])
    for (const target of ['Open_vSwitch', 'port own0', 'port foreign0'])
      await make(target, { claims: [], isComplete: true })
    expect(await database.vsctl('list-ports', 'br-int')).toBe('foreign0')
    const ids = await database.vsctl('get', 'Open_vSwitch', '.', 'external_ids')
    expect(ids).toContain('foreign=stays')
    expect(ids).not.toMatch(/kept|dropped|kube-ovn-keys/)
    expect(new OvsRowsSink(ovs).owned()).toEqual([])
  })

  it('is not the port of a pod, which has our vendor and no owner', async () => {
    const ids = ['external_ids:vendor=kube-ovn', 'external_ids:pod_name=a']
    await database.vsctl('set', 'Interface', 'foreign0', ...ids)
    const row = () => ovs.cache.find('Interface', 'name', 'foreign0')[0]
    await expect.poll(() => row()?.external_ids['pod_name']).toBe('a')
    expect(new OvsRowsSink(ovs).owned()).toEqual(['Open_vSwitch', 'port own0'])
    expect(await make('port foreign0', { claims: [], isComplete: true })).toEqual([])
  })
})
