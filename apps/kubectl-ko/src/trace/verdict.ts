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
    // Whoever answers turns the packet around, and sends it to where it came from.
    const inport = /inport="([^"]+)"/.exec(text)?.[1]
    const isAnswer = ports.length === 1 && ports[0] === inport
    if (!isAnswer && lines.some((line) => question.test(line)))
      return { outcome: 'unresolved', ports, flows, ...translated }
    const isOut = outputs.every(({ type }) => type === outer)
    return { outcome: isAnswer ? 'answered' : isOut ? 'leaves' : 'delivered', ports, flows, ...translated }
  }
  const last = lines.findLast((line) => /^\s*\d+\. \w+/.test(line))
  const stage = last === undefined ? undefined : /^\s*\d+\. (\w+)/.exec(last)?.[1]
  return { outcome: 'dropped', ports, flows, ...translated, ...(stage !== undefined && { stage }) }
}

/** In one line, for people. */
export function verdictText({ outcome, ports, stage }: Verdict, by: string | undefined): string {
  if (outcome === 'delivered') return `delivered to ${ports.join(', ')}`
  if (outcome === 'leaves') return `leaves for the physical network by ${ports.join(', ')}`
  if (outcome === 'unresolved')
    return `not known who has the next address: the router asks ${ports.join(', ')}, and drops the packet until it is answered`
  if (outcome === 'answered') return `answered on behalf of the target, to ${ports.join(', ')}`
  if (stage?.endsWith('_lb_aff_learn') === true)
    return `the first packet of a client only teaches which backend it gets: it is lost, and arrives when it is sent again`
  const where = stage === undefined ? 'dropped' : `dropped in ${stage}`
  if (by !== undefined) return `${where} by ${by}`
  return stage === 'lr_in_ip_routing' ? `${where}: the router has no route to the target` : where
}
