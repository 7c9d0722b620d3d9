import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { KubeClient, endpoints, loadKubeconfig } from '@kube-ovn/kube'
import { systemClock } from '@kube-ovn/process'
import {
  createCase,
  discardCase,
  isProfile,
  playCase,
  playOnCluster,
  recordStep,
  type GoldenCase,
  type NewCase,
  type PlayedStep,
} from '@kube-ovn/testing-golden'
import { startController } from './controller-process.ts'
import { settleMs } from './play.ts'
import { startStage } from './stage.ts'

export const recordHelp = `
Records a new case: a step for each manifest, of which NAME-delete.yaml is deleted and the status in NAME-status.yaml patched in.

  npm run golden -- record GROUP/CASE MANIFEST...

  --profile dual|v4|v6       families of the cluster (dual)
  --description TEXT         what the case is about
  --flag=--FLAG=VALUE        added to the controller's command line; may be repeated
  --northbound tcp:HOST:PORT of the cluster that $KUBECONFIG names, on which it is recorded if it is set
`

/** A cluster on which a case is recorded, whoever runs it. */
export interface ForeignCluster {
  readonly kubeconfig: string
  /** `tcp:HOST:PORT`; found by its Service when absent. */
  readonly northbound?: string
}

interface Arguments {
  readonly wanted: NewCase
  readonly cluster: ForeignCluster | undefined
}

/** Records a case as the command line says; answers the exit code. */
export async function recordCommand(repository: string, args: readonly string[]): Promise<number> {
  const parsed = readArguments(repository, args)
  if (typeof parsed === 'string') {
    process.stderr.write(`${parsed}\n${recordHelp}`)
    return 1
  }
  const { directory } = await recordCase(repository, parsed.wanted, parsed.cluster)
  console.log(directory)
  return 0
}

/** Records a case, against our controller unless another cluster is given. What fails halfway is removed. */
export async function recordCase(
  repository: string,
  wanted: NewCase,
  cluster?: ForeignCluster,
): Promise<GoldenCase> {
  const golden = await createCase(wanted)
  try {
    const steps = cluster === undefined ? playHere(repository, golden) : playThere(cluster, golden)
    for await (const step of steps) {
      await recordStep(golden, step)
      console.log(`recorded ${golden.name}/${step.step}`)
    }
    return golden
  } catch (error) {
    await discardCase(golden)
    throw error
  }
}

/** Yields what is wrong with the command line as a text. */
function readArguments(repository: string, args: readonly string[]): Arguments | string {
  const parsed = tryParse(args)
  if (typeof parsed === 'string') return parsed
  const { values, positionals } = parsed
  const [name = '', ...manifests] = positionals
  const { profile, description, flag: flags, northbound } = values
  if (!/^[a-z0-9-]+\/[a-z0-9-]+$/.test(name))
    return `"${name}" is no name of a case: write GROUP/CASE in small letters`
  if (!isProfile(profile)) return `--profile ${profile} is not known: write dual, v4 or v6`
  const missing = manifests.find((manifest) => !existsSync(manifest))
  if (missing !== undefined) return `there is no file ${missing}`
  const directory = join(repository, 'libs/testing/golden/cases', name)
  if (existsSync(directory)) return `the case ${name} is there already: remove it, or choose another name`
  const kubeconfig = process.env['KUBECONFIG'] ?? ''
  const cluster = { kubeconfig, ...(northbound === undefined ? {} : { northbound }) }
  return {
    wanted: { directory, description, profile, flags, manifests },
    cluster: kubeconfig === '' ? undefined : cluster,
  }
}

function tryParse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        profile: { type: 'string', default: 'dual' },
        description: { type: 'string', default: '' },
        flag: { type: 'string', multiple: true, default: [] },
        northbound: { type: 'string' },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Plays the case against our controller. */
async function* playHere(repository: string, golden: GoldenCase): AsyncGenerator<PlayedStep> {
  await using stage = await startStage(golden.profile)
  const logs = await mkdtemp(join(tmpdir(), 'kube-ovn-golden-'))
  console.log(`logs of the controller: ${logs}`)
  await using _controller = await startController(repository, stage, golden, logs)
  const { kube, northbound } = stage
  yield* playCase(golden, {
    ...{ client: kube.client, northboundAddress: northbound.address, clock: systemClock, settleMs },
  })
}

/** Plays the case on a cluster that is there. */
async function* playThere(
  { kubeconfig, northbound }: ForeignCluster,
  golden: GoldenCase,
): AsyncGenerator<PlayedStep> {
  await using client = new KubeClient(await loadKubeconfig(kubeconfig), { userAgent: 'kube-ovn-golden' })
  const northboundAddress = northbound ?? (await findNorthbound(client))
  yield* playOnCluster(golden, { client, northboundAddress, clock: systemClock, settleMs })
}

async function findNorthbound(client: KubeClient): Promise<string> {
  const found = await client.get(endpoints, { namespace: 'kube-system', name: 'ovn-nb' })
  const [subset] = found?.subsets ?? []
  const ip = subset?.addresses?.[0]?.ip
  const port = subset?.ports?.[0]?.port
  if (ip === undefined || port === undefined)
    throw new Error('the Service kube-system/ovn-nb has no endpoint: say --northbound tcp:HOST:PORT')
  return `tcp:${ip.includes(':') ? `[${ip}]` : ip}:${port}`
}
