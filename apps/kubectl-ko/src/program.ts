import { Command, CommanderError } from 'commander'
import { addCompletion } from './commands/completion.ts'
import { addDatabases } from './commands/database.ts'
import { addDiagnose } from './commands/diagnose.ts'
import { addEnvCheck } from './commands/env-check.ts'
import { addLog } from './commands/log.ts'
import { addReload } from './commands/reload.ts'
import { addExplain } from './commands/explain.ts'
import { addIpam } from './commands/ipam.ts'
import { addMatrix } from './commands/matrix.ts'
import { addPassThrough } from './commands/pass-through.ts'
import { addPerf } from './commands/perf.ts'
import { addPlan } from './commands/ask-plan.ts'
import { addStatus } from './commands/status.ts'
import { addSupportBundle } from './commands/support-bundle.ts'
import { addTcpdump } from './commands/tcpdump.ts'
import { addTop } from './commands/top.ts'
import { addTopology } from './commands/topology.ts'
import { addTraces } from './commands/trace.ts'
import { addVersion } from './commands/version.ts'
import { addWhy } from './commands/why.ts'
import type { Context } from './context.ts'
import { RemnantsError, UsageError } from './errors.ts'
import { withClusterOptions, withExamples } from './options.ts'
import { version } from './version.ts'

/** Of a command line that was interrupted by Ctrl-C, as shells have it. */
export const interruptedCode = 130

/** Of a command line that is wrong. */
const usageCode = 2

export function buildProgram(context: Context): Command {
  const program = new Command('kubectl-ko')
  program
    .usage('[flags] COMMAND [args]')
    .description('See, steer and ask Kube-OVN: as kubectl ko, or kubectl-ko.')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'kubectl-ko: ')),
    })
    .version(version, '--version', 'print the version')
  withClusterOptions(program)
  withExamples(program, ['kubectl ko nbctl show', 'kubectl ko nb status', 'kubectl ko help vsctl'])
  addStatus(program, context)
  addTop(program, context)
  addWhy(program, context)
  addExplain(program, context)
  addPlan(program, context)
  addTopology(program, context)
  addIpam(program, context)
  addPassThrough(program, context)
  addDatabases(program, context)
  addTraces(program, context)
  addTcpdump(program, context)
  addDiagnose(program, context)
  addEnvCheck(program, context)
  addLog(program, context)
  addMatrix(program, context)
  addPerf(program, context)
  addReload(program, context)
  addSupportBundle(program, context)
  addVersion(program, context)
  addCompletion(program, context)
  return program
}

/** Runs a command line and answers the exit code: 2 when it is wrong, that of the tool where one runs, else 1 for a failure. */
export async function runProgram(args: readonly string[], context: Context): Promise<number> {
  const program = buildProgram(context)
  if (args.length === 0) {
    program.outputHelp()
    return 0
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageCode
    // The user's own doing; but what is left of it he has to know.
    if (context.signal.aborted && !(error instanceof RemnantsError)) return interruptedCode
    const { describeError } = await import('./describe-error.ts')
    context.stderr.write(`kubectl-ko: ${describeError(error)}\n`)
    return error instanceof UsageError ? usageCode : 1
  }
}
