import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { podAnnotations } from '@kube-ovn/annotations'
import { leases, nodes, pods } from '@kube-ovn/kube-api/core'
import type { LogFields } from '@kube-ovn/log'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { node, pod } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound, startProxy, type Northbound } from '@kube-ovn/testing-ovsdb'
import { NotOwnerError, OvsdbClient } from 'ovsdb-client'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { contentsOf, eventReasons, standstills, startController, valueOf } from './controller-fixture.ts'

let api: KubeApi
let northbound: Northbound
beforeAll(async () => {
  ;[api, northbound] = await Promise.all([sharedKubeApi(), startNorthbound()])
})
beforeEach(async () => {
  await Promise.all([api.reset(), northbound.reset()])
  await api.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11'] }))
})
afterAll(() => northbound[Symbol.asyncDispose]())

const ready = { status: 200, text: 'ok' }
const unready = { status: 503, text: expect.stringMatching(/^a key has not been served for \d+ s$/m) }

function ofPod(name: string) {
  return (fields: LogFields) => fields['feature'] === 'pod-port' && fields['key'] === `default/${name}`
}

async function createPod(name: string, annotations: Record<string, string> = {}): Promise<void> {
  await api.client.create(pods, pod({ name, node: 'n1', annotations }))
}

it('shows by metrics what it did', async () => {
  await using controller = await startController(api, [northbound.address])
  await controller.line('leading')
  await createPod('web', { [podAnnotations().ipAddress.key]: '10.16.0.10' })
  await controller.line('rows committed', ofPod('web'))
  await createPod('waits', { [podAnnotations().ipAddress.key]: '10.16.0.10' })
  await controller.line('key waits for a change', ofPod('waits'))
  await northbound.nbctl('lsp-set-addresses', 'web.default', 'unknown')
  await controller.line('rows committed', (fields) => ofPod('web')(fields) && fields['updated'] === 1)
  await expect.poll(controller.readiness).toEqual(ready)

  const feature = 'controller="pod-port"'
  const queue = 'name="pod-port"'
  let text = ''
  // What the controller wrote comes back to it, and its keys are looked at once more.
  await expect
    .poll(async () => {
      text = await controller.metrics()
      const done = valueOf(text, 'workqueue_work_duration_seconds_count', queue)
      return done === undefined ? undefined : (valueOf(text, 'workqueue_adds_total', queue) ?? 0) - done
    })
    .toBe(0)
  expect(valueOf(text, 'leader_election_master_status', 'name="kube-ovn-controller"')).toBe(1)
  expect(valueOf(text, 'workqueue_depth', queue)).toBe(0)
  expect(valueOf(text, 'workqueue_unfinished_work_seconds', queue)).toBe(0)
  expect(valueOf(text, 'workqueue_longest_running_processor_seconds', queue)).toBe(0)
  expect(valueOf(text, 'controller_runtime_active_workers', feature)).toBe(0)
  expect(valueOf(text, 'controller_runtime_max_concurrent_reconciles', feature)).toBe(50)
  const adds = valueOf(text, 'workqueue_adds_total', queue) ?? 0
  expect(adds).toBeGreaterThanOrEqual(3)
  expect(valueOf(text, 'workqueue_queue_duration_seconds_count', queue)).toBe(adds)
  expect(valueOf(text, 'workqueue_work_duration_seconds_count', queue)).toBe(adds)
  expect(valueOf(text, 'controller_runtime_reconcile_total', feature)).toBe(adds)
  expect(valueOf(text, 'controller_runtime_reconcile_time_seconds_count', feature)).toBe(adds)
  expect(valueOf(text, 'controller_runtime_reconcile_errors_total', feature)).toBeGreaterThanOrEqual(1)
  expect(valueOf(text, 'controller_runtime_terminal_reconcile_errors_total', feature)).toBeGreaterThanOrEqual(
    1,
  )
  const transactions = valueOf(text, 'kube_ovn_transactions_total', 'outcome="committed"') ?? 0
  expect(transactions).toBeGreaterThanOrEqual(3)
  expect(valueOf(text, 'kube_ovn_plan_operations_count')).toBe(transactions)
  expect(valueOf(text, 'kube_ovn_rows_total', 'kind="lsp",outcome="inserted"')).toBe(1)
  expect(valueOf(text, 'kube_ovn_rows_total', 'kind="lsp",outcome="updated"')).toBe(1)
  expect(valueOf(text, 'kube_ovn_drift_found_total', feature)).toBe(1)
  expect(valueOf(text, 'kube_ovn_drift_healed_total', feature)).toBe(1)
  expect(valueOf(text, 'kube_ovn_patches_total', 'verb="create",outcome="ok"')).toBeGreaterThanOrEqual(1)
  expect(valueOf(text, 'kube_ovn_event_loop_delay_seconds', 'quantile="1"')).toBeGreaterThan(0)
  expect(await api.missingRights()).toEqual([])
})

