import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importImages } from './cluster/images.ts'
import { ensureLabImage } from './docker/image.ts'
import { programs } from './paths.ts'
import { runProgram, tryProgram } from './program.ts'
import type { Cluster } from './cluster/cluster.ts'

/** What became of one of Kubernetes' own specs. */
export interface SpecOutcome {
  readonly name: string
  /** As Ginkgo has it: `passed`, `failed`, `timedout`, … */
  readonly state: string
  /** What failed; empty if nothing did. */
  readonly failure: string
}

interface Report {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null
    readonly LeafNodeType: string
    readonly LeafNodeText: string
    readonly State: string
    readonly Failure?: { readonly Message?: string }
  }[]
}

/**
 * Runs those of Kubernetes' own specs whose name the pattern matches, and returns what became of each.
 *
 * They are built for deep runs only (`KUBE_OVN_DEEP=1`). Of the images that specs ask for there is agnhost, with what proxies need.
 *
 * @throws {ProgramError} if they were not run
 */
export async function runKubernetesSpecs(cluster: Cluster, pattern: string): Promise<readonly SpecOutcome[]> {
  await importImages(cluster, await agnhostImages())
  const directory = mkdtempSync(join(tmpdir(), 'kube-ovn-specs-'))
  try {
    const report = join(directory, 'report.json')
    // It exits with 1 when a spec failed, of which the report says more.
    const { exitCode, stdout } = await tryProgram(programs.conformance, [
      ...[`--kubeconfig=${cluster.kubeconfig}`, '--provider=skeleton', `--num-nodes=${cluster.nodes.length}`],
      ...['--disable-log-dump', `--ginkgo.focus=${pattern}`, `--ginkgo.json-report=${report}`],
    ])
    if (exitCode > 1) throw new Error(`the specs were not run: ${stdout.slice(-2000)}`)
    return readReport(readFileSync(report, 'utf8'))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The names by which specs ask for the image, which has its content under each of them. */
async function agnhostImages(): Promise<readonly string[]> {
  const listed = await runProgram(programs.conformance, ['--list-images'])
  const names = listed.split('\n').filter((name) => name.includes('/e2e-test-images/agnhost:'))
  const image = await ensureLabImage('agnhost')
  for (const name of names) await runProgram('docker', ['tag', image, name])
  return names
}

/** What was not run at all is left out: all others of thousands. */
function readReport(text: string): readonly SpecOutcome[] {
  const reports = JSON.parse(text) as readonly Report[]
  return reports
    .flatMap(({ SpecReports: specs }) => specs)
    .filter(({ LeafNodeType: type, State: state }) => type === 'It' && state !== 'skipped')
    .map((spec) => ({
      name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(' '),
      state: spec.State,
      failure: spec.Failure?.Message ?? '',
    }))
}
