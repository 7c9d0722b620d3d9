import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../..')
/** Not of the workspace, or too large to copy. */
const leftOut = new Set(['.git', '.nx', '.lab', 'dist', 'cache', 'test-results', 'coverage'])

let copy: string
/** What the generator wrote or changed. */
let touched: readonly string[]

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'kube-ovn-skeleton-'))
  await cp(root, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => path !== join(root, 'node_modules') && !leftOut.has(basename(path)),
  })
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  const outputs: string[] = []
  for (const request of [
    ['feature', 'policies/example-guard'],
    ['app', 'example-app'],
    ['resource', 'example-policy'],
  ])
    outputs.push(await node('tools/generate/src/main.ts', ...request))
  touched = outputs
    .flatMap((output) => output.split('\n'))
    .flatMap((line) => /^(\S+) (?:written|changed)$/.exec(line)?.[1] ?? [])
}, 300_000)
afterAll(() => rm(copy, { recursive: true }))

/** Runs a program in the copy, and returns what it printed. It fails the test with that when it ends badly. */
async function inCopy(command: string, ...args: readonly string[]): Promise<string> {
  const environment = {
    ...process.env,
    NX_DAEMON: 'false',
    PATH: `${join(copy, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
  }
  const child = run(command, [...args], { cwd: copy, env: environment, maxBuffer: 64 * 1024 * 1024 })
  const { stdout } = await child.catch((error: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`)
  })
  return stdout
}

function node(...args: readonly string[]): Promise<string> {
  return inCopy(process.execPath, ...args)
}

/** A check of the whole workspace, as the root's package.json has it. */
async function target(name: string): Promise<string> {
  const { nx } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8')) as {
    readonly nx: { readonly targets: Readonly<Record<string, { readonly command: string }>> }
  }
  return inCopy('sh', '-c', nx.targets[name]?.command ?? 'false')
}

function sources(): readonly string[] {
  return touched.filter((path) => path.endsWith('.ts'))
}

describe('a feature, an app and a resource that were just begun', () => {
  it('touch their own files and the lists', () => {
    const own = /example-?(guard|app|polic)/
    expect([...new Set(touched)].filter((path) => !own.test(path)).toSorted()).toEqual([
      'docs/design/index.md',
      'docs/reference/crds/index.md',
      'helm/kube-ovn/templates/rbac.yaml',
      'libs/assembly/controller/src/features.ts',
      'libs/model/kube-api/src/index.ts',
      'libs/model/ovn-names/src/row-owner.ts',
      'pnpm-lock.yaml',
      'tools/images/src/programs.ts',
    ])
    expect(touched.filter((path) => own.test(path)).length).toBeGreaterThanOrEqual(14)
  })

  it.each(['types', 'dead-code', 'generated'])('pass the check %s', async (name) => {
    await expect(target(name)).resolves.toBeDefined()
  })

  it('pass lint, boundaries and format', async () => {
    const formatted = touched.filter((path) => !path.endsWith('.yaml'))
    await expect(inCopy('oxlint', '--deny-warnings', ...sources())).resolves.toBeDefined()
    await expect(node('tools/lint/src/main.ts', ...sources())).resolves.toBeDefined()
    await expect(inCopy('prettier', '--check', ...formatted)).resolves.toBeDefined()
  })

  it('pass their unit tests, and those of the lists that they are in', async () => {
    const tests = sources().filter((path) => /(?<!\.it)\.test\.ts$/.test(path))
    expect(tests).toHaveLength(2)
    const lists = [
      'tools/lint/src/documentation.test.ts',
      'tools/lint/src/feature-suites.test.ts',
      'tools/generate/src/crds/crds.test.ts',
      'apps/kubectl-ko/src/explain/northbound.test.ts',
    ]
    await inCopy('vitest', 'run', '--project', 'unit', ...tests, ...lists)
  })

  it('pass the suite of the feature: created, changed, deleted, restart, drift, foreign row, counts', async () => {
    const suites = sources().filter((path) => path.endsWith('.it.test.ts'))
    expect(suites).toHaveLength(1)
    await inCopy('vitest', 'run', '--project', 'integration', ...suites)
  })
})

it('refuses what is there already, and names that are none', async () => {
  for (const [request, message] of [
    [['feature', 'network/vpc'], 'it is there already'],
    [['feature', 'nowhere/guard'], 'there is no such area'],
    [['app', 'Example_App'], 'a name is refused'],
    [['policy', 'guard'], 'nothing can be begun so'],
  ] as const)
    await expect(node('tools/generate/src/main.ts', ...request)).rejects.toThrow(message)
})
