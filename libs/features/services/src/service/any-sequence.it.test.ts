import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import { carryOut, setScene } from './any-sequence.it-fixture.ts'
import { misled } from './naive-rules.it-fixture.ts'
import { announcersNamespace, step, yard, type Flags } from './steps.it-fixture.ts'
import { tour } from './tour.it-fixture.ts'

const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const cluster = ControlCluster.ofSuite()
beforeEach(() => setScene(cluster))

/** The priority of policies that lead an underlay without load balancers to Services. */
const servicePolicy = 29_400

/** Everything of load balancers, and of the way to Services where there are none, by names in the place of row ids. */
function written(control: Controller): unknown {
  const { northbound } = control.world
  const nameOf = (uuid: string): string => northbound.get('Load_Balancer', uuid)?.name ?? uuid
  const nameOfGroup = (uuid: string): string => northbound.get('Load_Balancer_Group', uuid)?.name ?? uuid
  const checkOf = (uuid: string): string => {
    const { vip, options, external_ids: ids } = northbound.get('Load_Balancer_Health_Check', uuid) ?? {}
    return JSON.stringify([vip, options, ids?.['switch_lb_subnet']])
  }
  return {
    balancers: control
      .rows(
        'Load_Balancer',
        ...(['name', 'protocol', 'vips', 'options', 'selection_fields'] as const),
        ...(['ip_port_mappings', 'health_check'] as const),
      )
      .map((row) => ({ ...row, health_check: row.health_check.map(checkOf).sort() })),
    variables: control.rows('Chassis_Template_Var', 'chassis', 'variables'),
    groups: control
      .rows('Load_Balancer_Group', 'name', 'load_balancer')
      .map((row) => ({ ...row, load_balancer: row.load_balancer.map(nameOf).sort() })),
    routers: control.rows('Logical_Router', 'name', 'load_balancer').map((row) => ({
      name: row.name,
      balancers: row.load_balancer.map(nameOf).sort(),
    })),
    policies: control
      .rows('Logical_Router_Policy', ...(['priority', 'match', 'action', 'nexthops'] as const))
      .filter(({ priority }) => priority === servicePolicy),
    switches: control.rows('Logical_Switch', 'name', 'load_balancer', 'load_balancer_group').map((row) => ({
      name: row.name,
      balancers: row.load_balancer.map(nameOf).sort(),
      groups: row.load_balancer_group.map(nameOfGroup).sort(),
    })),
  }
}

/** As users may have it. */
function startWith({ enableLb, ...flags }: Flags): Promise<Controller> {
  return cluster.startController({
    flags: { ...flags, metallbNamespace: announcersNamespace },
    settings: { enableLb },
  })
}

it.each(['shared', 'per-service'] as const)(
  'any sequence of changes, cut anywhere, ends in what a fresh start writes, and leads who asks to who should answer: %s',
  { timeout: isDeep ? 3_600_000 : 240_000 },
  async (loadBalancerLayout) => {
    const all = { enableOvnLbPreferLocal: true, ovnLbNodePorts: true, enableLb: true }
    const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 30 }), async (steps) => {
      let flags: Flags = { loadBalancerLayout, ...all }
      let control = await startWith(flags)
      const expectLed = async (): Promise<void> => {
        await control.settle()
        expect(await misled(cluster, control, { yard, announcersNamespace, flags })).toEqual([])
      }
      try {
        for (const next of steps) {
          if (next.what === 'settle') await expectLed()
          else if (next.what === 'cut' || next.what === 'flags') {
            // In the middle of whatever it does.
            await control[Symbol.asyncDispose]()
            if (next.what === 'flags') {
              const { what: _, ...others } = next
              flags = others
            }
            control = await startWith(flags)
          } else await carryOut(next, cluster)
        }
        await expectLed()
        const lived = written(control)
        await control[Symbol.asyncDispose]()
        await cluster.northbound.reset()
        control = await startWith(flags)
        await control.settle()
        expect(lived).toEqual(written(control))
      } finally {
        await control[Symbol.asyncDispose]()
      }
    })
    // The same every time, unless somebody looks for what is not known yet.
    await fc.assert(property, {
      ...(isDeep ? { numRuns: 200 } : { numRuns: 3, seed: 16 }),
      examples: [[[...tour]]],
      endOnFailure: true,
    })
  },
)
