import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recordingLogger } from '@kube-ovn/log'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { installCommand, removeCommand } from './install-command.ts'

let root: string
let config: Parameters<typeof installCommand>[0]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kube-ovn-command-'))
  config = {
    toolingDir: join(root, 'tooling'),
    hostCniBinDir: join(root, "somebody's plugins"),
    sourceDirs: [join(root, 'elsewhere'), join(root, 'source')],
  }
  mkdirSync(join(root, 'source'))
  writeFileSync(
    join(root, 'source/kubectl-ko.mjs'),
    "#!/usr/bin/env node\nimport { argv, env } from 'node:process'\nconsole.log(JSON.stringify([argv.slice(2), env.BUN_BE_BUN ?? null]))\n",
  )
  // In place of the plugin: tells how it was started, and runs the program that it is given on Node.
  mkdirSync(config.hostCniBinDir)
  writeFileSync(
    join(config.hostCniBinDir, 'kube-ovn'),
    `#!/bin/sh
printf '%s\\n' "$BUN_BE_BUN" "$1" "$2" "$3" "$4"
shift 4
cp "$1" "$1.mjs"
shift
exec ${process.execPath} ${join(root, 'tooling/kubectl-ko.mjs')} "$@"
`,
    { mode: 0o755 },
  )
})

afterEach(() => rmSync(root, { recursive: true }))

function run(action: typeof installCommand): readonly string[] {
  const log = recordingLogger()
  action(config, log)
  return log.lines.map((line) => line.message)
}

const path = (): string => join(config.toolingDir, 'kubectl-ko')

it('installs a program that the plugin runs, by settings that nothing in a directory changes', () => {
  expect(run(installCommand)).toEqual(['command installed'])
  expect(statSync(path()).mode & 0o777).toBe(0o755)
  const [isRuntime, ...told] = execFileSync(path(), ['why', "it's", '$HOME'], { encoding: 'utf8' }).split(
    '\n',
  )
  expect(isRuntime).toBe('1')
  expect(told.slice(0, 4)).toEqual([
    ...['--no-install', '--no-env-file', '--config=/dev/null', '--tsconfig-override=/dev/null'],
  ])
  expect(JSON.parse(told[4] ?? '')).toEqual([['why', "it's", '$HOME'], null])
})

it('writes nothing the second time, and what a crash left goes', () => {
  run(installCommand)
  writeFileSync(`${path()}.tmp.99`, 'half')
  expect(run(installCommand)).toEqual([])
  expect(existsSync(`${path()}.tmp.99`)).toBe(false)
})

it('installs nothing where no directory is given', () => {
  config = { ...config, toolingDir: '' }
  expect(run(installCommand)).toEqual([])
  expect(run(removeCommand)).toEqual([])
})

it('goes without it where it can not be installed', () => {
  writeFileSync(join(root, 'file'), '')
  config = { ...config, toolingDir: join(root, 'file/tooling') }
  expect(run(installCommand)).toEqual(['command was not installed'])
})

it('removes what it installed, and nothing of others', () => {
  expect(run(removeCommand)).toEqual([])
  run(installCommand)
  expect(run(removeCommand)).toEqual(['file removed'])
  writeFileSync(path(), '#!/bin/sh\nexec elsewhere\n')
  expect(run(removeCommand)).toEqual([])
  expect(readFileSync(path(), 'utf8')).toContain('elsewhere')
})
