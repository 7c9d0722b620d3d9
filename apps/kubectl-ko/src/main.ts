#!/usr/bin/env node
/** A plugin of kubectl: `kubectl ko`. */
import { constants } from 'node:os'
import { interruptedCode, runProgram } from './program.ts'

const ended = new AbortController()
let endedBy: NodeJS.Signals | undefined
// Once: what was made is taken away again, unless the user will not even wait for that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    endedBy ??= signal
    ended.abort(new DOMException(signal, 'AbortError'))
  })
}
// Who reads our output may have seen enough, e.g. `head`.
process.stdout.on('error', () => process.exit(0))
// A terminal that is gone keeps nothing from being taken away.
process.stderr.on('error', () => undefined)

const exitCode = await runProgram(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  directory: process.cwd(),
  environment: process.env,
  signal: ended.signal,
  exitCode: 0,
})
if (exitCode === interruptedCode && endedBy !== undefined) {
  const code = 128 + constants.signals[endedBy]
  // Output that nobody takes keeps nobody who is told to end.
  process.stderr.write('', () => process.exit(code))
} else process.exitCode = exitCode
