import { podAnnotations } from '@kube-ovn/annotations'
import { leases, nodes, pods } from '@kube-ovn/kube-api/core'
import { recordingLogger, type LogFields, type Logger } from '@kube-ovn/log'
import { ovnNorthboundSchema } from '@kube-ovn/ovsdb-schema'
import { readConfig } from '@kube-ovn/process'
import { processRegistry } from '@kube-ovn/telemetry'
import { node, pod } from '@kube-ovn/testing-builders'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { startNorthbound, type Northbound } from '@kube-ovn/testing-ovsdb'
import { OvsdbClient } from 'ovsdb-client'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { command } from './config.ts'
import { runController } from './wiring.ts'

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

/** A logger that tells when a line comes. */
function followedLogger() {
  const logger = recordingLogger()
  const waiters = new Set<() => void>()
  function followed(level: 'debug' | 'info' | 'warn' | 'error') {
    return (message: string, fields?: LogFields) => {
      logger[level](message, fields)
      for (const wake of waiters) wake()
    }
  }
  const following: Logger = {
    ...logger,
    debug: followed('debug'),
    info: followed('info'),
    warn: followed('warn'),
    error: followed('error'),
  }
  return {
    logger: following,
    /** Waits for a line that came or comes. */
    line(message: string, isIt: (fields: LogFields) => boolean = () => true): Promise<LogFields> {
      return new Promise((resolve) => {
        const look = () => {
          const found = logger.lines.find((line) => line.message === message && isIt(line.fields))
          if (found === undefined) return
          waiters.delete(look)
          resolve(found.fields)
        }
        waiters.add(look)
        look()
      })
    },
  }
}

/** The controller in this process, until it is disposed. */
async function start(...flags: readonly string[]) {
  const parsed = readConfig(
    command,
    [
      `--ovn-nb-addr=${northbound.address}`,
      `--kubeconfig=${await api.accountKubeconfig('kube-system/ovn')}`,
      '--pprof-port=0',
      '--unserved-limit=0s',
      ...flags,
    ],
    { POD_NAMESPACE: 'kube-system', POD_NAME: 'controller-0' },
  )
  if (parsed.kind === 'help') throw new Error(parsed.text)
  const followed = followedLogger()
  const stop = new AbortController()
  const running = runController(parsed.config, followed.logger, processRegistry(), stop.signal)
  const ended = running.then((): never => {
    throw new Error('controller ended')
  })
  ended.catch(() => undefined)
  function line(message: string, isIt?: (fields: LogFields) => boolean): Promise<LogFields> {
    return Promise.race([followed.line(message, isIt), ended])
  }
  const { endpoints } = await line('health checks served')
  const port = String(endpoints).split(':').at(-1)
  async function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }
  return {
    line,
    metrics: async () => (await get('/metrics')).text,
    readiness: () => get('/readyz'),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const ready = { status: 200, text: 'ok' }
const unready = { status: 503, text: expect.stringMatching(/^a key has not been served for \d+ s$/m) }

function ofPod(name: string) {
  return (fields: LogFields) => fields['feature'] === 'pod-port' && fields['key'] === `default/${name}`
}

async function createPod(name: string, annotations: Record<string, string> = {}): Promise<void> {
  await api.client.create(pods, pod({ name, node: 'n1', annotations }))
}

/** The sum of the samples of a metric whose labels contain the given text; `undefined` when there is none. */
function valueOf(text: string, name: string, labels = ''): number | undefined {
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(labels))
  if (samples.length === 0) return undefined
  return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

it('shows by metrics what it did', async () => {
  await using controller = await start()
  await controller.line('leading')
  await createPod('web', { [podAnnotations().ipAddress.key]: '10.16.0.10' })
  await controller.line('rows committed', ofPod('web'))
  await createPod('waits', { [podAnnotations().ipAddress.key]: '10.16.0.10' })
  await controller.line('key waits for a change', ofPod('waits'))
  await northbound.nbctl('lsp-set-addresses', 'web.default', 'unknown')
  await controller.line('rows committed', (fields) => ofPod('web')(fields) && fields['updated'] === 1)
  await expect.poll(controller.readiness).toEqual(ready)

  const text = await controller.metrics()
  const feature = 'controller="pod-port"'
  const queue = 'name="pod-port"'
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
  await using controller = await start()
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

it('commits nothing once another has taken the lock', async () => {
  await using controller = await start()
  await controller.line('leading')
  await createPod('early')
  await controller.line('rows committed', ofPod('early'))
  // Whoever takes the lock is the leader by right.
  await using rival = new OvsdbClient({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables: { Logical_Switch_Port: {} },
  })
  rival.lock('kube_ovn_controller', { steal: true })
  await rival.connect()
  await createPod('never')
  await controller.line('key failed', ofPod('never'))
  await expect.poll(controller.readiness).toEqual(unready)
  const text = await controller.metrics()
  expect(valueOf(text, 'workqueue_retries_total', 'name="pod-port"')).toBeGreaterThanOrEqual(1)
  expect(valueOf(text, 'kube_ovn_transactions_total', 'outcome="failed"')).toBeGreaterThanOrEqual(1)
  const names = [...rival.cache.scan('Logical_Switch_Port')].map((row) => ('name' in row ? row.name : ''))
  expect(names).toContain('early.default')
  expect(names).not.toContain('never.default')
  expect(await api.missingRights()).toEqual([])
})

it('leads after all when it lost its lease while it started', async () => {
  await northbound.stop()
  await using controller = await start('--leader-elect-retry-period=200ms')
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
