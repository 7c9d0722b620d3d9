import { formatIp } from '@kube-ovn/ip'
import type { Command } from 'commander'
import { findLeader, onNode } from '../components.ts'
import type { Cluster } from '../cluster.ts'
import { commandFailed } from '../cluster.ts'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { renderData } from '../output.ts'
import { blameFlow } from '../trace/blame.ts'
import { findInterfaces, findNextHop, findStart } from '../trace/endpoints.ts'
import { flowOf, microflowOf, type TracedPacket } from '../trace/packet.ts'
import { parseTraceRequest } from '../trace/request.ts'
import { readVerdict, verdictText, type Verdict } from '../trace/verdict.ts'
import { findWayOut, findWire, wayOutText, type WayOut } from '../trace/way-out.ts'
import { databases } from '../databases.ts'
import { NotReadyError } from '../errors.ts'

interface TraceOptions {
  readonly namespace: string
  readonly provider?: string
}

/** What is written behind the name of the command. */
interface TraceWords {
  readonly source: string
  readonly address: string
  readonly words: readonly string[]
  /** Whether the flows of the node are followed as well. */
  readonly isWithOvs: boolean
}

/** Follows a packet, and tells what becomes of it. */
export async function tracePacket(
  context: Context,
  command: Command,
  { source, address, words, isWithOvs }: TraceWords,
): Promise<void> {
  const { namespace, provider } = command.opts<TraceOptions>()
  const request = parseTraceRequest([source, address, ...words], namespace)
  await using cluster = await openCluster(context, command)
  const [northbound, southbound, start] = await Promise.all([
    findLeader(cluster, 'nb'),
    findLeader(cluster, 'sb'),
    findStart(cluster, request.source, request.target, provider),
  ])
  const { mac, note } = await findNextHop(cluster, northbound, start, request)
  const packet: TracedPacket = {
    inport: start.port,
    sourceMac: start.mac,
    source: start.address,
    destinationMac: mac,
    destination: request.target,
    protocol: request.protocol,
  }
  const logical = [
    'ovn-trace',
    `--db=${databases.sb.socket}`,
    ...(request.protocol.kind === 'arp' ? [] : ['--ct=new', '--ct=new', '--ct=new', '--ct=new']),
    start.logicalSwitch,
    microflowOf(packet),
  ]
  const traced = await cluster.ask(southbound, logical)
  if (traced.exitCode !== 0) throw commandFailed(southbound, logical, traced)
  const followed = readVerdict(traced.stdout)
  const wayOut =
    followed.outcome === 'leaves'
      ? await findWire(cluster, southbound, followed, start)
      : await findWayOut(cluster, followed, { start, target: request.target })
  const verdict = verdictBehind(followed, wayOut)
  const by =
    verdict.outcome === 'dropped'
      ? await blameFlow(cluster, southbound, northbound, verdict.flows)
      : undefined
  const physical = isWithOvs ? await traceFlows(cluster, start.node, packet) : undefined

  const { output } = outputOf(command)
  if (output === 'json' || output === 'yaml') {
    const data = {
      port: start.port,
      logicalSwitch: start.logicalSwitch,
      node: start.node,
      source: { address: formatIp(start.address), mac: start.mac },
      target: { address: formatIp(request.target), mac },
      verdict: { ...verdict, ...(wayOut !== undefined && { wayOut }), ...(by !== undefined && { by }) },
      commands: [logical, ...(physical === undefined ? [] : [physical.command])],
      ovnTrace: traced.stdout,
      ...(physical !== undefined && { ofprotoTrace: physical.text }),
    }
    return print(context, renderData(data, output))
  }
  if (note !== undefined) context.stderr.write(`${note}\n`)
  context.stderr.write(`+ ${logical.map(quoted).join(' ')}\n`)
  print(context, traced.stdout)
  if (physical !== undefined) {
    print(context, `${'-'.repeat(80)}\nStart OVS Tracing\n`)
    context.stderr.write(`+ ${physical.command.map(quoted).join(' ')}\n`)
    print(context, physical.text)
  }
  context.stderr.write(`${wayOut === undefined ? verdictText(verdict, by?.text) : wayOutText(wayOut)}\n`)
}

/** What is sent to a node leaves if that forwards it; what is sent to a port of a router that no node hosts is lost. */
function verdictBehind(followed: Verdict, wayOut: WayOut | undefined): Verdict {
  if (wayOut !== undefined) return { ...followed, outcome: 'leaves' }
  return followed.outcome === 'leaves' ? { ...followed, outcome: 'dropped' } : followed
}

async function traceFlows(
  cluster: Cluster,
  node: string,
  packet: TracedPacket,
): Promise<{ readonly command: readonly string[]; readonly text: string }> {
  const [[nic], ovs] = await Promise.all([
    findInterfaces(cluster, node, packet.inport),
    onNode(cluster, node, 'ovs'),
  ])
  if (nic === undefined || nic.ofport < 1) {
    throw new NotReadyError(
      'port',
      `${packet.inport} is not in Open vSwitch of ${node}`,
      'wait until the pod runs, or use ovn-trace, which does not need it',
    )
  }
  const command = ['ovs-appctl', 'ofproto/trace', 'br-int', flowOf(packet, nic.ofport)]
  return { command, text: await cluster.tell(ovs, command) }
}

/** For people to paste. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
