import { tryParseIp, formatIp } from '@kube-ovn/ip'
import { bracketed } from '../cluster/topology.ts'
import { namespaceOf, type Place } from '../namespaces.ts'
import { readFrom } from './attempt.ts'

/** How long a server may take. */
const timeoutMs = 3000

/** Fetches a page over HTTP and returns its text, or undefined if there was no success within three seconds. */
export async function fetchText(from: Place, address: string, port: number): Promise<string | undefined> {
  const request = `GET / HTTP/1.0\r\nHost: ${bracketed(address)}\r\n\r\n`
  const answer = await readFrom({ netns: namespaceOf(from), target: address, port }, request, timeoutMs)
  const [head = '', ...body] = answer?.split('\r\n\r\n') ?? []
  return /^HTTP\/1\.\d [23]/.test(head) ? body.join('\r\n\r\n').trim() : undefined
}

/**
 * Asks a listener that answers with the caller's address which one it sees.
 *
 * @returns the address in canonical form, or undefined if there was no answer within three seconds
 */
export async function askSourceAddress(
  from: Place,
  address: string,
  port: number,
): Promise<string | undefined> {
  const answer = await readFrom({ netns: namespaceOf(from), target: address, port }, '', timeoutMs)
  const seen = tryParseIp(answer?.trim().replace(/^\[|\]$/g, '') ?? '')
  return seen === undefined ? undefined : formatIp(seen)
}
