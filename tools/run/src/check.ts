import { spawn } from 'node:child_process'
import { repository } from './vitest.ts'
import { checkSteps, type CheckStep } from './check-steps.ts'

interface CheckResult {
  readonly name: string
  readonly isOk: boolean
  readonly ms: number
  readonly output: string
}

/** Runs a step to its end; its output is kept, to be shown only if it fails. */
function runStep(step: CheckStep): Promise<CheckResult> {
  const since = performance.now()
  const [command, ...args] = step.command
  const child = spawn(command, args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve) => {
    function finish(isOk: boolean): void {
      const ms = performance.now() - since
      process.stdout.write(`${isOk ? '✓' : '✗'} ${step.name.padEnd(12)} ${(ms / 1000).toFixed(1)} s\n`)
      resolve({ name: step.name, isOk, ms, output })
    }
    child.once('error', (error) => {
      output += error.message
      finish(false)
    })
    child.once('close', (code) => finish(code === 0))
  })
}

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !checkSteps.some((step) => step.name === name))
  if (unknown.length > 0) {
    process.stderr.write(
      `Unknown step ${unknown.join(', ')}; known: ${checkSteps.map((s) => s.name).join(', ')}\n`,
    )
    return 2
  }
  const results = await Promise.all(
    checkSteps.filter((step) => names.length === 0 || names.includes(step.name)).map(runStep),
  )
  const failed = results.filter((result) => !result.isOk)
  for (const result of failed) process.stdout.write(`\n── ${result.name}\n${result.output}\n`)
  process.stdout.write(`${results.length - failed.length} of ${results.length} steps passed\n`)
  return failed.length === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
