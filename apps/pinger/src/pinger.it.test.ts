import { Registry } from '@kube-ovn/telemetry'
import { nodes, pods, services, type ObjectRef, type Pod, type Resource } from '@kube-ovn/kube'
import { recordingLogger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { writeSysctl } from '@kube-ovn/netlink'
import { openTestNetwork, type TestNetwork } from '@kube-ovn/testing-net'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { command, type PingerConfig } from './config.ts'
import { runJob, runServer } from './pinger.ts'

let api: KubeApi
/** With the rights that the chart gives pingers. */
let kubeconfig: string
let network: TestNetwork
/** Pings leave from here, where they may as in a pod of the chart, and all of 127.0.0.0/8 answers. */
let netns: string

beforeAll(async () => {
  network = openTestNetwork()
  netns = network.namespace('pinger').path
  writeSysctl(netns, 'ipv4/ping_group_range', '0 2147483647')
  api = await sharedKubeApi()
  kubeconfig = await api.accountKubeconfig('kube-system/kube-ovn-app')
})
beforeEach(async () => {
  await api.client.create(nodes, { metadata: { name: 'node-1' } })
  await setStatus(nodes, { name: 'node-1' }, { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] })
})
afterEach(() => api.reset())
afterAll(() => network[Symbol.dispose]())

function configOf(...flags: readonly string[]): PingerConfig {
  const common = [`--kubeconfig=${kubeconfig}`, '--network-mode=other', '--internal-dns=', '--port=0']
  const environment = {
    NODE_NAME: 'node-1',
    HOST_IP: '127.0.0.1',
    POD_IPS: '127.0.0.1',
    POD_NAME: 'pinger-1',
  }
  const parsed = readConfig(command, [...common, ...flags], environment)
  if (parsed.kind === 'help') throw new Error('no configuration')
  return parsed.config
}

function setStatus(resource: Resource, ref: ObjectRef, status: object): Promise<unknown> {
  const options = { subresource: 'status' }
  return api.client.patch(resource, ref, 'application/merge-patch+json', { status }, options)
}

async function startPod(name: string, ip: string): Promise<void> {
  const metadata = { namespace: 'kube-system', name, labels: { app: 'kube-ovn-pinger' } }
  const spec: Pod['spec'] = { nodeName: 'node-1', containers: [{ name: 'c', image: 'c' }] }
  await api.client.create(pods, { metadata, spec })
  const status = { phase: 'Running', hostIP: '127.0.0.1', podIPs: [{ ip }], podIP: ip }
  await setStatus(pods, { namespace: 'kube-system', name }, status)
}

/** What a job answers, and what it prints. */
async function job(...flags: readonly string[]): Promise<{ isGood: boolean; printed: string }> {
  const printed: string[] = []
  const isGood = await runJob(
    configOf('--mode=job', ...flags),
    recordingLogger(),
    (text) => printed.push(text),
    netns,
  )
  return { isGood, printed: printed.join('') }
}

it('checks once, says what it asked, and ends well when all answer', async () => {
  await startPod('pinger-1', '127.0.0.2')
  const { isGood, printed } = await job('--external-address=127.0.0.3')
  expect(printed).toContain('ok      pod  pinger-1 127.0.0.2: 3 sent, 0 lost')
  expect(printed).toContain('ok      node  node-1 127.0.0.1: 3 sent, 0 lost')
  expect(printed).toContain('ok      external  127.0.0.3: 3 sent, 0 lost')
  expect(printed).toContain('ok      apiserver')
  expect(isGood).toBe(true)
})

it('ends well when there is nobody to ask', async () => {
  await api.client.remove(nodes, { name: 'node-1' })
  const { isGood, printed } = await job()
  expect(printed.split('\n').map((line) => line.replace(/: .*/, ''))).toEqual([
    'ok      targets  targets',
    'ok      apiserver  apiserver',
    '',
  ])
  expect(isGood).toBe(true)
})

it('does not end well with a port that is closed', async () => {
  const { isGood, printed } = await job('--target-ip-ports=tcp-127.0.0.1-9', '--output=json')
  expect(JSON.parse(printed)).toContainEqual(expect.objectContaining({ check: 'target-ip-ports', ok: false }))
  expect(isGood).toBe(false)
})

it('does not end well when daemons and databases are not there, and does not wait for them', async () => {
  const away = [
    '--database.vswitch.socket.remote=unix:/nowhere/db.sock',
    '--service.vswitchd.file.pid.path=/nowhere/a.pid',
  ]
  const { isGood, printed } = await job('--network-mode=kube-ovn', '--ovs.timeout=1', ...away)
  expect(printed).toContain('FAILED  ovs  ovs: a daemon does not answer')
  expect(printed).toMatch(/FAILED {2}port-bindings/)
  expect(isGood).toBe(false)
})

it('tries no port of a Service that has no address', async () => {
  const ref = { namespace: 'kube-system', name: 'web' }
  await api.client.create(services, { metadata: ref, spec: { clusterIP: 'None', ports: [{ port: 80 }] } })
  const { isGood, printed } = await job('--services=kube-system/web')
  expect(printed).toContain('ok      targets')
  expect(printed).not.toContain('web')
  expect(isGood).toBe(true)
})

it('says what to do when it may not ping, and counts no packet as lost', async () => {
  writeSysctl(netns, 'ipv4/ping_group_range', '1 0')
  const { isGood, printed } = await job('--external-address=127.0.0.3')
  writeSysctl(netns, 'ipv4/ping_group_range', '0 2147483647')
  expect(printed).toContain('FAILED  echo-socket-ipv4  echo-socket-ipv4: no right to a socket of ICMP')
  expect(printed).not.toContain('lost')
  expect(isGood).toBe(false)
})

it('refuses targets that are none', async () => {
  for (const flag of ['--external-address=kube-ovn.io', '--target-ip-ports=tcp-1-1', '--services=web'])
    await expect(job(flag)).rejects.toMatchObject({ code: 'config-invalid' })
})

it('serves metrics, and follows pods that come and go', async () => {
  await startPod('pinger-1', '127.0.0.2')
  const [registry, log, stop] = [new Registry(), recordingLogger(), new AbortController()]
  const running = runServer(configOf('--interval=1'), log, registry, stop.signal, netns)
  await expect.poll(() => registry.metrics(), { timeout: 90_000 }).toContain('target_pod_ip="127.0.0.2"')
  await startPod('pinger-2', '127.0.0.4')
  await expect.poll(() => registry.metrics(), { timeout: 90_000 }).toContain('target_pod_ip="127.0.0.4"')
  const ref = { namespace: 'kube-system', name: 'pinger-2' }
  await api.client.remove(pods, ref, { gracePeriodSeconds: 0 })
  await expect.poll(() => registry.metrics(), { timeout: 90_000 }).not.toContain('target_pod_ip="127.0.0.4"')
  expect(await registry.metrics()).toContain('pinger_apiserver_healthy{nodeName="node-1"} 1')
  stop.abort()
  await running
  expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([])
})
