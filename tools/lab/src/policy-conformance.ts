import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importImages } from './cluster/images.ts'
import { ensureLabImage } from './docker/image.ts'
import { ProgramError } from './errors.ts'
import { waitForObjects } from './kubernetes/wait.ts'
import { programs } from './paths.ts'
import { tryProgram } from './program.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { SpecOutcome } from './conformance.ts'

/** The network policy API's own suites, by whose policies they are about. */
export type PolicySuite = 'adminPolicies' | 'clusterPolicies'

/** What is about SCTP alone: the kernel of a lab may have no sockets of it. */
const leftOut = '(?i)sctp'

/**
 * Runs a suite of the network policy API, also about what is experimental there, and returns what became of each claim.
 *
 * They are built for deep runs only (`KUBE_OVN_DEEP=1`). What was written stays in the lab's directory until the next run.
 *
 * @throws {ProgramError} if it was not run
 */
export async function runPolicySuite(cluster: Cluster, suite: PolicySuite): Promise<readonly SpecOutcome[]> {
  const program = programs[suite]
  await untilFormerAreGone(cluster)
  await importImages(cluster, [{ name: await ensureLabImage('agnhost'), aliases: wantedImages(program) }])
  const { exitCode, stdout, stderr } = await tryProgram(
    program,
    ['-test.v', '-test.run=^TestConformance$', `-test.skip=/${leftOut}`, '-all-features'],
    { env: { KUBECONFIG: cluster.kubeconfig } },
  )
  writeFileSync(join(cluster.directory, `${suite}.log`), `${stdout}\n${stderr}`)
  const outcomes = readTestOutput(stdout)
  if (outcomes.length === 0)
    throw new ProgramError('the suite was not run', {
      command: program,
      exitCode,
      output: `${stdout}\n${stderr}`.slice(-4000),
    })
  return outcomes
}

/** Suites have namespaces of the same names, and take them away without waiting. */
async function untilFormerAreGone({ api }: Cluster): Promise<void> {
  await waitForObjects(api, '/api/v1/namespaces', 'namespaces of the suite before are gone', (all) =>
    all.some(({ metadata: { name } }) => name.startsWith('network-policy-conformance-')) ? undefined : true,
  )
}

/** The names by which its pods ask for the image; their manifests are in the program. */
function wantedImages(program: string): readonly string[] {
  return [...new Set(readFileSync(program, 'latin1').match(/[\w.-]+(?:\/[\w.-]+)+\/agnhost:[\d.]+/g))]
}

/** Of what a claim wrote that failed, as much as says why, in characters. */
const kept = 6000

/**
 * What `go test -v` says of the tests that have no parts, by their full names.
 *
 * What is between them was written by the one that was named last. One that failed by SCTP alone, which the kernel lacks, is `skipped`.
 */
export function readTestOutput(text: string): readonly SpecOutcome[] {
  const written = new Map<string, string>()
  const outcomes: SpecOutcome[] = []
  let current = ''
  for (const line of text.split('\n')) {
    const [, state, name, seconds] = /^\s*--- (PASS|FAIL|SKIP): (.*) \(([\d.]+)s\)$/.exec(line) ?? []
    if (state !== undefined && name !== undefined) {
      const said = written.get(name) ?? ''
      const failure = state === 'PASS' ? '' : said.slice(-kept)
      const word = state === 'FAIL' && lacksSctpAlone(said) ? 'skipped' : (stateWords[state] ?? state)
      outcomes.push({ name, state: word, seconds: Number(seconds), failure })
      continue
    }
    current = /^=== (?:RUN|NAME|CONT) +(.*)$/.exec(line)?.[1] ?? current
    if (!line.startsWith('=== ')) written.set(current, `${written.get(current) ?? ''}${line}\n`)
  }
  return outcomes.filter(({ name }) => !outcomes.some((other) => other.name.startsWith(`${name}/`)))
}

/**
 * Whether all that failed was to ask by SCTP, on a kernel that has no sockets of it. Each claim asks by other protocols, too; some ask again and
 * again, so what counts is the question before each failure.
 */
function lacksSctpAlone(said: string): boolean {
  const beforeFailures = said.split('Error Trace:').slice(0, -1)
  return (
    beforeFailures.length > 0 &&
    beforeFailures.every((text) => {
      const last = text.slice(text.lastIndexOf('FAILED Command was'))
      return last.includes('--protocol=sctp') && last.includes('OTHER: protocol not supported')
    })
  )
}

const stateWords: Readonly<Record<string, string>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' }
