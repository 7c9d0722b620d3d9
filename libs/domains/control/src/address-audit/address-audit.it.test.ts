import { ipLabel } from '@kube-ovn/annotations'
import { ipResource } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube-api/core'
import { recordingLogger } from '@kube-ovn/log'
import { addressAuditMetrics, Registry } from '@kube-ovn/telemetry'
import { ip, node, pod } from '@kube-ovn/testing-builders'
import { ManualClock } from '@kube-ovn/time'
import { expect, it } from 'vitest'
import { AddressAudit } from './address-audit.ts'
import { auditSteps } from './audit.ts'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()

/** A controller with a node and two pods: 10.16.0.2 and 10.16.0.3 of the default subnet. */
async function startWithPods(): Promise<Controller> {
  await cluster.client.create(nodes, node({ name: 'n1', addresses: ['172.18.0.11', 'fd00:18::11'] }))
  const control = await cluster.startController()
  for (const name of ['web', 'db']) {
    await cluster.client.create(pods, pod({ name, node: 'n1' }))
    await control.settle()
  }
  return control
}

/** Audits when it is asked to, and tells what the log and the metrics say. */
function startAudit(control: Controller) {
  const log = recordingLogger()
  const registry = new Registry()
  const clock = new ManualClock()
  const metrics = addressAuditMetrics(registry)
  const audit = new AddressAudit({
    steps: () => auditSteps(control.world),
    clock,
    log,
    metrics,
    intervalMs: 1000,
  })
  audit.start()
  let linesBefore = 0
  return {
    /** What two audits log. */
    told(): readonly string[] {
      clock.advance(2000)
      const lines = log.lines.slice(linesBefore)
      linesBefore = log.lines.length
      return lines.map(({ message, fields }) => {
        const { rule, name, value, owners } = fields as Record<string, unknown>
        return `${message}: ${String(rule)} ${String(name)} ${String(value)} ${String(owners)}`
      })
    },
    async standing(rule: string): Promise<number> {
      const values = await registry.getSingleMetric('kube_ovn_address_findings')?.get()
      return values?.values.find(({ labels }) => labels['rule'] === rule)?.value ?? Number.NaN
    },
    [Symbol.dispose]: () => audit[Symbol.dispose](),
  }
}

it('finds nothing while pods come and go, and after a restart', async () => {
  await using control = await startWithPods()
  using audit = startAudit(control)
  expect(audit.told()).toEqual([])
  await cluster.client.create(pods, pod({ name: 'third', node: 'n1' }))
  await cluster.removePod('web')
  await control.settle()
  expect(audit.told()).toEqual([])
  await control[Symbol.asyncDispose]()
  await using next = await cluster.startController()
  await next.settle()
  using again = startAudit(next)
  expect(again.told()).toEqual([])
  expect(await again.standing('held-twice')).toBe(0)
})

it("finds a stranger's port with the address of a pod, until it is gone, and touches nothing", async () => {
  await using control = await startWithPods()
  using audit = startAudit(control)
  const { northbound } = cluster
  const addresses = 'addresses="00:00:5e:00:53:07 10.16.0.3 fd00:10:16::77"'
  // Not by lsp-set-addresses, which looks for doubles itself.
  await northbound.nbctl(
    'lsp-add',
    'ovn-default',
    'vm-7',
    '--',
    'set',
    'Logical_Switch_Port',
    'vm-7',
    addresses,
  )
  await control.settle()
  await cluster.forgetCosts()
  expect(audit.told()).toEqual([
    'address finding appeared: held-twice vm-7 10.16.0.3 port/vm-7,pod/default/db',
    'address finding appeared: unheld vm-7 fd00:10:16::77 port/vm-7',
  ])
  expect(await audit.standing('held-twice')).toBe(1)
  await control.settle()
  expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
  await northbound.nbctl('lsp-del', 'vm-7')
  await control.settle()
  expect(audit.told().map((line) => line.slice(0, 20))).toEqual(Array(2).fill('address finding gone'))
  expect(await audit.standing('held-twice')).toBe(0)
})

it('finds an address that a user reserved although a pod has it', async () => {
  await using control = await startWithPods()
  using audit = startAudit(control)
  const reserved = ip({
    name: 'later.default',
    podName: 'later',
    namespace: 'default',
    subnet: 'ovn-default',
    v4IpAddress: '10.16.0.2',
    labels: { [ipLabel.isReserved]: 'true' },
  })
  await cluster.client.create(ipResource, reserved)
  await control.settle()
  expect(audit.told()).toEqual([
    'address finding appeared: held-twice later.default 10.16.0.2 reservation/default/later,pod/default/web',
  ])
})

it('finds what the allocator has forgotten, and what it has without anybody', async () => {
  await using control = await startWithPods()
  using audit = startAudit(control)
  control.world.ipam.release('web.default', 'pod/default/web')
  control.world.ipam.allocate({ subnet: 'ovn-default', nic: 'ghost', owner: 'pod/default/ghost', family: 6 })
  const told = audit.told()
  expect(told.filter((line) => line.includes('unheld web.default 10.16.0.2'))).toHaveLength(3)
  expect(told).toContainEqual(expect.stringMatching(/: unrecorded ghost fd00:10:16::4 pod\/default\/ghost$/))
  expect(told).toContainEqual(expect.stringMatching(/: miscounted ovn-default /))
})
