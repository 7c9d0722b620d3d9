import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nodes, pods } from '@kube-ovn/kube'
import { subnetResource } from '@kube-ovn/kube-api'
import { node, pod, subnet } from '@kube-ovn/testing-builders'
import { chartCrds, startKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { createAll } from './control-plane.ts'
import { percentile, rounded } from './statistics.ts'

const repository = join(import.meta.dirname, '../../..')
/** What users get. */
const program = join(repository, 'dist/programs/kubectl-ko')
const redraw = join(repository, 'apps/kubectl-ko/src/top/redraw.fixture.ts')
/** A lab has fewer, most clusters have less. */
const [nodeCount, podCount, subnetCount] = [200, 10_000, 100] as const
const [helps, statuses] = [20, 10] as const

const run = promisify(execFile)

/** What a user of the plugin waits for. */
export const ko: Benchmark = {
  name: 'ko',
  summary: `milliseconds of kubectl ko status, p50 (\`value\`), with ${podCount} pods, of --help and of a redraw; its MB`,
  async run(): Promise<BenchmarkResult> {
    const { size } = await stat(program)
    const helpMs = await timesOf(helps, firstOutput)
    const redrawMs = await redraws()
    await using api = await startKubeApi({ crds: [chartCrds] })
    await fill(api, { nodeCount: 2, podCount: 30, subnetCount: 5 })
    const few = await timesOf(statuses, () => status(api))
    console.log(`creating ${podCount} pods`)
    await fill(api, { nodeCount, podCount, subnetCount })
    const many = await timesOf(statuses, () => status(api))
    return {
      value: rounded(percentile(few, 0.5)),
      unit: 'ms',
      manyMs: rounded(percentile(many, 0.5)),
      helpMs: rounded(percentile(helpMs, 0.5)),
      helpP95: rounded(percentile(helpMs, 0.95)),
      redrawMs: rounded(percentile(redrawMs, 0.5)),
      redrawP95: rounded(percentile(redrawMs, 0.95)),
      mb: rounded(size / 1e6),
    }
  },
}

async function timesOf(count: number, once: () => Promise<void>): Promise<readonly number[]> {
  const times: number[] = []
  // The first one finds the program on the disk, and nothing compiled.
  for (let index = 0; index <= count; index++) {
    const startedMs = performance.now()
    await once()
    if (index > 0) times.push(performance.now() - startedMs)
  }
  return times
}

/** Resolves when the first byte of the help is there. */
async function firstOutput(): Promise<void> {
  const child = spawn(program, ['--help'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  child.stdout.resume()
  // What it does afterwards delays nobody, but the next one.
  void ended
}

async function status(api: KubeApi): Promise<void> {
  const child = spawn(program, ['--kubeconfig', api.kubeconfigPath, 'status'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [code] = (await once(child, 'exit')) as [number]
  // No component runs here: it says so by 1.
  if (code !== 1) throw new Error(`kubectl ko status ended with ${code}`)
}

/** In the engine that is in the executable, not in the one that runs this. */
async function redraws(): Promise<readonly number[]> {
  const require = createRequire(join(repository, 'tools/images/package.json'))
  const bun = join(require.resolve('bun/package.json'), '../bin/bun.exe')
  const env = { ...process.env, NODE_ENV: 'production' }
  const { stdout } = await run(bun, ['run', redraw], { env })
  const [line = ''] = /^\{.*\}$/m.exec(stdout) ?? []
  return (JSON.parse(line) as { readonly times: readonly number[] }).times
}

/** Nodes, Subnets, and pods with what real ones have. */
async function fill(
  api: KubeApi,
  counts: { readonly nodeCount: number; readonly podCount: number; readonly subnetCount: number },
): Promise<void> {
  const named = <T>(count: number, make: (name: string, index: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, index) => make(`of-${count}-${index}`, index))
  await createAll(
    api,
    nodes,
    named(counts.nodeCount, (name, index) =>
      node({ name, addresses: [`172.18.${index >> 8}.${(index & 255) + 1}`] }),
    ),
  )
  await createAll(
    api,
    subnetResource,
    named(counts.subnetCount, (name, index) => subnet({ name, cidrBlock: `10.${index}.0.0/16` })),
  )
  await createAll(
    api,
    pods,
    named(counts.podCount, (name, index) =>
      pod({ name, node: `of-${counts.nodeCount}-${index % counts.nodeCount}`, annotations }),
    ),
  )
}

/** Makes a pod as long as they usually are. */
const annotations = { 'example.com/notes': 'what somebody has to say about it. '.repeat(60) }
