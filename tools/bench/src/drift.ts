import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient, type Operation } from 'ovsdb-client'
import type { Benchmark, BenchmarkResult } from './benchmark.ts'
import { ControlPlane } from './control-plane.ts'
import { percentile, rounded } from './statistics.ts'
import { within } from './within.ts'

const nodeCount = 100
const podCount = 10_000

/** What takes so long is not healed. */
const healingMs = 60_000

/** Of each kind of damage. */
const rounds = 40

/** How long damage done by hand lasts, seen by a third client of the Northbound. */
export const drift: Benchmark = {
  name: 'drift',
  summary: 'milliseconds until a deleted port, policy or group member is back, p99, with 10,000 pods',
  async run(): Promise<BenchmarkResult> {
    await using plane = await ControlPlane.start(nodeCount)
    await using controller = plane.startController()
    console.log(`creating ${podCount} pods`)
    await plane.createPods(podCount)
    await plane.untilAllocated()
    await controller.untilQuiet()
    await using vandal = new OvsdbClient<OvnNorthbound>({
      endpoints: [plane.northbound.address],
      schema: ovnNorthboundSchema,
      tables: {
        Logical_Switch_Port: { columns: ['name', 'external_ids'], indexes: ['name'] },
        Logical_Switch: { columns: ['name', 'ports'], indexes: ['ports'] },
        Logical_Router: { columns: ['policies'], indexes: ['policies'] },
        Logical_Router_Policy: { columns: ['match', 'priority'], indexes: ['match'] },
        Port_Group: { columns: ['name', 'ports'], indexes: ['name', 'ports'] },
      },
    })
    await vandal.connect()
    const ports = await times('port', vandal, () => damagePort(vandal))
    const policies = await times('policy', vandal, () => damagePolicy(vandal))
    const members = await times('group member', vandal, () => damageMember(vandal))
    const all = [...ports, ...policies, ...members]
    return {
      value: rounded(percentile(all, 0.99)),
      unit: 'ms',
      p50: rounded(percentile(all, 0.5)),
      portP99: rounded(percentile(ports, 0.99)),
      policyP99: rounded(percentile(policies, 0.99)),
      memberP99: rounded(percentile(members, 0.99)),
    }
  },
}

interface Damage {
  readonly operations: readonly Operation[]
  isHealed(): boolean
}

async function times(
  what: string,
  vandal: OvsdbClient<OvnNorthbound>,
  damage: () => Damage,
): Promise<readonly number[]> {
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) {
    const { operations, isHealed } = damage()
    const healed = Promise.withResolvers<void>()
    let isDamageSeen = false
    using _subscription = vandal.onChange(() => {
      if (!isHealed()) isDamageSeen = true
      else if (isDamageSeen) healed.resolve()
    })
    const startedMs = performance.now()
    await vandal.transact(operations)
    // The server tells of damage and cure at once when they are that close.
    if (isHealed() && !isDamageSeen) healed.resolve()
    await within(healingMs, () => `the damaged ${what} is back`, healed.promise)
    taken.push(performance.now() - startedMs)
  }
  console.log(
    `${what}: p50 ${rounded(percentile(taken, 0.5))} ms, p99 ${rounded(percentile(taken, 0.99))} ms`,
  )
  return taken
}

type Vandal = OvsdbClient<OvnNorthbound>

function damagePort({ cache, operations }: Vandal): Damage {
  const port = drawn(podPorts(cache))
  const [container] = cache.find('Logical_Switch', 'ports', port._uuid)
  if (container === undefined) throw new Error(`port ${port.name} is on no switch`)
  return {
    operations: [operations.mutate('Logical_Switch', container._uuid, [['ports', 'delete', [port._uuid]]])],
    isHealed: () => cache.find('Logical_Switch_Port', 'name', port.name).length > 0,
  }
}

function damagePolicy({ cache, operations }: Vandal): Damage {
  const policy = drawn([...cache.scan('Logical_Router_Policy')])
  const [router] = cache.find('Logical_Router', 'policies', policy._uuid)
  if (router === undefined) throw new Error(`policy ${policy.match} is on no router`)
  return {
    operations: [operations.mutate('Logical_Router', router._uuid, [['policies', 'delete', [policy._uuid]]])],
    isHealed: () =>
      cache
        .find('Logical_Router_Policy', 'match', policy.match)
        .some(({ priority }) => priority === policy.priority),
  }
}

function damageMember({ cache, operations }: Vandal): Damage {
  const port = drawn(podPorts(cache))
  const group = drawn(cache.find('Port_Group', 'ports', port._uuid))
  return {
    operations: [operations.mutate('Port_Group', group._uuid, [['ports', 'delete', [port._uuid]]])],
    isHealed: () => cache.find('Port_Group', 'ports', port._uuid).some(({ _uuid }) => _uuid === group._uuid),
  }
}

function podPorts(cache: Vandal['cache']): readonly OvnNorthbound['Logical_Switch_Port'][] {
  return [...cache.scan('Logical_Switch_Port')].filter(({ external_ids: ids }) => ids['pod'] !== undefined)
}

function drawn<T>(from: readonly T[]): T {
  const one = from[Math.floor(Math.random() * from.length)]
  if (one === undefined) throw new Error('nothing to damage')
  return one
}
