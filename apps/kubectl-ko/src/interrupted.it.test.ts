import { daemonSets, nodes, pods, services, type Pod, type Resource } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'

const namespace = 'kube-system'
const type = 'application/merge-patch+json'

let api: KubeApi

beforeAll(async () => {
  api = await sharedKubeApi()
})
afterEach(() => api.reset())

const ready = { conditions: [{ type: 'Ready', status: 'True' }] }

/** There is no kubelet: what is made here stays as it is, and whoever waits for it waits. */
beforeEach(async () => {
  for (const name of ['node-1', 'node-2']) {
    await api.client.create(nodes, { metadata: { name } })
    await api.client.patch(nodes, { name }, type, { status: ready }, { subresource: 'status' })
  }
  await api.client.create(subnetResource, {
    metadata: { name: 'blue' },
    spec: { cidrBlock: '10.70.0.0/24', gateway: '10.70.0.1' },
  })
  const ref = { namespace, name: 'kube-ovn-pinger-1' }
  const spec: Pod['spec'] = { nodeName: 'node-1', containers: [{ name: 'pinger', image: 'i' }] }
  await api.client.create(pods, { metadata: { ...ref, labels: { app: 'kube-ovn-pinger' } }, spec })
  const status = { phase: 'Running', ...ready }
  await api.client.patch(pods, ref, type, { status }, { subresource: 'status' })
})

const perf = {
  args: ['perf', 'image-with-node'],
  kinds: [pods, services] as readonly Resource[],
  labelSelector: 'app=PerfTest',
}
const subnet = {
  args: ['diagnose', 'subnet', 'blue'],
  kinds: [daemonSets] as readonly Resource[],
  labelSelector: 'app=conn-check',
}

async function made({ kinds, labelSelector }: typeof perf): Promise<number> {
  const lists = await Promise.all(kinds.map((kind) => api.client.list(kind, { namespace, labelSelector })))
  return lists.flatMap(({ items }) => items).length
}

/** The program, as users have it, and what it says until it has ended. */
function start(args: readonly string[], kubeconfig = api.kubeconfigPath) {
  const main = join(import.meta.dirname, 'main.ts')
  const child = spawn(process.execPath, [main, '--kubeconfig', kubeconfig, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)])
  return {
    child,
    ended: ended.then(([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr })),
  }
}

it.each([
  { command: perf, signal: 'SIGINT', when: 5, code: 130 },
  // In the midst of making them.
  { command: perf, signal: 'SIGHUP', when: 1, code: 129 },
  { command: subnet, signal: 'SIGTERM', when: 1, code: 143 },
] as const)('$command.args leaves nothing at $signal when it has made $when', async (one) => {
  const { child, ended } = start(one.command.args)
  await expect.poll(() => made(one.command), { interval: 20 }).toBeGreaterThanOrEqual(one.when)
  child.kill(one.signal)
  const { code, stdout, stderr } = await ended
  expect({ code, stdout }).toEqual({ code: one.code, stdout: '' })
  expect(stderr).not.toContain('kubectl-ko:')
  expect(await made(one.command)).toBe(0)
})

it('says what it could not take away', async () => {
  const { proxy } = await api.openFaultyClient('unused', 'kube-system/ovn')
  const path = join(await mkdtemp(join(tmpdir(), 'kube-ovn-interrupted-')), 'kubeconfig')
  const kubeconfig = await readFile(api.kubeconfigPath, 'utf8')
  await writeFile(path, kubeconfig.replace(api.url, `https://127.0.0.1:${proxy.port}`), { mode: 0o600 })
  const { child, ended } = start(perf.args, path)
  await expect.poll(() => made(perf), { interval: 20 }).toBeGreaterThan(0)
  // Only deletions name an object.
  proxy.faults = [{ kind: 'write', path: '/(pods|services)/', answer: 503 }]
  child.kill('SIGINT')
  const { code, stderr } = await ended
  await rm(dirname(path), { recursive: true })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /kubectl-ko: what was made could not be taken away again .*kubectl -n kube-system delete/,
  )
})
