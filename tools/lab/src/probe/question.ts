import { z } from 'zod'

/** How one may ask. */
export const protocols = ['ping', 'tcp', 'udp', 'http', 'sctp', 'dns', 'multicast'] as const
export type Protocol = (typeof protocols)[number]

export type ProbeFamily = 'ipv4' | 'ipv6'

/** The family of an address written as text. */
export function familyOfText(address: string): ProbeFamily {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** Where a listener waits while questions are asked. */
export interface ListenerPlace {
  /** Path of the network namespace. */
  readonly netns: string
  readonly address: string
  readonly port: number
  /** `multicast` is a member of the group of the address's family, on the link that has the address. */
  readonly protocol: 'tcp' | 'udp' | 'sctp' | 'multicast'
}

/** One question to the network; tools/kubernetes/probe/question.go reads it. */
export interface Question {
  /** Path of the namespace that it is asked from; without one, that of the program. */
  readonly netns?: string
  /** The address that it is sent from where that matters, which is for multicast. */
  readonly source?: string
  readonly target: string
  /** Without meaning for ping. */
  readonly port: number
  readonly protocol: Protocol
  /** Whether a listener of ours answers, so that more than a connection can be asked for. */
  readonly isOurs: boolean
  /** Opened before anything is asked. Where a port is taken, it is asked of whoever has that, who is not ours. */
  readonly listeners?: readonly ListenerPlace[]
  /** What the packets are marked with. */
  readonly dscp?: number
  /** The name that DNS is asked for. */
  readonly name?: string
  readonly timeoutMs: number
}

const sighting = z.object({
  source: z.string(),
  sourcePort: z.number(),
  /** The address at which it arrived, where that is known. */
  at: z.string().exactOptional(),
  ttl: z.number().exactOptional(),
  dscp: z.number().exactOptional(),
})

const outcome = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('reached'),
    ms: z.number(),
    /** What the listener saw, where it is ours. */
    seen: sighting.exactOptional(),
    /** Hops that were left of the answer. */
    answerTtl: z.number().exactOptional(),
    detail: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('lost'), reason: z.string(), seen: sighting.exactOptional() }),
  z.object({ kind: z.literal('skipped'), reason: z.string() }),
])

/** What became of a question. */
export type Outcome = z.infer<typeof outcome>

/** Reads what the probe has printed: what became of each question, in their order. */
export function parseOutcomes(text: string): readonly Outcome[] {
  return z.array(outcome).parse(JSON.parse(text))
}
