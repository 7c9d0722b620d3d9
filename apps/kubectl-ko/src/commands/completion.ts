import { nodes, pods, type Resource } from '@kube-ovn/kube'
import { vpcResource } from '@kube-ovn/kube-api'
import { KubeOvnError } from '@kube-ovn/errors'
import { Argument, type Command } from 'commander'
import { candidatesOf, type ObjectKind } from '../completion/candidates.ts'
import { scripts, shells, type Shell } from '../completion/scripts.ts'
import { openCluster, print, type Context } from '../context.ts'
import { readAll } from '../facts.ts'
import { withExamples } from '../options.ts'

const resources: Readonly<Record<ObjectKind, Resource>> = {
  nodes,
  pods,
  vpcs: vpcResource,
}

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
  ]).action((shell: Shell) => print(context, scripts[shell]))

  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .passThroughOptions()
    .helpOption(false)
    .action(async (words: readonly string[]) => {
      const { words: candidates, objects } = candidatesOf(program, words)
      const names = objects === undefined ? [] : await namesOf(context, program, objects, words.at(-1) ?? '')
      print(context, [...candidates, ...names].map((word) => `${word}\n`).join(''))
    })
}

/** Names of objects; none where the cluster can not be asked: nobody wants errors while he types. */
async function namesOf(
  context: Context,
  program: Command,
  kind: ObjectKind,
  beginning: string,
): Promise<readonly string[]> {
  try {
    await using cluster = await openCluster(context, program)
    return (await readAll(cluster, resources[kind]))
      .map(({ metadata: { namespace, name } }) => (namespace === undefined ? name : `${namespace}/${name}`))
      .filter((name) => name.startsWith(beginning))
      .toSorted()
  } catch (error) {
    if (error instanceof KubeOvnError) return []
    throw error
  }
}
