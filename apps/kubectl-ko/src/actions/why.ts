import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { renderData, renderTable, type Column } from '../output.ts'
import { findPod } from '../trace/endpoints.ts'
import { parseSource } from '../trace/request.ts'
import { warningsOf, whyFacts, type Warning } from '../why/facts.ts'
import { stepsOf, type NetworkStep } from '../why/steps.ts'

const stepColumns: readonly Column<NetworkStep>[] = [
  { title: 'step', of: ({ step }) => step },
  { title: 'state', of: ({ state }) => state },
  { title: 'by', of: ({ by }) => by },
  { title: 'since', of: ({ since }) => since },
  { title: 'detail', of: ({ detail }) => detail },
]

const eventColumns: readonly Column<Warning>[] = [
  { title: 'age', of: ({ age }) => age },
  { title: 'event', of: ({ reason }) => reason },
  { title: 'by', of: ({ by }) => by },
  { title: 'message', of: ({ message }) => message },
]

/** Tells which step of getting a network a pod lacks. */
export async function showWhy(context: Context, command: Command, text: string): Promise<void> {
  const source = parseSource(text, command.opts<{ readonly namespace: string }>().namespace)
  if (source.kind === 'node') throw new UsageError('pod', text, 'write NAMESPACE/POD or POD')
  await using cluster = await openCluster(context, command)
  const pod = await findPod(cluster, source.namespace, source.name)
  const [facts, told] = await Promise.all([
    whyFacts(cluster, pod),
    warningsOf(cluster, { kind: 'Pod', ...pod.metadata }),
  ])
  const steps = stepsOf(facts)
  const missing = steps.find(({ state }) => state === 'missing')
  const verdict =
    missing === undefined
      ? 'nothing is missing'
      : `${missing.step} is missing${missing.since === undefined ? '' : ` for ${missing.since}`}: ${missing.by} owes it`
  const { output, headers: hasHeaders } = outputOf(command)
  if (missing !== undefined) context.exitCode = 1
  if (output === 'json' || output === 'yaml')
    return print(context, renderData({ verdict, steps, events: told }, output))
  print(context, `${renderTable(steps, stepColumns, { hasHeaders })}\n`)
  if (told.length > 0) print(context, `${renderTable(told, eventColumns, { hasHeaders })}\n`)
  print(context, `${verdict}\n`)
}
