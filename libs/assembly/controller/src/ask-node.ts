import { contains, tryParseCidr, tryParseIp } from '@kube-ovn/ip'
import { tryPort } from '@kube-ovn/probes/port'
import { networkInterfaces } from 'node:os'

/** Asks a node's address in the nodes' subnet whether anybody is there. */
export type AskNode = (address: string) => Promise<boolean>

/** For each answer: less than from one round to the next. */
const answerMs = 450
/** The agent's port of health checks, by default. Who refuses it is there as well. */
const agentPort = 10665

/**
 * Asks by a connection, which a refusal answers as well. What is on no link of this host is not asked, and does not answer: where `ovn0` is
 * missing, the question would leave by the default route, and whoever is there might answer it.
 */
export function askOnLink(address: string): Promise<boolean> {
  return askPort(address, agentPort, networkInterfaces())
}

/** {@link askOnLink} at another port, and with these links. */
export async function askPort(
  address: string,
  port: number,
  links: ReturnType<typeof networkInterfaces>,
): Promise<boolean> {
  if (!isOnLink(address, links)) return false
  const result = await tryPort({ protocol: 'tcp', address, port }, answerMs)
  return result.isOpen || result.error === 'ECONNREFUSED'
}

function isOnLink(address: string, links: ReturnType<typeof networkInterfaces>): boolean {
  const ip = tryParseIp(address)
  if (ip === undefined) return false
  return Object.values(links)
    .flatMap((addresses) => addresses ?? [])
    .map(({ cidr }) => tryParseCidr(cidr ?? ''))
    .some((cidr) => cidr !== undefined && contains(cidr, ip))
}
