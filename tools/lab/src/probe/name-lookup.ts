import { dnsServiceAddress, ofStack, type Stack } from '../cluster/topology.ts'
import { namespaceOf, type Place } from '../namespaces.ts'
import { runProgram } from '../program.ts'

/** Addresses that a name server answered, and for how many seconds each is valid. */
export type ResolvedAddresses = readonly { readonly address: string; readonly ttl: number }[]

/**
 * Asks the name server of a lab for the addresses of a name, IPv4 first, from the network of a place. It rejects when there are none of a family
 * that the lab has.
 */
export async function resolveAt(place: Place, name: string, stack: Stack): Promise<ResolvedAddresses> {
  const script = `
    import { Resolver } from 'node:dns/promises'
    const [name, server, ...kinds] = process.argv.slice(1)
    const resolver = new Resolver({ timeout: 2000 })
    resolver.setServers([server])
    const found = []
    for (const kind of kinds) found.push(...(await resolver[kind](name, { ttl: true })))
    console.log(JSON.stringify(found))`
  const [server = ''] = ofStack(stack, dnsServiceAddress)
  const kinds = ofStack(stack, { ipv4: 'resolve4', ipv6: 'resolve6' })
  const command = [process.execPath, '--input-type=module', '--eval', script, name, server, ...kinds]
  return JSON.parse(
    await runProgram('nsenter', [`--net=${namespaceOf(place)}`, '--', ...command]),
  ) as ResolvedAddresses
}
