import { formatIp, tryParseIp } from '@kube-ovn/ip'
import type { Command } from 'commander'
import { openCluster, outputOf, print, type Context } from '../context.ts'
import { UsageError } from '../errors.ts'
import { readAddressFacts } from '../facts.ts'
import { claimsOf, subnetsWith, type Claim } from '../ipam/claims.ts'
import { findingsOf, leaksOf, type AddressFinding } from '../ipam/findings.ts'
import { withClusterOptions, withExamples, withOutputOptions } from '../options.ts'
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

/** Adds `ipam`: who has which address, and whether all agree. */
export function addIpam(program: Command, context: Context): void {
  const group = withExamples(program.command('ipam').description('ask who has which address'), [
    'kubectl ko ipam who 10.16.0.7',
    'kubectl ko ipam verify',
  ])

  const who = withOutputOptions(
    withClusterOptions(
      group
        .command('who')
        .description('show who has an address; ends with 1 when nobody has it')
        .argument('<address>', 'of IPv4 or IPv6'),
    ),
  )
  withExamples(who, ['kubectl ko ipam who 10.16.0.7', 'kubectl ko ipam who fd00:10:16::7 -o json']).action(
    async (text: string) => {
      const address = tryParseIp(text)
      if (address === undefined) throw new UsageError('address', text, 'write an address of IPv4 or IPv6')
      await using cluster = await openCluster(context, who)
      const facts = await readAddressFacts(cluster)
      const rows = claimsOf(facts).filter((claim) => claim.address === formatIp(address))
      const subnets = subnetsWith(facts, address)
      const empty =
        subnets.length === 0
          ? `nobody has ${text}, and no subnet has it in its range`
          : `nobody has ${text}; it is in the range of ${subnets.join(', ')}`
      const data = { address: formatIp(address), subnets, claims: rows }
      print(context, render({ data, rows, columns: claimColumns, empty }, outputOf(who)))
      if (rows.length === 0) context.exitCode = 1
    },
  )

  const verify = withOutputOptions(
    withClusterOptions(
      group
        .command('verify')
        .description(
          'compare IP objects, Vips, pods and nodes; ends with 1 when they contradict each other. What is under way may show: look twice',
        ),
    ),
  )
  withExamples(verify, ['kubectl ko ipam verify', 'kubectl ko ipam verify -o json']).action(async () => {
    await using cluster = await openCluster(context, verify)
    const facts = await readAddressFacts(cluster)
    const rows = findingsOf(facts)
    const empty = `${facts.ips.length} IP objects, ${facts.pods.length} pods: no contradiction`
    print(context, render({ data: rows, rows, columns: findingColumns, empty }, outputOf(verify)))
    if (rows.length > 0) context.exitCode = 1
  })

  const leaks = withOutputOptions(
    withClusterOptions(
      group
        .command('leaks')
        .description('show IP objects whose pod or node is gone; ends with 1 when there are any'),
    ),
  )
  withExamples(leaks, ['kubectl ko ipam leaks', 'kubectl ko ipam leaks -o json']).action(async () => {
    await using cluster = await openCluster(context, leaks)
    const rows = leaksOf(await readAddressFacts(cluster))
    print(context, render({ data: rows, rows, columns: findingColumns, empty: 'no leaks' }, outputOf(leaks)))
    if (rows.length > 0) context.exitCode = 1
  })
}
