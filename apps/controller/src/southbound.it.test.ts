import { nodeAnnotations } from '@kube-ovn/annotations'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { ovnSouthboundSchema } from '@kube-ovn/ovsdb-schema'
import { node, pod } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient, PermissionDeniedError } from 'ovsdb-client'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startController, valueOf } from './controller-fixture.ts'

let api: KubeApi
let databases: Northbound
let southbound: string
beforeAll(async () => {
  ;[api, databases] = await Promise.all([sharedKubeApi(), startNorthbound({ southbound: true })])
  southbound = databases.southbound?.address ?? ''
})
beforeEach(async () => {
  await Promise.all([api.reset(), databases.reset()])
  const annotations = { [nodeAnnotations.chassis.key]: 'c1' }
  await api.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11'], annotations }))
  await databases.sbctl('chassis-add', 'c1', 'geneve', '172.19.0.11')
})
afterAll(() => databases[Symbol.asyncDispose]())

const isOfSouthbound = 'db="OVN_Southbound"'

it('marks chassis, and takes the lock back that somebody else took', async () => {
  await using controller = await startController(api, [databases.address], `--ovn-sb-addr=${southbound}`)
  await controller.line('chassis marked')
  expect(valueOf(await controller.metrics(), 'kube_ovn_database_connected', isOfSouthbound)).toBe(1)
  await using rival = new OvsdbClient({ endpoints: [southbound], schema: ovnSouthboundSchema, tables: {} })
  rival.lock('kube_ovn_controller', { steal: true })
  await rival.connect()
  await databases.sbctl('clear', 'Chassis', 'c1', 'external_ids')
  const marks = () => controller.lines.filter(({ message }) => message === 'chassis marked').length
  await expect.poll(marks, { timeout: 30_000 }).toBe(2)
  expect(await databases.sbctl('get', 'Chassis', 'c1', 'external_ids')).toBe('{node=n1, vendor=kube-ovn}')
  expect(await api.missingRights()).toEqual([])
})

it('serves pods while the Southbound is away, and says that it is', { timeout: 60_000 }, async () => {
  await using proxy = await startProxy(southbound)
  await using controller = await startController(api, [databases.address], `--ovn-sb-addr=${proxy.address}`)
  await controller.line('chassis marked')
  proxy.cut()
  await api.client.create(pods, pod({ name: 'web', node: 'n1' }))
  await controller.line(
    'rows committed',
    ({ feature, key }) => feature === 'pod-port' && key === 'default/web',
  )
  await expect
    .poll(() => controller.readiness(), { timeout: 30_000 })
    .toEqual({ status: 503, text: expect.stringMatching(/OVN_Southbound has not been connected for 1\d s/) })
  expect(valueOf(await controller.metrics(), 'kube_ovn_database_connected', isOfSouthbound)).toBe(0)
  await api.client.remove(nodes, { name: 'n1' })
  proxy.mend()
  await controller.line('chassis removed')
  await expect.poll(async () => (await controller.readiness()).status).toBe(200)
})

it('says that a role of the Southbound keeps it from writing', async () => {
  await databases.southbound?.control('ovsdb-server/add-remote db:OVN_Southbound,SB_Global,connections')
  await databases.sbctl('create', 'RBAC_Role', 'name=ovn-controller')
  await databases.sbctl('set-connection', 'role=ovn-controller', 'ptcp:6655:0.0.0.0')
  const restricted = southbound.replace(/:\d+$/, ':6655')
  await using controller = await startController(api, [databases.address], `--ovn-sb-addr=${restricted}`)
  const { err } = await controller.line('chassis not written')
  expect(err).toBeInstanceOf(PermissionDeniedError)
})

it('leads without a Southbound, and says what is not done', async () => {
  await using controller = await startController(api, [databases.address])
  await controller.line('leading')
  await controller.line('chassis of nodes that are gone stay: nobody says where the Southbound is')
  await expect.poll(async () => (await controller.readiness()).status).toBe(200)
})
