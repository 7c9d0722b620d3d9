import { globSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createNodes } from './unit-targets.ts'
import { repository } from './vitest.ts'

it('has a target for each package with unit tests, of which those that look around depend on everything', async () => {
  const [pattern, nodesOf] = createNodes
  const paths = globSync(pattern, { cwd: repository })
  const nodes = await nodesOf(paths, undefined, { workspaceRoot: repository, nxJsonConfiguration: {} })
  const inputs = Object.fromEntries(
    nodes.flatMap(([, { projects = {} }]) =>
      Object.entries(projects).map(([root, { targets }]) => [root, targets?.['unit']?.inputs]),
    ),
  )
  const tests = globSync('{apps,tools,libs/*}/*/src/**/*.test.ts', { cwd: repository })
  const packages = tests
    .filter((path) => !/\.(it|e2e)\.test\.ts$/.test(path))
    .map((path) => path.slice(0, path.indexOf('/src/')))
  expect(Object.keys(inputs).sort()).toEqual([...new Set(packages)].sort())
  expect(inputs).toMatchObject({
    'libs/runtime/tables': ['default', '^default'],
    // It reads what the original wrote, which is with the golden cases.
    'libs/model/ovn-names': ['workspace'],
    'tools/lint': ['workspace'],
  })
})
