import { dirname } from 'node:path'
import { nodes, pods, type KubeObject, type Resource } from '@kube-ovn/kube'
import { ProcessAccounting, productImage, samplesOf } from '@kube-ovn/lab'
import { docker, ensureTestNetwork, testLabel, testNetwork } from '@kube-ovn/testing-docker'
import { startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import pMap from 'p-map'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { containerMemory } from './container-memory.ts'
import { processorSeconds } from './processor-time.ts'
import { rounded } from './statistics.ts'

/** Each has a pinger. */
const nodeCount = 500
const targets = 2 * nodeCount
/** Rounds of the server over which its share of a core is measured. */
const rounds = 6
const intervalSeconds = 5
const packets = 3

/** Has the released pinger ask nodes and pods, none of them left out, in a container as the chart makes it. */
export const pinger: Benchmark = {
  name: 'pinger',
  summary: `seconds of a round in which ${targets} nodes and pods are asked, share of a core, memory and forks of a pinger that does so all the time`,
  async run(): Promise<BenchmarkResult> {
    await using api = await startKubeApi({ accounts: {} })
    console.log(`making ${targets} targets`)
    await pMap(Array.from({ length: nodeCount }).keys(), (index) => makeTargets(api, index), {
      concurrency: 16,
    })
    const kubeconfig = await api.accountKubeconfig('kube-system/kube-ovn-app')
    const startedMs = performance.now()
    const printed = await runPinger(kubeconfig, ['--mode=job'])
    const value = (performance.now() - startedMs) / 1000
    const asked = printed.match(/^ok {6}(pod|node) {2}.*: 3 sent, 0 lost/gm)?.length ?? 0
    if (asked !== targets) throw new Error(`a round asked ${asked} of ${targets}`)
    return { value: rounded(value), unit: 's', ...(await measureServer(kubeconfig)) }
  },
}

async function makeTargets({ client }: KubeApi, index: number): Promise<void> {
  const [name, namespace] = [`node-${index}`, 'kube-system']
  const [hostIP, ip] = [1, 2].map((net) => `127.${net}.${Math.floor(index / 250)}.${(index % 250) + 1}`)
  const create = async (resource: Resource, object: KubeObject, status: object): Promise<void> => {
    await client.create(resource, object)
    const options = { subresource: 'status' }
    await client.patch(resource, object.metadata, 'application/merge-patch+json', { status }, options)
  }
  await create(nodes, { metadata: { name } }, { addresses: [{ type: 'InternalIP', address: hostIP }] })
  const pod = {
    metadata: { namespace, name: `pinger-${index}`, labels: { app: 'kube-ovn-pinger' } },
    spec: { nodeName: name, containers: [{ name: 'pinger', image: 'pinger' }] },
  }
  await create(pods, pod, { phase: 'Running', hostIP, podIP: ip, podIPs: [{ ip }] })
}

/** Arguments by which Docker runs the pinger as the chart does, where all of 127.0.0.0/8 answers. */
function containerOf(kubeconfig: string, flags: readonly string[]): readonly string[] {
  const environment = [
    'MALLOC_ARENA_MAX=1',
    'NODE_NAME=node-0',
    'HOST_IP=127.1.0.1',
    'POD_IPS=127.0.0.1',
    'POD_NAME=pinger-0',
  ]
  return [
    ...[`--network=${testNetwork}`, `--label=${testLabel}`, '--cap-drop=ALL', '--read-only'],
    '--sysctl=net.ipv4.ping_group_range=0 2147483647',
    `--volume=${dirname(kubeconfig)}:${dirname(kubeconfig)}:ro`,
    ...environment.flatMap((variable) => ['--env', variable]),
    ...[productImage('cni'), 'node', ...nodeFlags, '/kube-ovn/pinger.mjs', `--kubeconfig=${kubeconfig}`],
    ...['--network-mode=other', '--internal-dns=', '--sample-size=0', ...flags],
  ]
}

/** As the chart has them. */
const nodeFlags = ['--optimize-for-size', '--max-semi-space-size=1', '--single-threaded-gc']

async function runPinger(kubeconfig: string, flags: readonly string[]): Promise<string> {
  await ensureTestNetwork()
  return docker('run', '--rm', ...containerOf(kubeconfig, flags))
}

async function measureServer(kubeconfig: string): Promise<Readonly<Record<string, number>>> {
  using accounting = new ProcessAccounting()
  const flags = [`--interval=${intervalSeconds}`, '--port=8080']
  const id = await docker('run', '--detach', ...containerOf(kubeconfig, flags))
  await using _ = { [Symbol.asyncDispose]: async () => void (await docker('rm', '--force', id)) }
  const inspect = (format: string): Promise<string> => docker('inspect', `--format=${format}`, id)
  const pid = await inspect('{{.State.Pid}}')
  const address = await inspect(`{{(index .NetworkSettings.Networks "${testNetwork}").IPAddress}}`)
  const read = async (): Promise<string> => (await fetch(`http://${address}:8080/metrics`)).text()
  const asked = (page: string): number =>
    ['node', 'pod'].reduce((sum, kind) => {
      const counts = samplesOf(page, `pinger_${kind}_ping_count_total`)
      return sum + counts.reduce((of, { value }) => of + value, 0)
    }, 0)
  const until = async (wanted: number): Promise<string> => {
    for (;;) {
      // A page is large: it is asked for about as often as a Prometheus would.
      await new Promise((resolve) => setTimeout(resolve, 2 * intervalSeconds * 1000))
      const page = await read().catch(() => '')
      if (asked(page) >= wanted) return page
    }
  }
  const before = asked(await until(targets * packets))
  const [cpuBefore, startedMs] = [processorSeconds(pid), performance.now()]
  const page = await until(before + rounds * targets * packets)
  const cpuShare = (processorSeconds(pid) - cpuBefore) / ((performance.now() - startedMs) / 1000)
  const memory = containerMemory(pid)
  const forks = accounting.ended().filter(({ parentPid }) => parentPid === Number(pid)).length
  return {
    cpuShare: rounded(cpuShare * 100) / 100,
    forks,
    mib: rounded(memory.peak),
    anonymousMib: rounded(memory.anonymous),
    residentMib: rounded(memory.resident),
    series: page.split('\n').filter((line) => /^[a-z]/.test(line)).length,
  }
}
