#!/usr/bin/env node
/** A plugin of kubectl: `kubectl ko`. */
import { runProgram } from './program.ts'

const ended = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => ended.abort(new DOMException(signal, 'AbortError')))
}
// Who reads our output may have seen enough, e.g. `head`.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await runProgram(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  directory: process.cwd(),
  environment: process.env,
  signal: ended.signal,
  exitCode: 0,
})