it('is ready for as long as it can write', async () => {
  await using controller = await startController(api, [northbound.address])
  await controller.line('leading')
  await expect.poll(controller.readiness).toEqual(ready)
  await northbound.stop()
  await createPod('late')
  await expect.poll(controller.readiness).toEqual(unready)
  expect(valueOf(await controller.metrics(), 'workqueue_depth')).toBeGreaterThan(0)
  await northbound.start()
  await controller.line('rows committed', ofPod('late'))
  await expect.poll(controller.readiness).toEqual(ready)
  expect(await api.missingRights()).toEqual([])
})

it('commits nothing while another has the lock, and takes it back for as long as it leads', async () => {
  await using controller = await startController(api, [northbound.address])
  await controller.line('leading')
  await createPod('early')
  await controller.line('rows committed', ofPod('early'))
  await using rival = new OvsdbClient({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables: { Logical_Switch_Port: {} },
  })
  const lock = rival.lock('kube_ovn_controller', { steal: true })
  await rival.connect()
  const { promise: lost, resolve } = Promise.withResolvers<boolean>()
  lock.onChange((isOwned) => {
    if (!isOwned) resolve(isOwned)
  })
  await createPod('late')
  await controller.line('key failed', ofPod('late'))
  expect(await lost).toBe(false)
  await controller.line('rows committed', ofPod('late'))
  const text = await controller.metrics()
  expect(valueOf(text, 'workqueue_retries_total', 'name="pod-port"')).toBeGreaterThanOrEqual(1)
  expect(valueOf(text, 'kube_ovn_transactions_total', 'outcome="failed"')).toBeGreaterThanOrEqual(1)
  expect(await api.missingRights()).toEqual([])
})

it('does not wait for its own lock after a connection that broke without a word', async () => {
  await using proxy = await startProxy(northbound.address)
  await using controller = await startController(api, [proxy.address], '--ovsdb-inactivity-timeout=600')
  await controller.line('leading')
  await createPod('early')
  await controller.line('rows committed', ofPod('early'))
  proxy.swallow()
  using machine = standstills()
  const sinceMs = performance.now()
  await createPod('late')
  await controller.line('rows committed', ofPod('late'))
  // Five seconds are promised, of a machine that runs: what it kept this process from running for does not count.
  expect(performance.now() - sinceMs - machine.totalMs()).toBeLessThan(5_000)
  const refused = controller.lines.filter(({ fields }) => fields['err'] instanceof NotOwnerError)
  expect(refused).toEqual([])
})

it('writes everything again into a Northbound that was made anew, and says so', async () => {
  await using controller = await startController(api, [northbound.address])
  await controller.line('leading')
  await createPod('web')
  await controller.line('rows committed', ofPod('web'))
  await expect.poll(controller.readiness).toEqual(ready)
  const before = await contentsOf(northbound)
  await northbound.server.kill()
  await northbound.server.recreate()
  await northbound.nbctl('init')
  await controller.line('database was replaced')
  await expect.poll(() => contentsOf(northbound)).toEqual(before)
  expect(valueOf(await controller.metrics(), 'kube_ovn_database_replaced_total')).toBe(1)
  expect(valueOf(await controller.metrics(), 'kube_ovn_database_connected', 'OVN_Northbound')).toBe(1)
  await expect.poll(() => eventReasons(api)).toContain('NorthboundReplaced')
  expect(await api.missingRights()).toEqual([])
})

it('is not ready for as long as it may not read what it has to know, and says what that is', async () => {
  const { proxy } = await api.openFaultyClient('unused', 'kube-system/ovn')
  const folder = await mkdtemp(join(tmpdir(), 'kube-ovn-controller-'))
  const own = await readFile(await api.accountKubeconfig('kube-system/ovn'), 'utf8')
  const kubeconfig = join(folder, 'kubeconfig')
  await writeFile(kubeconfig, own.replace(api.url, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 })
  proxy.faults = [{ path: '/(configmaps|vpc-dnses)$', answer: 403 }]
  {
    await using controller = await startController(api, [northbound.address], `--kubeconfig=${kubeconfig}`)
    await controller.line('leadership acquired')
    await expect.poll(controller.readiness).toEqual({
      status: 503,
      text: expect.stringMatching(/^not known after \d+ s: vpc-dnses.kubeovn.io configmaps; see/m),
    })
    proxy.faults = []
    await controller.line('leading')
    await expect.poll(controller.readiness).toEqual(ready)
  }
  await rm(folder, { recursive: true })
})

it('leads after all when it lost its lease while it started', async () => {
  await northbound.stop()
  await using controller = await startController(
    api,
    [northbound.address],
    '--leader-elect-retry-period=200ms',
  )
  await controller.line('leadership acquired')
  const lease = { namespace: 'kube-system', name: 'kube-ovn-controller' }
  await api.client.patch(leases, lease, 'application/merge-patch+json', {
    spec: { holderIdentity: 'another', leaseDurationSeconds: 1 },
  })
  await controller.line('leadership lost')
  await northbound.start()
  await controller.line('leading')
  expect(await api.missingRights()).toEqual([])
})
