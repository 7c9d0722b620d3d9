import { leases, events, type Pod } from '@kube-ovn/kube'
import { KubeOvnError } from '@kube-ovn/errors'
import { ipResource } from '@kube-ovn/kube-api'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { podsOf } from '../components.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'
import { renderData, renderTable, type Column } from '../output.ts'
import { findInterfaces, findPod, portOf, type PortInterface } from '../trace/endpoints.ts'
import { parseSource } from '../trace/request.ts'
import { ageText } from '../view/age-text.ts'
import { isLeaseHeld, isReady } from '../view/status-view.ts'
import { stepsOf, type NetworkStep, type WhyFacts } from '../why/steps.ts'

interface PodEvent {
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly by: string
  readonly age: string
}

const stepColumns: readonly Column<NetworkStep>[] = [
  { title: 'step', of: ({ step }) => step },
  { title: 'state', of: ({ state }) => state },
  { title: 'by', of: ({ by }) => by },
  { title: 'since', of: ({ since }) => since },
  { title: 'detail', of: ({ detail }) => detail },
]

const eventColumns: readonly Column<PodEvent>[] = [
  { title: 'age', of: ({ age }) => age },
  { title: 'event', of: ({ reason }) => reason },
  { title: 'by', of: ({ by }) => by },
  { title: 'message', of: ({ message }) => message },
]

/** Adds `why`: which step of getting a network a pod lacks, since when, and who owes it. */
export function addWhy(program: Command, context: Context): void {
  const command = withOutputOptions(
    withClusterOptions(
      program
        .command('why')
        .description(
          'show the steps by which a pod gets its network, and which is missing, since when, and who owes it; ends with 1 when one is missing',
        )
        .argument('<pod>', 'NAMESPACE/POD or POD')
        .option('-n, --namespace <namespace>', 'of a pod without one', 'default'),
    ),
  )
  withExamples(command, ['kubectl ko why shop/web-0', 'kubectl ko why shop/web-0 -o json']).action(
    async (text: string) => {
      const source = parseSource(text, command.opts<{ readonly namespace: string }>().namespace)
      if (source.kind === 'node') throw new UsageError('pod', text, 'write NAMESPACE/POD or POD')
      await using cluster = await openCluster(context, command)
      const pod = await findPod(cluster, source.namespace, source.name)
      const [facts, told] = await Promise.all([factsOf(cluster, pod), eventsOf(cluster, pod)])
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
    },
  )
}

async function factsOf(cluster: Cluster, pod: Pod): Promise<WhyFacts> {
  const { client, namespace } = cluster
  const node = pod.spec.nodeName ?? ''
  const port = portOf(pod)
  const [record, lease, agents, switches, nics] = await Promise.all([
    client.get(ipResource, { name: port }),
    client.get(leases, { namespace, name: 'kube-ovn-controller' }),
    node === '' ? [] : podsOf(cluster, 'kube-ovn-cni', node),
    node === '' ? [] : podsOf(cluster, 'ovs', node),
    node === '' ? [] : nicsOf(cluster, node, port),
  ])
  const nowMs = Date.now()
  const [nic] = nics ?? []
  return {
    pod,
    nowMs,
    hasRecord: record !== undefined,
    hasLeader: isLeaseHeld(lease, nowMs),
    isAgentReady: agents.some(isReady),
    isSwitchReady: switches.some(isReady),
    nic,
    isNicKnown: nics !== undefined && node !== '',
  }
}

/** None where Open vSwitch may not or can not be asked, e.g. because the node is gone: the other steps are told all the same. */
async function nicsOf(
  cluster: Cluster,
  node: string,
  port: string,
): Promise<readonly PortInterface[] | undefined> {
  try {
    return await findInterfaces(cluster, node, port)
  } catch (error) {
    if (error instanceof KubeOvnError) return undefined
    throw error
  }
}

async function eventsOf(cluster: Cluster, { metadata }: Pod): Promise<readonly PodEvent[]> {
  const { namespace, name } = metadata
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${name}`
  const { items } = await cluster.client.list(events, { namespace, fieldSelector })
  const nowMs = Date.now()
  return items
    .filter(({ type }) => type !== 'Normal')
    .map((event) => ({ event, at: Date.parse(event.lastTimestamp ?? '') }))
    .toSorted((a, b) => b.at - a.at)
    .slice(0, 5)
    .map(({ event, at }) => ({
      type: event.type,
      reason: event.reason,
      message: event.message,
      by: event.source?.component ?? event.reportingComponent ?? '',
      age: Number.isNaN(at) ? '' : ageText(nowMs - at),
    }))
}
