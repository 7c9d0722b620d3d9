import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { repository } from './vitest.ts'

/** Runs nx in the foreground, without its daemon, and returns how it ended. What it did before it does not do again. */
export function runNx(args: readonly string[]): Promise<number> {
  const child = spawn(join(repository, 'node_modules/.bin/nx'), [...args, '--outputStyle=static'], {
    cwd: repository,
    stdio: 'inherit',
    env: { ...process.env, NX_DAEMON: 'false', NX_NO_CLOUD: 'true', NX_TUI: 'false' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
