import { recordingLogger } from '@kube-ovn/log'
import { openNetfilter, statement, type Table } from '@kube-ovn/netfilter'
import { systemClock } from '@kube-ovn/process'
import { rowTable, sourceTable } from '@kube-ovn/tables'
import { fragmentMetrics, Registry } from '@kube-ovn/telemetry'
import { missingForNamespaces, openTestNetwork, type TestNamespace } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contribution, type Answer } from './feature.ts'
import { FragmentKernel } from './kernel.ts'
import { nftables, NftablesSink } from './nftables-sink.ts'

const missing = missingForNamespaces('nft')

const wishes = sourceTable<Table>({ name: 'wishes' })
const tables = rowTable({ name: 'tables', of: wishes, row: (want): Answer<Table> => ({ want }) })

function tableOf(name: string, ...chains: Table['chains']): Table {
  return { family: 'inet', name, sets: [], chains }
}

const drops = { name: 'drops', rules: [{ statements: [statement.drop] }] }
const refusals = [
  { what: 'is not valid', chain: { name: 'lost', rules: [{ statements: [statement.jump('nowhere')] }] } },
  {
    what: 'the kernel refuses',
    chain: { name: 'odd', base: { type: 'nat', hook: 'forward', priority: 0 }, rules: [] },
  },
] as const

describe.skipIf(missing)(`tables of the packet filter${missing === undefined ? '' : ` (${missing})`}`, () => {
  let stack: AsyncDisposableStack
  let host: TestNamespace
  let rows: Map<string, Table>
  let kernel: FragmentKernel
  let log: ReturnType<typeof recordingLogger>

  beforeEach(() => {
    stack = new AsyncDisposableStack()
    host = stack.use(openTestNetwork()).namespace('host')
    log = recordingLogger()
    rows = new Map([['one', tableOf('kube-ovn-one', drops)]])
    kernel = startKernel()
  })
  afterEach(() => stack.disposeAsync())

  function startKernel(): FragmentKernel {
    const started = stack.use(
      new FragmentKernel({
        features: [{ name: 'filters', contributions: [contribution(nftables, tables)] }],
        lanes: [[new NftablesSink(openNetfilter({ netns: host.path }))]],
        ...{ clock: systemClock, log, random: () => 0, metrics: fragmentMetrics(new Registry()) },
      }),
    )
    started.attach(wishes, {
      get: (key) => rows.get(key),
      keys: () => rows.keys(),
      keysOf: () => [],
    })
    started.start()
    return started
  }

  async function put(key: string, table: Table | undefined): Promise<void> {
    const old = rows.get(key)
    if (table === undefined) rows.delete(key)
    else rows.set(key, table)
    kernel.changed(wishes, key, old, table)
    await kernel.quiet()
  }

  function listed(): string {
    return host.run('nft', 'list', 'ruleset')
  }

  it.each(refusals)('stand beside one that $what, which is told', async ({ chain }) => {
    await put('bad', tableOf('kube-ovn-bad', chain))
    await put('two', tableOf('kube-ovn-two', drops))
    expect(listed()).toMatch(/kube-ovn-one[^]*kube-ovn-two/)
    expect(listed()).not.toContain('kube-ovn-bad')
    expect(log.lines.filter(({ level }) => level === 'error' || level === 'warn')).toHaveLength(1)
    await put('bad', tableOf('kube-ovn-bad', drops))
    expect(listed()).toContain('kube-ovn-bad')
    expect(await kernel.recomputeAll()).toEqual([])
  })

  it('are gone when nobody wants them any more, and those of others stay', async () => {
    await kernel.quiet()
    host.run('nft', 'add', 'table', 'inet', 'foreign')
    await put('one', undefined)
    expect(listed()).not.toContain('kube-ovn-one')
    expect(listed()).toContain('foreign')
  })

  it('belong to who stands first, and the other one is told who has it', async () => {
    await put('two', tableOf('kube-ovn-one', { ...drops, name: 'others' }))
    expect(listed()).not.toContain('others')
    const [problem] = log.lines.filter(({ level }) => level === 'warn')
    expect(problem?.fields['err']).toMatchObject({ details: { holder: 'filters/one' } })
    await put('one', undefined)
    expect(listed()).toContain('others')
    expect(await kernel.recomputeAll()).toEqual([])
  })

  it('that an earlier agent left are gone once it is known that nobody wants them, and those of others stay', async () => {
    await kernel.quiet()
    await kernel[Symbol.asyncDispose]()
    for (const name of ['kube-ovn-two', 'kube-ovnother', 'foreign'])
      host.run('nft', 'add', 'table', 'inet', name)
    host.run('nft', 'add', 'table', 'bridge', 'kube-ovn-bridge')
    rows.set('bad', tableOf('kube-ovn-bad', refusals[0].chain))
    kernel = startKernel()
    await kernel.quiet()
    expect(listed()).toContain('kube-ovn-two')
    await put('bad', undefined)
    expect(listed()).not.toContain('kube-ovn-two')
    expect(listed()).toMatch(/kube-ovnother[^]*foreign/)
    expect(listed()).toMatch(/kube-ovn-one[^]*drops/)
    expect(listed()).toContain('kube-ovn-bridge')
    expect(await kernel.recomputeAll()).toEqual([])
  })
})
