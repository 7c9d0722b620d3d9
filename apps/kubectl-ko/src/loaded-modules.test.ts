import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { expect, it } from 'vitest'

const ownDirectory = import.meta.dirname
const commandFiles = readdirSync(join(ownDirectory, 'commands')).length

interface Loaded {
  /** Files of this program, e.g. `actions/status.ts`. */
  readonly own: readonly string[]
  /** Folders of libraries of the workspace, e.g. `core/errors`. */
  readonly libraries: readonly string[]
  /** Names of packages. */
  readonly packages: readonly string[]
  readonly count: number
}

async function loadedBy(args: readonly string[]): Promise<Loaded> {
  const fixture = join(ownDirectory, 'loaded-modules.fixture.ts')
  const child = spawn(process.execPath, ['--import', fixture, join(ownDirectory, 'main.ts'), ...args], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const [told] = await Promise.all([text(child.stdio[3] as Readable), once(child, 'exit')])
  const urls = told.split('\n').filter((url) => url.startsWith('file:'))
  const parts = (pattern: RegExp): readonly string[] => [
    ...new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? [])),
  ]
  return {
    own: parts(/\/kubectl-ko\/src\/(.*)$/),
    libraries: parts(/\/libs\/([^/]+\/[^/]+)\/src\//),
    packages: parts(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//),
    count: urls.length,
  }
}

it.each([
  { args: [] },
  { args: ['--help'] },
  { args: ['--version'] },
  { args: ['status', '--help'] },
  { args: ['nbctl', '--help'] },
  { args: ['completion', 'bash'] },
  { args: ['__complete', '--', 'nb', ''] },
  { args: ['nosuch'] },
])('$args loads what declares the commands, and nothing by which they work', async ({ args }) => {
  const { own, libraries, packages, count } = await loadedBy(args)
  expect(own.filter((path) => path.startsWith('actions/'))).toEqual([])
  expect({ libraries, packages }).toEqual({ libraries: ['core/errors'], packages: ['commander'] })
  // The commands, and what they are made with.
  expect(own.length).toBeLessThanOrEqual(commandFiles + 9)
  expect(count).toBeLessThanOrEqual(commandFiles + 22)
})

it.each(['status', 'version', 'topology'])('%s loads its own action, and nothing of others', async (name) => {
  const { own, libraries, packages } = await loadedBy([name, '--kubeconfig', '/nonexistent'])
  expect(own.filter((path) => path.startsWith('actions/'))).toEqual([`actions/${name}.ts`])
  // A few more than now may come to it; the controller, which foretells changes, and what draws screens may not.
  expect(own.length).toBeLessThanOrEqual(commandFiles + 25)
  expect(libraries.filter((library) => !/^(core|model|io)\//.test(library))).toEqual([])
  expect(packages.toSorted()).toEqual(['commander', 'undici', 'yaml', 'zod'])
})
