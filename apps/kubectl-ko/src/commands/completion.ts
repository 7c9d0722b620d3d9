import { Argument, type Command } from 'commander'
import { candidatesOf, type ObjectKind } from '../completion/candidates.ts'
import { scripts, shells, type Shell } from '../completion/scripts.ts'
import type { Context } from '../context.ts'
import { withExamples } from '../options.ts'

/** Adds `completion`, and what its scripts ask. */
export function addCompletion(program: Command, context: Context): void {
  const command = program
    .command('completion')
    .description(
      'print a script that completes command lines in a shell; kubectl: the program by which kubectl completes its plugins',
    )
    .addArgument(new Argument('<shell>', 'for which').choices(shells))
  withExamples(command, [
    'kubectl ko completion bash > /etc/bash_completion.d/kubectl-ko',
    'kubectl ko completion kubectl > /usr/local/bin/kubectl_complete-ko',
  ]).action((shell: Shell) => {
    context.stdout.write(scripts[shell])
  })

  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (words: readonly string[]) => {
      const { words: candidates, objects } = candidatesOf(program, words)
      const names = objects === undefined ? [] : await namesOf(objects, words.at(-1) ?? '')
      context.stdout.write([...candidates, ...names].map((word) => `${word}\n`).join(''))
    })

  async function namesOf(kind: ObjectKind, beginning: string): Promise<readonly string[]> {
    const { namesOfObjects } = await import('../actions/complete.ts')
    return namesOfObjects(context, program, kind, beginning)
  }
}
