import { ovnEipResource, subnetResource } from '@kube-ovn/kube-api'
import { ovnEip, subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, type Controller } from '@kube-ovn/testing-control'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import { carryOut, step } from './any-sequence.it-fixture.ts'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

/** Everything of load balancers, by names in the place of row ids. */
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
    switches: control.rows('Logical_Switch', 'name', 'load_balancer', 'load_balancer_group').map((row) => ({
      name: row.name,
      balancers: row.load_balancer.map(nameOf).sort(),
      groups: row.load_balancer_group.map(nameOfGroup).sort(),
    })),
  }
}

it.each([{ loadBalancerLayout: 'shared' }, { loadBalancerLayout: 'per-service' }])(
  'any sequence of changes, cut anywhere, ends in what a fresh start writes: $loadBalancerLayout',
  async (flags) => {
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'external', cidrBlock: '10.5.204.0/24', gateway: '10.5.204.254' }),
    )
    await cluster.client.create(ovnEipResource, ovnEip({ externalSubnet: 'external' }))
    const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 30 }), async (steps) => {
      let control = await cluster.startController({ flags })
      try {
        for (const next of steps) {
          if (next.what === 'settle') await control.settle()
          else if (next.what === 'cut') {
            // In the middle of whatever it does.
            await control[Symbol.asyncDispose]()
            control = await cluster.startController({ flags })
          } else await carryOut(next, cluster)
        }
        await control.settle()
        const lived = written(control)
        await control[Symbol.asyncDispose]()
        await cluster.northbound.reset()
        control = await cluster.startController({ flags })
        await control.settle()
        expect(lived).toEqual(written(control))
      } finally {
        await control[Symbol.asyncDispose]()
      }
    })
    await fc.assert(property, { numRuns: process.env['KUBE_OVN_DEEP'] === '1' ? 200 : 2 })
  },
)
