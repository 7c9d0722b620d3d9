import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@kube-ovn/log'
import type { InstallConfig } from './config.ts'
import { removeTemporaryFiles, replaceFile } from './replace-file.ts'

const name = 'kubectl-ko'
const executable = 0o755
/** By which our file is told from one that somebody put there. */
const mark = "':' // Installed by kube-ovn-cni."

/** What is installed beside the plugin, for people on the node. */
type CommandConfig = Pick<InstallConfig, 'toolingDir' | 'hostCniBinDir' | 'sourceDirs'>

/**
 * Puts the command `kubectl-ko` into the directory for tools, where one is given.
 *
 * The node has no Node, and the executable that users install has more than 100 MB. The CNI plugin is such an executable, and lends what
 * is in it: the file is a script for a shell that starts it, and the program.
 *
 * No pod's network depends on it: what keeps it from being installed, e.g. a read-only directory, is logged.
 */
export function installCommand(config: CommandConfig, log: Logger): void {
  if (config.toolingDir === '') return
  const path = join(config.toolingDir, name)
  try {
    mkdirSync(config.toolingDir, { recursive: true })
    removeTemporaryFiles(config.toolingDir, [name])
    const runtime = join(config.hostCniBinDir, 'kube-ovn')
    if (replaceFile(path, renderCommand(readProgram(config.sourceDirs), runtime), executable))
      log.info('command installed', { path })
  } catch (error) {
    log.warn('command was not installed', { path, err: error })
  }
}

/** Removes what {@link installCommand} has installed, and nothing of others. */
export function removeCommand({ toolingDir }: CommandConfig, log: Logger): void {
  if (toolingDir === '') return
  const path = join(toolingDir, name)
  if (!existsSync(path) || readFileSync(path, 'utf8').split('\n', 2)[1] !== mark) return
  rmSync(path, { force: true })
  log.info('file removed', { path })
}

function readProgram(directories: readonly string[]): string {
  const file = `${name}.mjs`
  const directory = directories.find((one) => existsSync(join(one, file))) ?? directories[0] ?? ''
  return readFileSync(join(directory, file), 'utf8')
}

/**
 * To the shell, the second and third line are a command that does nothing, and one that takes its place; to the program, a text and a comment.
 *
 * With the variable, an executable made by Bun runs a file in place of what it was made of. What lies in the directory where a user is
 * decides nothing, and programs that this one starts do not see the variable.
 *
 * @see https://bun.sh/docs/bundler/executables
 */
function renderCommand(program: string, runtime: string): string {
  const words = [
    ...['env', 'BUN_BE_BUN=1', 'BUN_RUNTIME_TRANSPILER_CACHE_PATH=0', quoted(runtime)],
    ...['--no-install', '--no-env-file', '--config=/dev/null', '--tsconfig-override=/dev/null'],
  ]
  return [
    '#!/bin/sh',
    mark,
    `':' //; exec ${words.join(' ')} "$0" "$@"`,
    'delete process.env.BUN_BE_BUN, delete process.env.BUN_RUNTIME_TRANSPILER_CACHE_PATH',
    program.replace(/^#!.*\n/, ''),
  ].join('\n')
}

/** For a shell, on one line. */
function quoted(path: string): string {
  return `'${path.replaceAll(/[\r\n\u2028\u2029]/g, '').replaceAll("'", String.raw`'\''`)}'`
}
