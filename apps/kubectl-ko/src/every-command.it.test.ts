import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { everyCommand, expectOneSentence } from './every-command.fixture.ts'
import { runCaptured, type Captured } from './run-captured.ts'

let api: KubeApi
let directory: string

beforeAll(async () => {
  api = await sharedKubeApi()
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-every-command-'))
  const subnet = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 'quay' } }
  await writeFile(join(directory, 'manifest.yaml'), JSON.stringify(subnet))
})
afterEach(() => api.reset())
afterAll(() => rm(directory, { recursive: true }))

function ko(...args: readonly string[]): Promise<Captured> {
  return runCaptured(['--kubeconfig', api.kubeconfigPath, ...args], { directory })
}

describe('somebody who may nothing', () => {
  it.each(everyCommand)('$name says in one sentence what to ask for', async ({ args }) => {
    expectOneSentence(
      await ko('--as', 'nobody', ...args),
      /ask for the ClusterRole kube-ovn-ko or kube-ovn-ko-reader/,
    )
  })
})

describe('a cluster without Kube-OVN', () => {
  /** These tell that there is nothing, each in its way. */
  const telling: Readonly<Record<string, { readonly exitCode: number; readonly stdout: RegExp }>> = {
    status: { exitCode: 1, stdout: /^ovn-central +is not in namespace kube-system/m },
    top: { exitCode: 0, stdout: /^ovn-central +is not in namespace kube-system/m },
    topology: { exitCode: 0, stdout: /^no VPC/ },
    'ipam who': { exitCode: 1, stdout: /^nobody has 10\.16\.0\.7, and no subnet has it in its range\n$/ },
    'ipam verify': { exitCode: 0, stdout: /no contradiction/ },
    'ipam leaks': { exitCode: 0, stdout: /no leaks/ },
    diagnose: { exitCode: 1, stdout: /of \d+ checks failed\n$/ },
    reload: { exitCode: 1, stdout: /^ovn-central +not installed$/m },
    'support-bundle': { exitCode: 1, stdout: /1 could not be had, see missing\.txt there\n$/ },
    version: { exitCode: 0, stdout: /^kubernetes +v1\./m },
  }
  it.each(everyCommand)('$name tells what is missing', async ({ name, args }) => {
    const ended = await ko(...args)
    const { exitCode, stdout } = telling[name] ?? {}
    if (stdout === undefined) return expectOneSentence(ended, '')
    expect(ended.exitCode).toBe(exitCode)
    expect(ended.stdout).toMatch(stdout)
  })
})

describe('a pod that has no port', () => {
  const asking = [
    { command: 'trace', words: ['10.16.0.7', 'icmp'] },
    { command: 'ovn-trace', words: ['10.16.0.7', 'icmp'] },
    { command: 'tcpdump', words: [] },
    { command: 'why', words: [] },
  ]

  async function createPod(spec: Partial<Pod['spec']>): Promise<void> {
    await api.client.create(pods, {
      metadata: { namespace: 'default', name: 'web' },
      spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
    })
  }

  async function createLeader(): Promise<void> {
    const ref = { namespace: 'kube-system', name: 'ovn-central-0' }
    const spec: Pod['spec'] = { nodeName: 'node-1', containers: [{ name: 'ovn-central', image: 'i' }] }
    await api.client.create(pods, { metadata: { ...ref, labels: { app: 'ovn-central' } }, spec })
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
    await api.client.patch(pods, ref, 'application/merge-patch+json', { status }, { subresource: 'status' })
  }

  it.each(asking)('$command names one that there is not', async ({ command, words }) => {
    await createLeader()
    expectOneSentence(
      await ko(command, 'default/web', ...words),
      /value=default\/web.*kubectl -n default get pods/,
    )
  })

  it.each(asking.slice(0, 3))(
    '$command says of one without a node what to wait for',
    async ({ command, words }) => {
      await createLeader()
      await createPod({})
      expectOneSentence(await ko(command, 'web', ...words), /wait until it is on a node/)
    },
  )

  it.each(asking.slice(0, 3))(
    "$command takes one of the host's network for its node",
    async ({ command, words }) => {
      await createLeader()
      await api.client.create(nodes, { metadata: { name: 'node-1' } })
      await createPod({ hostNetwork: true, nodeName: 'node-1' })
      expectOneSentence(await ko(command, 'web', ...words), /node-1/)
    },
  )

  it("why says that one of the host's network needs none", async () => {
    await createPod({ hostNetwork: true, nodeName: 'node-1' })
    const { exitCode, stdout } = await ko('why', 'web')
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(/uses the network of its node/),
    })
  })
})
