import { formatIp, tryParseIp } from '@kube-ovn/ip'
import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { readAddressFacts } from '../facts.ts'
import { claimsOf, subnetsWith, type Claim } from '../ipam/claims.ts'
import { findingsOf, leaksOf, type AddressFinding } from '../ipam/findings.ts'
import { render, type Column } from '../output.ts'

const claimColumns: readonly Column<Claim>[] = [
  { title: 'address', of: ({ address }) => address },
  { title: 'kind', of: ({ kind }) => kind },
  { title: 'name', of: ({ name }) => name },
  { title: 'as', of: ({ as }) => as },
  { title: 'subnet', of: ({ subnet }) => subnet },
  { title: 'mac', of: ({ mac }) => mac, isWide: true },
  { title: 'node', of: ({ node }) => node },
]

const findingColumns: readonly Column<AddressFinding>[] = [
  { title: 'rule', of: ({ rule }) => rule },
  { title: 'object', of: ({ object }) => object },
  { title: 'address', of: ({ address }) => address },
  { title: 'subnet', of: ({ subnet }) => subnet },
  { title: 'what', of: ({ what }) => what },
  { title: 'what to do', of: ({ cure }) => cure },
]

/** Shows who has an address. */
export async function showHolders(context: Context, command: Command, text: string): Promise<void> {
  const address = tryParseIp(text)
  if (address === undefined) throw new UsageError('address', text, 'write an address of IPv4 or IPv6')
  await using cluster = await openCluster(context, command)
  const facts = await readAddressFacts(cluster)
  const rows = claimsOf(facts).filter((claim) => claim.address === formatIp(address))
  const subnets = subnetsWith(facts, address)
  const empty =
    subnets.length === 0
      ? `nobody has ${text}, and no subnet has it in its range`
      : `nobody has ${text}; it is in the range of ${subnets.join(', ')}`
  const data = { address: formatIp(address), subnets, claims: rows }
  print(context, render({ data, rows, columns: claimColumns, empty }, outputOf(command)))
  if (rows.length === 0) context.exitCode = 1
}

/** Shows what contradicts each other. */
export async function showContradictions(context: Context, command: Command): Promise<void> {
  await using cluster = await openCluster(context, command)
  const facts = await readAddressFacts(cluster)
  const rows = findingsOf(facts)
  const empty = `${facts.ips.length} IP objects, ${facts.pods.length} pods: no contradiction`
  print(context, render({ data: rows, rows, columns: findingColumns, empty }, outputOf(command)))
  if (rows.length > 0) context.exitCode = 1
}

/** Shows IP objects of what is gone. */
export async function showLeaks(context: Context, command: Command): Promise<void> {
  await using cluster = await openCluster(context, command)
  const rows = leaksOf(await readAddressFacts(cluster))
  print(context, render({ data: rows, rows, columns: findingColumns, empty: 'no leaks' }, outputOf(command)))
  if (rows.length > 0) context.exitCode = 1
}
