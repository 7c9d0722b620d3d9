import { join } from 'node:path'
import { missingForNamespaces, openTestNetwork } from '@kube-ovn/testing-net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  NftCommandError,
  NftNotFoundError,
  openNetfilter,
  statement,
  type SetElement,
  type Table,
  type TableEvent,
} from './index.ts'
import { everything, masquerading, portOf, tableOf, threeNamespaces } from './netfilter-fixture.ts'
import { countWrites } from './testing/count-writes.ts'

const missing = missingForNamespaces('nft', 'ping')

describe.skipIf(missing)(`netfilter${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('masquerades: a host without a way back to the pod answers', async () => {
    using network = openTestNetwork()
    const { pod, router } = threeNamespaces(network)
    const netfilter = openNetfilter({ netns: router.path })
    expect(() => pod.run('ping', '-c1', '-W1', '192.0.2.2')).toThrow(/0 received/)

    await netfilter.applyTable(masquerading([{ prefix: { addr: '10.16.0.0', len: 16 } }, '10.16.0.5']))
    expect(pod.run('ping', '-c1', '-W60', '192.0.2.2')).toContain('1 received')
    expect(router.run('nft', 'list', 'table', 'inet', 'kube-ovn')).toMatch(/counter packets 1 /)
  })

  it('writes a table once, also when another process asks again after traffic', async () => {
    using network = openTestNetwork()
    const { pod, router } = threeNamespaces(network)
    const table = masquerading([{ prefix: { addr: '10.16.0.0', len: 16 } }])
    const events: TableEvent[] = []
    const netfilter = openNetfilter({ netns: router.path })
    using _watch = netfilter.watch((event) => events.push(event), { ref: true })
    expect(await netfilter.applyTable(table)).toBe('applied')
    pod.run('ping', '-c1', '-W60', '192.0.2.2')
    expect(await netfilter.applyTable(table)).toBe('unchanged')
    expect(await openNetfilter({ netns: router.path }).applyTable(table)).toBe('unchanged')
    expect(await netfilter.hasDrifted(table)).toBe(false)
    expect(events).toEqual([{ kind: 'changed', table: { family: 'inet', name: 'kube-ovn' } }])
  })

  it('knows every expression again that it wrote', async () => {
    using network = openTestNetwork()
    const netfilter = openNetfilter({ netns: network.namespace('one').path })
    expect(await netfilter.applyTable(everything)).toBe('applied')
    expect(await netfilter.applyTable(everything)).toBe('unchanged')
  })

  it('hands frames of a link over to another one, and notices when a link has gone', async () => {
    using network = openTestNetwork()
    const one = network.namespace('one')
    for (const name of ['left', 'right']) one.run('ip', 'link', 'add', name, 'type', 'bridge')
    const table: Table = {
      ...{ family: 'netdev', name: 'kube-ovn-frames', sets: [] },
      chains: [
        {
          name: 'frames',
          base: { type: 'filter', hook: 'ingress', priority: 0, link: 'left' },
          rules: [
            { statements: [statement.setDestinationMac('02:00:00:00:00:01'), statement.forwardBy('right')] },
          ],
        },
      ],
    }
    const netfilter = openNetfilter({ netns: one.path })
    expect([await netfilter.applyTable(table), await netfilter.applyTable(table)]).toEqual([
      'applied',
      'unchanged',
    ])
    expect(await netfilter.listTables()).toEqual([{ family: 'netdev', name: 'kube-ovn-frames' }])
    one.run('ip', 'link', 'del', 'right')
    expect(await netfilter.hasDrifted(table)).toBe(true)
    await expect(netfilter.applyTable(table)).rejects.toThrow(NftCommandError)
    await netfilter.removeTable(table)
    expect(await netfilter.listTables()).toEqual([])
  })

  it.each([
    'add element inet kube-ovn pods { 10.99.0.0/16 }',
    'delete element inet kube-ovn pods { 10.16.0.0/16 }',
    'add rule inet kube-ovn postrouting accept',
    'insert rule inet kube-ovn postrouting accept',
    'flush chain inet kube-ovn postrouting',
    'add chain inet kube-ovn other',
    'add set inet kube-ovn other { type ipv4_addr; }',
    'delete table inet kube-ovn',
    'flush ruleset',
  ])('notices and heals: nft %s', async (vandalism) => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    const table = masquerading([{ prefix: { addr: '10.16.0.0', len: 16 } }])
    await netfilter.applyTable(table)
    const wanted = await netfilter.readTable(table)

    const { promise, resolve } = Promise.withResolvers<TableEvent>()
    using _watch = netfilter.watch(resolve, { ref: true })
    space.run('nft', vandalism)
    expect(await promise).toEqual({ kind: 'changed', table: { family: 'inet', name: 'kube-ovn' } })
    expect(await netfilter.hasDrifted(table)).toBe(true)
    expect(await netfilter.applyTable(table)).toBe('applied')
    expect(await netfilter.readTable(table)).toEqual(wanted)
  })

  it('replaces a table without CAP_SYS_ADMIN, whatever is there', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const replace = (table: Table): string => {
      const module = JSON.stringify(join(import.meta.dirname, 'index.ts'))
      const script = `const { openNetfilter } = await import(${module})
        await openNetfilter().replaceTable(${JSON.stringify(table)})`
      const node = [process.execPath, '--input-type=module', '--eval', script]
      return space.run('setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin', ...node)
    }
    const netfilter = openNetfilter({ netns: space.path })
    for (const table of [masquerading(['10.16.0.5']), masquerading(['10.16.0.6'])]) {
      replace(table)
      expect(await netfilter.hasDrifted(table)).toBe(false)
    }
  })

  it('leaves other tables alone, byte for byte', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    space.run(
      'nft',
      'table ip kube-ovn { set s { type ipv4_addr; elements = { 10.0.0.1 }; }; chain c { accept; }; }',
    )
    space.run('nft', 'table inet kube-proxy { chain c { type filter hook input priority 0; drop; }; }')
    const listForeign = (): string =>
      space.run('nft', '-a', 'list', 'table', 'ip', 'kube-ovn') +
      space.run('nft', '-a', 'list', 'table', 'inet', 'kube-proxy')
    const before = listForeign()
    const netfilter = openNetfilter({ netns: space.path })
    const table = masquerading(['10.16.0.5'])
    await netfilter.applyTable(table)
    await netfilter.applyTable(masquerading(['10.16.0.6']))
    expect(listForeign()).toBe(before)
    await netfilter.removeTable(table)
    await netfilter.removeTable(table)
    expect(await netfilter.readTable(table)).toBeUndefined()
    expect(listForeign()).toBe(before)
  })

  it('does nothing at all when one rule of a table is wrong', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    const good = masquerading(['10.16.0.5'])
    await netfilter.applyTable(good)
    const before = space.run('nft', '-a', 'list', 'ruleset')
    const bad: Table = {
      ...good,
      chains: [...good.chains, { name: 'lost', rules: [{ statements: [statement.jump('nowhere')] }] }],
    }
    const refused = netfilter.applyTable(bad)
    await expect(refused).rejects.toThrow(NftCommandError)
    await expect(refused).rejects.toMatchObject({ details: { operation: 'try inet kube-ovn', status: 1 } })
    await expect(refused).rejects.toHaveProperty(
      'details.nftMessage',
      expect.stringContaining('No such file or directory'),
    )
    expect(space.run('nft', '-a', 'list', 'ruleset')).toBe(before)
    expect(await netfilter.applyTable(good)).toBe('unchanged')
  })

  it('replaces in one transaction: one event, whatever the size', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    const many = Array.from({ length: 2000 }, (_, at): SetElement => `10.${at >> 8}.${at & 255}.1`)
    await netfilter.applyTable(masquerading(many))
    const events: TableEvent[] = []
    using _watch = netfilter.watch((event) => events.push(event), { ref: true })
    expect(await netfilter.applyTable(masquerading(many.slice(1)))).toBe('applied')
    await expect.poll(() => events.length).toBeGreaterThan(0)
    expect(events).toEqual([{ kind: 'changed', table: { family: 'inet', name: 'kube-ovn' } }])
  })

  it('writes of a large table only what differs, while it is told of changes', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    using _watch = netfilter.watch(() => undefined)
    const ports = Array.from({ length: 200 }, (_, at) => portOf(at, ['10.16.0.1', '10.16.0.2']))
    await netfilter.applyTable(tableOf(ports))
    using written = countWrites(space)
    expect(await netfilter.applyTable(tableOf(ports))).toBe('unchanged')
    expect(written.take()).toEqual({})
    const more = ports.with(7, portOf(7, ['10.16.0.1', '10.16.0.2', '10.16.0.3']))
    expect(await netfilter.applyTable(tableOf(more))).toBe('applied')
    // A rule and its own set come in the place of others.
    expect(written.take()).toEqual({ 'rule deleted': 1, 'set deleted': 1, set: 1, element: 3, rule: 1 })
    expect(await netfilter.applyTable(tableOf(more.toSpliced(3, 1)))).toBe('applied')
    const gone = { 'element deleted': 1, 'rule deleted': 1, 'set deleted': 1, 'chain deleted': 1 }
    expect(written.take()).toEqual(gone)
    expect(await openNetfilter({ netns: space.path }).hasDrifted(tableOf(more.toSpliced(3, 1)))).toBe(false)
  })

  it.each([
    'delete element inet ports by-address { 10.96.0.7 . tcp . 80 : goto port-7 }',
    'add rule inet ports port-7 accept',
    'add chain inet ports other',
    'delete table inet ports',
  ])('looks again at what somebody else has come between: nft %s', async (vandalism) => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    using _watch = netfilter.watch(() => undefined)
    const table = tableOf([portOf(7, ['10.16.0.1']), portOf(8, ['10.16.0.1'])])
    await netfilter.applyTable(table)
    space.run('nft', vandalism)
    expect(await netfilter.hasDrifted(table)).toBe(true)
    const next = tableOf([portOf(8, ['10.16.0.2'])])
    expect(await netfilter.applyTable(next)).toBe('applied')
    expect(await openNetfilter({ netns: space.path }).hasDrifted(next)).toBe(false)
  })

  it('comes to every table from every other one', async () => {
    using network = openTestNetwork()
    const space = network.namespace('one')
    const netfilter = openNetfilter({ netns: space.path })
    using _watch = netfilter.watch(() => undefined)
    const backends = fc.uniqueArray(fc.constantFrom('10.16.0.1', '10.16.0.2', '10.16.0.3'), { minLength: 1 })
    const port = fc.tuple(fc.nat(3), backends).map(([at, ips]) => portOf(at, ips))
    const pods = fc.uniqueArray(fc.constantFrom('10.0.0.0/8', '10.16.0.0/16', '10.17.0.0/16', '10.16.0.5'))
    const tables = fc
      .tuple(fc.uniqueArray(port, { selector: ({ chain }) => chain.name }), pods)
      .map(([ports, prefixes]) => tableOf(ports, prefixes))
    await netfilter.applyTable(tableOf([]))
    using written = countWrites(space)
    await fc.assert(
      fc.asyncProperty(tables, async (table) => {
        await netfilter.applyTable(table)
        expect(written.take()).not.toHaveProperty('table')
        expect(await openNetfilter({ netns: space.path }).hasDrifted(table)).toBe(false)
      }),
      { numRuns: 15, endOnFailure: true },
    )
  })

  it('says when nft is not installed', async () => {
    using network = openTestNetwork()
    const netfilter = openNetfilter({ netns: network.namespace('one').path, nft: '/nowhere/nft' })
    await expect(netfilter.readTable({ family: 'inet', name: 'x' })).rejects.toThrow(NftNotFoundError)
  })
})
