import { formatIp, tryParseIp } from '@kube-ovn/ip'
import { bracketed } from '../cluster/topology.ts'
import { tryAt, type Place } from '../namespaces.ts'

/** How long a server may take; s. */
const patience = '3'

/**
 * Fetches a page over HTTP and returns its text, or undefined if there was no success in time.
 *
 * @param seconds that it may take: three, where another answer or none is what is asked for
 */
export async function fetchText(
  from: Place,
  address: string,
  port: number,
  path = '/',
  seconds = patience,
): Promise<string | undefined> {
  const url = `http://${bracketed(address)}:${port}${path}`
  const { exitCode, stdout } = await tryAt(from, ['curl', '-sfg', '--max-time', seconds, url])
  return exitCode === 0 ? stdout.trim() : undefined
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
  const target = `TCP:${bracketed(address)}:${port},connect-timeout=${patience}`
  const { stdout } = await tryAt(from, ['socat', '-u', '-T', patience, target, 'STDOUT'])
  const seen = tryParseIp(stdout.trim().replace(/^\[|\]$/g, ''))
  return seen === undefined ? undefined : formatIp(seen)
}
