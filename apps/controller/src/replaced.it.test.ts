import { nodes, pods } from '@kube-ovn/kube-api/core'
import type { LogFields } from '@kube-ovn/log'
import { node, pod } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { NorthboundCluster } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentsOf, eventReasons, startController, valueOf } from './controller-fixture.ts'

let api: KubeApi
let cluster: NorthboundCluster
beforeAll(async () => {
  ;[api, cluster] = await Promise.all([sharedKubeApi(), NorthboundCluster.start()])
  await api.reset()
  await api.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11'] }))
})
afterAll(() => cluster[Symbol.asyncDispose]())

function committed(name: string) {
  return (fields: LogFields) => fields['feature'] === 'pod-port' && fields['key'] === `default/${name}`
}

// One controller lives through both: neither may need a restart of it.
it(
  'writes everything again after the cluster was restored from a backup, and after it was made anew',
  { timeout: 300_000 },
  async () => {
    await using controller = await startController(api, cluster.addresses)
    await controller.line('leading')
    await api.client.create(pods, pod({ name: 'early', node: 'n1' }))
    await controller.line('rows committed', committed('early'))
    await cluster.save()
    await api.client.create(pods, pod({ name: 'late', node: 'n1' }))
    await controller.line('rows committed', committed('late'))
    await expect.poll(async () => (await controller.readiness()).status).toBe(200)
    // Far enough ahead of the backup that elections do not make up for it.
    for (let n = 0; n < 15; n++) await cluster.nbctl('set', 'NB_Global', '.', `external_ids:ahead=${n}`)
    const before = await contentsOf(cluster)
    expect(before.join()).toContain('late.default')

    await cluster.restore()
    await controller.line('database was replaced', ({ reason }) => String(reason).includes('older'))
    await expect.poll(() => contentsOf(cluster)).toEqual(before)

    await cluster.recreate()
    await controller.line('database was replaced', ({ reason }) => String(reason).includes('another cluster'))
    await expect.poll(() => contentsOf(cluster)).toEqual(before)

    await expect.poll(async () => (await controller.readiness()).status).toBe(200)
    expect(valueOf(await controller.metrics(), 'kube_ovn_database_replaced_total')).toBe(2)
    await expect.poll(() => eventReasons(api)).toContain('NorthboundReplaced')
    expect(await api.missingRights()).toEqual([])
  },
)
