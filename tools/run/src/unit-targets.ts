import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CreateNodes, TargetConfiguration } from 'nx/src/devkit-exports'

/** Packages whose tests look at the whole checkout: its documents, its chart, all projects. */
const wholeSet = ['layer:tool', 'layer:testing']

/**
 * Gives each package that has unit tests a target `unit`; nx loads it.
 *
 * @see https://nx.dev/docs/extending-nx/project-graph-plugins
 */
export const createNodes: CreateNodes = [
  '{apps,tools,libs/*}/*/package.json',
  (paths, _options, { workspaceRoot }) =>
    paths.map((path) => {
      const root = dirname(path)
      const unit = unitTarget(root, workspaceRoot)
      return [path, { projects: unit === undefined ? {} : { [root]: { root, targets: { unit } } } }]
    }),
]

function unitTarget(root: string, workspaceRoot: string): TargetConfiguration | undefined {
  const tests = unitTestsIn(join(workspaceRoot, root, 'src'))
  if (tests.length === 0) return undefined
  const { nx } = JSON.parse(readFileSync(join(workspaceRoot, root, 'package.json'), 'utf8')) as {
    readonly nx: { readonly tags: readonly string[] }
  }
  const looksAround = nx.tags.some((tag) => wholeSet.includes(tag)) || tests.some(readsOtherFolders)
  return {
    command: `node tools/run/src/unit.ts ${root}`,
    cache: true,
    inputs: looksAround ? ['workspace'] : ['default', '^default'],
    outputs: [`{workspaceRoot}/test-results/unit/${root}`],
  }
}

function unitTestsIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.(?:it|e2e))\.test\.ts$/.test(path))
    .map((path) => join(directory, path))
}

/** Whether a test has a path that leads out of its package. */
function readsOtherFolders(path: string): boolean {
  return readFileSync(path, 'utf8').includes('../../')
}
