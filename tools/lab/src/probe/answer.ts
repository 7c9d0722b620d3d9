import { z } from 'zod'
import type { Sighting } from './sightings.ts'

const requestPattern = /kube-ovn-probe[ /](\d+)/

/** What a request says, so that its listener can tell which one it is. */
export function requestLine(token: number): string {
  return `kube-ovn-probe ${token}\n`
}

/** The token of a request; undefined if it is not one of ours. */
export function readToken(data: Buffer | undefined): number | undefined {
  const token = requestPattern.exec(data?.subarray(0, 512).toString('latin1') ?? '')?.[1]
  return token === undefined ? undefined : Number(token)
}

const sighting = z.object({
  source: z.string(),
  sourcePort: z.number(),
  ttl: z.number().exactOptional(),
  dscp: z.number().exactOptional(),
})

const answer = z.object({ token: z.number(), member: z.string().exactOptional(), seen: sighting })

/** What a listener says to a request: what it saw of it, and who it is itself if many may have. */
export interface Answer {
  readonly token: number
  /** The address of the member of a group. */
  readonly member?: string
  readonly seen: Sighting
}

const answerPrefix = 'kube-ovn-probe saw '

/** An answer as one line, also in a header of HTTP. */
export function renderAnswer(told: Answer): string {
  return `${answerPrefix}${JSON.stringify(told)}\n`
}

/** Finds the answer in what came back; undefined if it is none, or not all of it yet. */
export function readAnswer(text: string): Answer | undefined {
  const start = text.indexOf(answerPrefix)
  const end = text.indexOf('\n', start)
  if (start < 0 || end < 0) return undefined
  try {
    return answer.safeParse(JSON.parse(text.slice(start + answerPrefix.length, end))).data
  } catch {
    return undefined
  }
}
