import { dnsServiceAddress } from '../cluster/topology.ts'
import { namespaceOf, type Place } from '../namespaces.ts'
import { runProgram } from '../program.ts'

/** Addresses that a name server answered, and for how many seconds each is valid. */
export type ResolvedAddresses = readonly { readonly address: string; readonly ttl: number }[]

/** Asks the lab's name server for the addresses of a name, IPv4 first, from the network of a place. It rejects when there are not those of both. */
export async function resolveAt(place: Place, name: string): Promise<ResolvedAddresses> {
  const script = `
    import { Resolver } from 'node:dns/promises'
    const [name, server] = process.argv.slice(1)
    const resolver = new Resolver({ timeout: 2000 })
    resolver.setServers([server])
    const found = [await resolver.resolve4(name, { ttl: true }), await resolver.resolve6(name, { ttl: true })]
    console.log(JSON.stringify(found.flat()))`
  const command = [process.execPath, '--input-type=module', '--eval', script, name, dnsServiceAddress.ipv4]
  return JSON.parse(
    await runProgram('nsenter', [`--net=${namespaceOf(place)}`, '--', ...command]),
  ) as ResolvedAddresses
}
