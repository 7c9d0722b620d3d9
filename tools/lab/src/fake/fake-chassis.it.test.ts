import { ovnSouthboundSchema } from '@kube-ovn/ovsdb-schema'
import { startDatabase, type AnyDatabase } from '@kube-ovn/testing-ovsdb'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { FakeChassis } from './fake-chassis.ts'

/** That of the Southbound, in which a chassis can not have two ports of one type, so that a claim can be refused. */
const schema = {
  ...ovnSouthboundSchema,
  tables: {
    ...ovnSouthboundSchema.tables,
    Port_Binding: {
      ...ovnSouthboundSchema.tables.Port_Binding,
      indexes: [['chassis', 'type'], ['logical_port']],
    },
  },
}

let database: AnyDatabase
let chassis: FakeChassis

beforeAll(async () => {
  database = await startDatabase(schema)
  await database.server.transact([
    insert('SB_Global', {}),
    { ...insert('Encap', { type: 'geneve', ip: '192.0.2.1', chassis_name: 'real' }), 'uuid-name': 'encap' },
    insert('Chassis', { name: 'real', hostname: 'real', encaps: ['named-uuid', 'encap'] }),
  ])
})

afterAll(() => database[Symbol.asyncDispose]())

beforeEach(async () => {
  await database.server.transact([
    { op: 'delete', table: 'Port_Binding', where: [] },
    { op: 'delete', table: 'Datapath_Binding', where: [] },
    { ...insert('Datapath_Binding', { tunnel_key: 1 }), 'uuid-name': 'datapath' },
    ...['first', 'second'].map((name, index) =>
      insert('Port_Binding', {
        ...{ logical_port: name, type: name, tunnel_key: index + 1, datapath: ['named-uuid', 'datapath'] },
      }),
    ),
  ])
  chassis = new FakeChassis([database.server.address])
  await chassis.connect()
  await chassis.register([{ name: 'fake', encapIp: '192.0.2.2' }])
})

afterEach(() => chassis[Symbol.asyncDispose]())

function insert(table: string, row: object): object {
  return { op: 'insert', table, row }
}

async function setType(port: string, type: string): Promise<void> {
  await database.server.transact([
    { op: 'update', table: 'Port_Binding', where: [['logical_port', '==', port]], row: { type } },
  ])
}

it('takes a claim that is made as soon as another port is up', async () => {
  let told = 0
  chassis.onUp(() => {
    // It is told after the claim and after the change that this makes; then there is no more to do, and the work is just about to end.
    if (++told === 2) queueMicrotask(() => chassis.claim('second', 'fake'))
  })
  chassis.claim('first', 'fake')
  await expect.poll(() => chassis.isUp('second')).toBe(true)
})

it('claims again what the server has refused, though nothing tells that it would not any more', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => said.mockRestore())
  chassis.claim('first', 'fake')
  await expect.poll(() => chassis.isUp('first')).toBe(true)
  await setType('second', 'first')
  chassis.claim('second', 'fake')
  await expect
    .poll(() => said.mock.calls.flat())
    .toContainEqual(expect.stringMatching(/^Southbound: ConstraintViolationError/))
  expect(chassis.isUp('second')).toBe(false)
  await setType('first', 'other')
  await expect.poll(() => chassis.isUp('second')).toBe(true)
})
