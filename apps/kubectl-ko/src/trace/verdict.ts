/** What becomes of a traced packet. */
export interface Verdict {
  readonly outcome: 'delivered' | 'leaves' | 'dropped' | 'answered' | 'unresolved'
  /** The ports that it, or the answer to it, leaves by. */
  readonly ports: readonly string[]
  /** Where it is dropped, as ovn-trace names the stage; none where no flow matches. */
  readonly stage?: string
  /** First digits of the logical flows that it passes, the last one last. */
  readonly flows: readonly string[]
  /** It has another target by now, as a load balancer or the NAT of a router has it. */
  readonly isTranslated?: true
  /** How it got there, where it leaves for the network outside. */
  readonly hop?: LastHop
}

/** What the last router did to a packet, as far as the trace says it. */
interface LastHop {
  /** The port that stands for the router's on the one node which hosts it; absent where each node sends it by itself. */
  readonly hosted?: string
  /** Absent where the router is in the network of the target. */
  readonly nextHop?: string
  /** The address that it has from there on, where that is not its own. */
  readonly source?: string
}

const outputLine = /output to "([^"]+)", type "([^"]*)"/
/** Of the connections between switches and routers: what leaves by one comes in by another. */
const inner = 'patch'
/** Of what connects a switch with the network outside. */
const outer = 'localnet'
/** From where on the trace is of what a router asks, because it does not know who has the next address. */
const question = /^\s+(?:arp|nd_ns)$/
const translation = /^\s+(?:ct_lb(?:_mark)?\(backends=|ct_dnat(?:_in_czone)?\()/
/** ` 4. ls_out_acl_eval (northd.c:7284): …, priority 2004, uuid 1a2b3c4d` */
const flowLine = /^\s*\d+\. (\w+).*, priority \d+, uuid ([0-9a-f]{8})/

const flowStage = /^\s*\d+\. (\w+)/
const routing = /^lr_in_(?:ip_routing|policy)/
const nextHopLine = /^\s+(?:xx)?reg0 = ([^;]+);$/
const hostedLine = /Replacing type "chassisredirect" outport "([^"]+)"/
const sourceLine = /^ct_snat(?:_in_czone)?\(ip[46]\.src=([^)]+)\)/

/** Reads what routers did, of several the last one. */
function readLastHop(lines: readonly string[]): LastHop {
  let hop: LastHop = {}
  let stage = ''
  for (const line of lines) {
    stage = flowStage.exec(line)?.[1] ?? stage
    const [next, hosted, source] = [
      routing.test(stage) ? nextHopLine : undefined,
      hostedLine,
      sourceLine,
    ].map((pattern) => pattern?.exec(line)?.[1])
    // In a network of its own, a router copies the target there.
    if (next !== undefined) hop = next.endsWith('.dst') ? {} : { nextHop: next }
    if (hosted !== undefined) hop = { ...hop, hosted }
    if (source !== undefined) hop = { ...hop, source }
  }
  return hop
}

/** Reads what ovn-trace(8) prints, with any option but --minimal and --summary alone. */
export function readVerdict(text: string): Verdict {
  const lines = text.split('\n')
  const outputs = lines.flatMap((line) => {
    const [, port, type] = outputLine.exec(line) ?? []
    return port === undefined || type === inner ? [] : [{ port, type }]
  })
  const ports = [...new Set(outputs.map(({ port }) => port))]
  const flows = lines.flatMap((line) => flowLine.exec(line)?.[2] ?? [])
  const translated = lines.some((line) => translation.test(line)) ? { isTranslated: true as const } : {}
  if (ports.length > 0) {
    // What a router asks reaches the sender too, and nobody else where that is alone.
    if (lines.some((line) => question.test(line)))
      return { outcome: 'unresolved', ports, flows, ...translated }
    // Whoever answers turns the packet around, and sends it to where it came from.
    const inport = /inport="([^"]+)"/.exec(text)?.[1]
    const isAnswer = ports.length === 1 && ports[0] === inport
    const isOut = outputs.every(({ type }) => type === outer)
    if (isOut && !isAnswer) return { outcome: 'leaves', ports, flows, ...translated, hop: readLastHop(lines) }
    return { outcome: isAnswer ? 'answered' : 'delivered', ports, flows, ...translated }
  }
  const stage = flowStage.exec(lines.findLast((line) => flowStage.test(line)) ?? '')?.[1]
  return { outcome: 'dropped', ports, flows, ...translated, ...(stage !== undefined && { stage }) }
}

/** In one line, for people. */
export function verdictText({ outcome, ports, stage, hop }: Verdict, by: string | undefined): string {
  if (outcome === 'delivered') return `delivered to ${ports.join(', ')}`
  if (outcome === 'unresolved')
    return `not known who has the next address: the router asks ${ports.join(', ')}, and drops the packet until it is answered`
  if (outcome === 'answered') return `answered on behalf of the target, to ${ports.join(', ')}`
  if (stage?.endsWith('_lb_aff_learn') === true)
    return `the first packet of a client only teaches which backend it gets: it is lost, and arrives when it is sent again`
  if (hop?.hosted !== undefined)
    return `dropped: no node hosts the port of the router that it leaves by, ${hop.hosted}`
  const where = stage === undefined ? 'dropped' : `dropped in ${stage}`
  if (by !== undefined) return `${where} by ${by}`
  return stage === 'lr_in_ip_routing' ? `${where}: the router has no route to the target` : where
}
