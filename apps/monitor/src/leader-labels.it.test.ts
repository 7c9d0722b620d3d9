import { pods } from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { Registry } from '@kube-ovn/telemetry'
import { startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { NorthboundCluster, startNorthbound } from '@kube-ovn/testing-ovsdb'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { command } from './config.ts'
import { runMonitor } from './monitor.ts'

const patience = { timeout: 60_000, interval: 50 }

let api: KubeApi

beforeAll(async () => {
  api = await startKubeApi({ accounts: {} })
})

beforeEach(() => api.reset())

afterAll(() => api[Symbol.asyncDispose]())

/** A monitor with the rights that the chart gives it, on a node whose files are those below `root`. */
async function start(nodeName: string, root: string): Promise<AsyncDisposable> {
  const kubeconfig = await api.accountKubeconfig('kube-system/kube-ovn-monitor')
  const run = `${root}/run/ovn`
  const flags = [
    ...['--label-leaders', `--kubeconfig=${kubeconfig}`, '--metrics-port=0', '--ovs.timeout=2'],
    `--database.northbound.socket.remote=unix:${run}/nb.sock`,
    `--database.southbound.socket.remote=unix:${run}/sb.sock`,
    `--service.ovn.northd.file.pid.path=${run}/ovn-northd.pid`,
  ]
  const parsed = readConfig(command, flags, { NODE_NAME: nodeName, POD_NAMESPACE: 'kube-system' })
  if (parsed.kind === 'help') throw new Error('no configuration')
  const stop = new AbortController()
  const running = runMonitor(parsed.config, recordingLogger(), new Registry(), stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

async function createMember(node: string): Promise<void> {
  const metadata = { namespace: 'kube-system', name: `central-${node}`, labels: { app: 'ovn-central' } }
  await api.client.create(pods, {
    metadata,
    spec: { nodeName: node, containers: [{ name: 'c', image: 'c' }] },
  })
}

/** The labels of a member, but the one that it is found by. */
async function labelsOf(node: string): Promise<object> {
  const pod = await api.client.get(pods, { namespace: 'kube-system', name: `central-${node}` })
  const { app: _, ...labels } = pod?.metadata.labels ?? {}
  return labels
}

it('labels the pod of a database that stands alone, and puts right what somebody else writes', async () => {
  await using central = await startNorthbound({ northd: true })
  await createMember('node-1')
  await using _monitor = await start('node-1', central.root)
  const leads = { 'ovn-nb-leader': 'true', 'ovn-sb-leader': 'true', 'ovn-northd-leader': 'true' }
  await expect.poll(() => labelsOf('node-1'), patience).toEqual(leads)
  const changed = { metadata: { labels: { 'ovn-nb-leader': 'false', 'ovn-sb-leader': null } } }
  const member = { namespace: 'kube-system', name: 'central-node-1' }
  await api.client.patch(pods, member, 'application/merge-patch+json', changed)
  await expect.poll(() => labelsOf('node-1'), patience).toEqual(leads)
  // A pod in its place has none.
  await api.client.remove(pods, member, { gracePeriodSeconds: 0 })
  await createMember('node-1')
  await expect.poll(() => labelsOf('node-1'), patience).toEqual(leads)
  await central.server.kill()
  await expect.poll(() => labelsOf('node-1'), patience).toMatchObject({ 'ovn-nb-leader': 'false' })
  expect(await api.missingRights()).toEqual([])
})

it('follows the leader of a cluster, and takes the label from a node that is gone', async () => {
  await using cluster = await NorthboundCluster.start()
  const leader = await cluster.leader()
  const members = [leader, ...cluster.except(leader)]
  await using monitors = new AsyncDisposableStack()
  const started: AsyncDisposable[] = []
  for (const [index, { root }] of members.entries()) {
    await createMember(`node-${index}`)
    started.push(monitors.use(await start(`node-${index}`, root)))
  }
  const leads = async (): Promise<readonly number[]> => {
    const labels = await Promise.all(members.map((_, index) => labelsOf(`node-${index}`)))
    return labels.flatMap((one, index) =>
      'ovn-nb-leader' in one && one['ovn-nb-leader'] === 'true' ? [index] : [],
    )
  }
  await expect.poll(leads, patience).toEqual([0])
  // Nobody is left there who could write that it leads no more.
  await started[0]?.[Symbol.asyncDispose]()
  await leader.server.kill()
  await expect.poll(leads, patience).toEqual([expect.toBeOneOf([1, 2])])
})
