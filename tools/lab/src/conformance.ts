import { existsSync, readFileSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { importImages } from './cluster/images.ts'
import { ensureLabImage } from './docker/image.ts'
import { ProgramError } from './errors.ts'
import { programs } from './paths.ts'
import { runProgram, tryProgram } from './program.ts'
import type { Cluster } from './cluster/cluster.ts'

/** Some of Kubernetes' own specs, by expressions that their full names match. */
export interface SpecSelection {
  readonly focus: string
  /** Those that match any of these are not run. */
  readonly skip?: readonly string[]
}

/** What became of one of Kubernetes' own specs. */
export interface SpecOutcome {
  readonly name: string
  /** As Ginkgo has it: `passed`, `failed`, `timedout`, …; `skipped` if the spec itself said that it can not be run here. */
  readonly state: string
  readonly seconds: number
  /** What failed and what was written before, or why it was skipped; empty if it passed. */
  readonly failure: string
}

interface Report {
  readonly SpecReports: readonly SpecReport[]
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null
  /** `It`, or what is run once for all, e.g. `SynchronizedBeforeSuite`. */
  readonly LeafNodeType: string
  readonly LeafNodeText: string
  readonly State: string
  /** In nanoseconds. */
  readonly RunTime: number
  readonly Failure?: { readonly Message?: string }
  /** What it wrote while it ran. */
  readonly CapturedGinkgoWriterOutput?: string
}

/** At once. They wait more than they work, but each brings pods of its own. */
const processes = 3

/**
 * Runs some of Kubernetes' own specs, and returns what became of each.
 *
 * They are built for deep runs only (`KUBE_OVN_DEEP=1`). The images that specs of networks ask for are there. Ginkgo's report, with what each
 * spec wrote, stays in the lab's directory until the next run.
 *
 * @throws {ProgramError} if they were not run
 */
export async function runKubernetesSpecs(
  cluster: Cluster,
  { focus, skip = [] }: SpecSelection,
): Promise<readonly SpecOutcome[]> {
  const image = await ensureLabImage('agnhost')
  await importImages(cluster, [{ name: image, aliases: await wantedImages() }])
  const report = join(cluster.directory, 'specs.json')
  rmSync(report, { force: true })
  const { exitCode, stdout, stderr } = await tryProgram(programs.ginkgo, [
    ...['run', `--procs=${processes}`, '--no-color', '--succinct', '--timeout=2h'],
    ...[`--focus=${focus}`, ...skip.map((pattern) => `--skip=${pattern}`)],
    ...[`--output-dir=${dirname(report)}`, `--json-report=${basename(report)}`],
    ...[programs.conformance, '--', `--kubeconfig=${cluster.kubeconfig}`, '--provider=skeleton'],
    ...[`--num-nodes=${cluster.nodes.length}`, '--disable-log-dump'],
  ])
  // It exits with 1 when a spec failed, too, of which the report says more.
  if (!existsSync(report))
    throw new ProgramError('the specs were not run', {
      command: programs.ginkgo,
      exitCode,
      output: `${stdout}\n${stderr}`.slice(-4000),
    })
  return readReport(readFileSync(report, 'utf8'))
}

/**
 * The images of specs whose part one image plays: agnhost and what is in it beside. Those of the web server and of the pause are only
 * asked to run.
 */
const played = ['agnhost', 'busybox', 'glibc-dns-testing', 'nginx', 'pause']

/** The names by which specs ask for them. */
async function wantedImages(): Promise<readonly string[]> {
  const listed = await runProgram(programs.conformance, ['--list-images'])
  return listed.split('\n').filter((name) => played.includes(/([^/:]+):[^/:]+$/.exec(name)?.[1] ?? ''))
}

/**
 * What Ginkgo's report says of the specs that were asked for; it has all others, thousands, too.
 *
 * Of what is run once for all, e.g. `SynchronizedBeforeSuite`, only what failed: then none of the specs was run.
 */
export function readReport(text: string): readonly SpecOutcome[] {
  const reports = JSON.parse(text) as readonly Report[]
  return reports
    .flatMap(({ SpecReports: specs }) => specs)
    .filter(wasRun)
    .map((spec) => ({
      name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' ') || spec.LeafNodeType,
      state: spec.State,
      seconds: spec.RunTime / 1e9,
      failure: [spec.Failure?.Message ?? '', ...lastWritten(spec)].join('\n'),
    }))
}

/** Of what a spec wrote that failed, as much as says why, in characters. */
const kept = 6000

function lastWritten({
  State: state,
  CapturedGinkgoWriterOutput: written = '',
}: SpecReport): readonly string[] {
  return state === 'passed' || state === 'skipped' || written === '' ? [] : [written.slice(-kept)]
}

function wasRun({ LeafNodeType: type, State: state, Failure: failure }: SpecReport): boolean {
  return type === 'It' ? state !== 'skipped' || (failure?.Message ?? '') !== '' : state !== 'passed'
}
