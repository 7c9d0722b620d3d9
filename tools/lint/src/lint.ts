import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ESLint } from 'eslint'
import { config } from './config.ts'
import { repository } from './workspace.ts'

/** Code that breaks a boundary, where the boundary rule must see it. */
const forbidden = {
  path: 'libs/core/errors/src/forbidden-import.ts',
  code: "import { OvsdbClient } from 'ovsdb-client'\nexport const client = OvsdbClient\n",
}

/** Makes nx compute and cache the graph of projects, without which the boundary rule is silent. */
export async function refreshProjectGraph(): Promise<void> {
  const nx = join(repository, 'node_modules/.bin/nx')
  await promisify(execFile)(nx, ['show', 'projects', '--json'], {
    cwd: repository,
    env: { ...process.env, NX_DAEMON: 'false', NX_NO_CLOUD: 'true' },
  })
}

/** The linter with the rules of this project. */
export function createLinter(): ESLint {
  return new ESLint({ cwd: repository, overrideConfigFile: true, overrideConfig: config })
}

/**
 * Finds out whether the boundary rule works.
 *
 * It skips everything, with no more than a warning, when something about the graph of projects is wrong. Then nothing
 * is ever refused; so it is shown something that it must refuse.
 */
export async function isBoundaryRuleAwake(linter: ESLint): Promise<boolean> {
  const results = await linter.lintText(forbidden.code, { filePath: join(repository, forbidden.path) })
  return results.some((result) =>
    result.messages.some((message) => message.ruleId === '@nx/enforce-module-boundaries'),
  )
}
