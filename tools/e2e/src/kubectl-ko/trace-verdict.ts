import type { PodObject } from '@kube-ovn/lab'
import type { Ko } from './run-program.ts'

/** What a trace tells as data of what becomes of a packet. */
export interface TraceVerdict {
  readonly outcome: string
  readonly ports: readonly string[]
  readonly stage?: string
  readonly wayOut?: { readonly node: string; readonly source?: string; readonly nextHop?: string }
  readonly by?: { readonly table: string; readonly owner?: string; readonly match?: string }
}

/** Each takes a process or more on both sides. */
export const tracesAtOnce = { concurrency: 4 } as const

/** Follows the first packet of a connection of a pod. */
export async function traceTcp(
  ko: Ko,
  { metadata: { namespace = '', name } }: PodObject,
  target: string,
  port: number,
): Promise<TraceVerdict> {
  const words = [`${namespace}/${name}`, target, 'tcp', `${port}`, '-o', 'json']
  const { stdout, stderr } = await ko('ovn-trace', ...words)
  if (stdout === '') throw new Error(stderr)
  return (JSON.parse(stdout) as { readonly verdict: TraceVerdict }).verdict
}
