import { z } from 'zod'
import { protocols, type Attempt, type Outcome } from './attempt.ts'

/** One question that the probe in a pod is asked to put to the network: an attempt from its own namespace. */
export type Question = Omit<Attempt, 'netns'>

const question = z.strictObject({
  source: z.union([z.ipv4(), z.ipv6()]).exactOptional(),
  target: z.union([z.ipv4(), z.ipv6()]),
  port: z.int().min(0).max(65_535),
  protocol: z.enum(protocols),
  isOurs: z.boolean(),
  dscp: z.int().min(0).max(63).exactOptional(),
  name: z.string().exactOptional(),
  timeoutMs: z.int().min(1).max(600_000),
})

const seen = z.object({
  source: z.string(),
  sourcePort: z.number(),
  ttl: z.number().exactOptional(),
  dscp: z.number().exactOptional(),
})

const outcome = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('reached'),
    ms: z.number(),
    seen: seen.exactOptional(),
    answerTtl: z.number().exactOptional(),
    detail: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('lost'), reason: z.string(), seen: seen.exactOptional() }),
  z.object({ kind: z.literal('skipped'), reason: z.string() }),
])

/** Reads what `ask` is given: a list of questions as JSON. */
export function parseQuestions(text: string): readonly Question[] {
  return z.array(question).parse(JSON.parse(text))
}

/** Reads what `ask` has printed: what became of each question, in their order. */
export function parseOutcomes(text: string): readonly Outcome[] {
  return z.array(outcome).parse(JSON.parse(text))
}
