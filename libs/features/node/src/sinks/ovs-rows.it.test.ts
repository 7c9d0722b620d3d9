import { openVswitchSchema, type OpenVswitch } from '@kube-ovn/ovsdb-schema'
import { startOpenVswitch, type OpenVswitchDatabase } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient } from 'ovsdb-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { localOvsTables } from '../local-ovs.ts'
import { OvsRowsSink } from './ovs-rows.ts'

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
  const { changes, refused } = sink.plan('Open_vSwitch', { claims, isComplete: true })
  expect(changes).toEqual(['external_ids:both=1', 'external_ids:own=3'])
  expect(refused?.get('two/node')?.details).toMatchObject({ field: 'external_ids:both', holder: 'one/node' })
})
