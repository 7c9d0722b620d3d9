import type { DnsNameResolver } from '@kube-ovn/kube-api'
import { expect, it } from 'vitest'
import { desiredResolvers } from './desired.ts'
import { observeResolvers, type ResolverWorld } from './snapshot.ts'

const label = 'egress-firewall/shop' as const
const name = 'egress-firewall-shop-101dc1d3'
/** Their SHA-256 begin with the same eight digits. */
const [first, second] = ['a78466.example.com.', 'a90476.example.com.'] as const

/** A world in which these are wanted, and in which there are the resolvers of the map. */
function worldOf(domains: readonly string[], made: ReadonlyMap<string, DnsNameResolver>): ResolverWorld {
  const wantedNames = { find: () => domains.map((domain) => ({ label, domain, owner: undefined }) as const) }
  const dnsNameResolvers = { find: () => [...made.values()], get: (key: string) => made.get(key) }
  return { wantedNames, dnsNameResolvers }
}

/** Does what is desired as an API server does; tells the writes that change anything. */
function step(domains: readonly string[], made: Map<string, DnsNameResolver>): readonly string[] {
  const snapshot = observeResolvers(label, worldOf(domains, made))
  const patches = snapshot === undefined ? [] : desiredResolvers(snapshot).patches
  return patches.flatMap((patch) => {
    if ('remove' in patch) return made.delete(patch.name) ? [`remove ${patch.name}`] : []
    const given = 'apply' in patch ? (patch.apply as DnsNameResolver) : undefined
    const isSame = made.get(patch.name)?.spec?.name === given?.spec?.name
    // The domain of an object can not be edited.
    if (given === undefined || made.has(patch.name)) return isSame ? [] : [`refused ${patch.name}`]
    made.set(patch.name, given)
    return [`apply ${patch.name} ${given.spec?.name ?? ''}`]
  })
}

it.each([
  ['in order', [first, second]],
  ['in the other order', [second, first]],
])('is one object for good for two domains of one digest, %s', (_what, domains) => {
  const made = new Map<string, DnsNameResolver>()
  expect(step(domains, made)).toEqual([`apply ${name} ${first}`])
  for (let again = 0; again < 3; again += 1) expect(step(domains, made)).toEqual([])
})

it('goes to the domain that is first, and to the other one when that is gone', () => {
  const made = new Map<string, DnsNameResolver>()
  expect(step([second], made)).toEqual([`apply ${name} ${second}`])
  expect(step([second, first], made)).toEqual([`remove ${name}`])
  expect(step([second, first], made)).toEqual([`apply ${name} ${first}`])
  expect(step([second, first], made)).toEqual([])
  expect([step([second], made), step([second], made), step([second], made)]).toEqual([
    [`remove ${name}`],
    [`apply ${name} ${second}`],
    [],
  ])
})
