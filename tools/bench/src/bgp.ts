import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nodes, pods, type Pod } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { ensureLabImage, runAt, type Place } from '@kube-ovn/lab'
import { docker, testLabel, testNetwork } from '@kube-ovn/testing-docker'
import { chartCrds, startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import pMap from 'p-map'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { processorSeconds } from './processor-time.ts'
import { percentile, rounded } from './statistics.ts'
import { within } from './within.ts'

const repository = join(import.meta.dirname, '../../..')
const [count, changes] = [10_000, 20] as const
const requestsAtOnce = 24

/** The released speaker beside an API server with many pods, and FRR in a container. */
export const bgp: Benchmark = {
  name: 'bgp',
  summary: `seconds from the start of a speaker until FRR has ${count} routes of pods, milliseconds of one change, memory`,
  async run(): Promise<BenchmarkResult> {
    await using api = await startKubeApi({ crds: [chartCrds], accounts: { bgpSpeaker: { enabled: true } } })
    console.log(`creating ${count} pods`)
    await fill(api)
    await using frr = await startFrr()
    await using unpacked = await unpackSpeaker()
    const kubeconfig = await api.accountKubeconfig('kube-system/kube-ovn-speaker', 'speaker-1')
    const startedMs = performance.now()
    await using speaker = startSpeaker(unpacked.program, kubeconfig, frr.address)
    const known = (wanted: number): Promise<void> =>
      Promise.race([untilCount(frr.place, wanted), speaker.ended])
    await within(120_000, () => 'FRR has all routes', known(count))
    const seconds = (performance.now() - startedMs) / 1000
    const cpuSeconds = speaker.seconds()
    const times: number[] = []
    for (let index = 0; index < changes; index++) {
      await createPod(api, count + index)
      const changedMs = performance.now()
      await within(30_000, () => 'FRR has one more', known(count + index + 1))
      times.push(performance.now() - changedMs)
    }
    return {
      ...{ value: rounded(seconds), unit: 's' },
      cpuSeconds: rounded(cpuSeconds),
      changeMs: rounded(percentile(times, 0.5)),
      slowestChangeMs: rounded(Math.max(...times)),
      mb: rounded(speaker.megabytes('VmRSS')),
      peakMb: rounded(speaker.megabytes('VmHWM')),
    }
  },
}

async function fill(api: KubeApi): Promise<void> {
  const cidrBlock = '10.16.0.0/16'
  await api.client.create(nodes, { metadata: { name: 'node-1' } })
  await api.client.create(subnetResource, {
    metadata: { name: 'red', annotations: { 'ovn.kubernetes.io/bgp': 'local' } },
    spec: { cidrBlock },
  })
  await api.client.patch(
    subnetResource,
    { name: 'red' },
    'application/merge-patch+json',
    { status: { inEffect: { cidrBlock } } },
    { subresource: 'status' },
  )
  // Whose token is that of a speaker on the node.
  await api.client.create(pods, {
    metadata: { namespace: 'kube-system', name: 'speaker-1' },
    spec: {
      nodeName: 'node-1',
      serviceAccountName: 'kube-ovn-speaker',
      containers: [{ name: 'c', image: 'c' }],
    },
  })
  await pMap(Array.from({ length: count }).keys(), (index) => createPod(api, index), {
    concurrency: requestsAtOnce,
  })
}

async function createPod(api: KubeApi, index: number): Promise<void> {
  const annotations = {
    'ovn.kubernetes.io/allocated': 'true',
    'ovn.kubernetes.io/ip_address': `10.16.${index >> 8}.${index & 255}`,
    'ovn.kubernetes.io/mac_address': '00:00:00:5e:00:01',
    'ovn.kubernetes.io/logical_switch': 'red',
  }
  const spec: Pod['spec'] = { nodeName: 'node-1', containers: [{ name: 'c', image: 'c' }] }
  await api.client.create(pods, {
    metadata: { namespace: 'default', name: `pod-${index}`, annotations },
    spec,
  })
}

const configuration = `router bgp 65001
 no bgp ebgp-requires-policy
 neighbor speakers peer-group
 neighbor speakers remote-as external
 bgp listen range 0.0.0.0/0 peer-group speakers
`

async function startFrr() {
  const script = [
    'mkdir -p /run/frr /var/tmp/frr',
    'chown frr:frr /run/frr /var/tmp/frr',
    `printf '%s' "$CONFIGURATION" > /run/frr/bench.conf`,
    '/usr/lib/frr/mgmtd -d',
    '/usr/lib/frr/zebra -d',
    'exec /usr/lib/frr/bgpd --log=stdout --config_file=/run/frr/bench.conf',
  ].join('\n')
  const id = await docker(
    ...['run', '--detach', '--rm', '--network', testNetwork, '--label', testLabel],
    ...['--cap-add', 'NET_ADMIN', '--cap-add', 'SYS_ADMIN', '--env', `CONFIGURATION=${configuration}`],
    ...[await ensureLabImage('outside'), 'sh', '-ec', script],
  )
  const [pid, address] = (
    await docker(
      'inspect',
      '--format',
      '{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
      id,
    )
  ).split(' ')
  return {
    address: address ?? '',
    place: { machinePid: Number(pid), networkPid: Number(pid) },
    async [Symbol.asyncDispose]() {
      await docker('rm', '--force', id)
    },
  }
}

/** Until FRR's table has so many routes. */
async function untilCount(place: Place, wanted: number): Promise<void> {
  for (;;) {
    const text = await runAt(place, ['vtysh', '-c', 'show bgp ipv4 unicast summary json']).catch(() => '{}')
    const { peers = {} } = JSON.parse(text) as { peers?: Record<string, { pfxRcd?: number }> }
    if (Object.values(peers).some(({ pfxRcd }) => pfxRcd === wanted)) return
    await delay(5)
  }
}

/** The bundle, where it finds the one module that it leaves outside, as in its image. */
async function unpackSpeaker() {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-bench-bgp-'))
  const fromNetlink = createRequire(join(repository, 'libs/io/netlink/package.json'))
  await mkdir(join(directory, 'node_modules'))
  await symlink(dirname(fromNetlink.resolve('koffi')), join(directory, 'node_modules/koffi'))
  const program = join(directory, 'speaker.mjs')
  await copyFile(join(repository, 'dist/programs/speaker.mjs'), program)
  return { program, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
}

function startSpeaker(program: string, kubeconfig: string, neighbor: string) {
  const flags = [
    ...['--cluster-as=65000', '--neighbor-as=65001', `--neighbor-address=${neighbor}`],
    ...['--pprof-port=0', `--kubeconfig=${kubeconfig}`],
  ]
  // The first flag is the chart's.
  const child = spawn(process.execPath, ['--max-semi-space-size=4', program, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { NODE_NAME: 'node-1', POD_IPS: '127.0.0.1', ENABLE_BIND_LOCAL_IP: 'true', NODE_ENV: 'production' },
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said = `${said}${String(chunk)}`.slice(-2000)))
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the speaker ended: ${said}`)
  })
  ended.catch(() => undefined)
  return {
    /** Rejects when it ends. */
    ended,
    megabytes(field: 'VmRSS' | 'VmHWM'): number {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1_000_000
    },
    /** Of processors. */
    seconds: () => processorSeconds(child.pid ?? ''),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended.catch(() => undefined)
    },
  }
}
