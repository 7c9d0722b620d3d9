import { podAnnotations, vipAnnotations } from '@kube-ovn/annotations'
import { ipPoolResource, ipResource, vipResource } from '@kube-ovn/kube-api'
import { nodes, pods, statefulSets } from '@kube-ovn/kube-api/core'
import { ipPool, pod, statefulSet, vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { auditAddresses } from '@kube-ovn/domains-control/address-audit'
import {
  address,
  addresses,
  ControlCluster,
  createInBlue,
  dualStack,
  inBlue,
  startWithBlue,
} from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1', 'n2'))

const keys = podAnnotations()
const merge = 'application/merge-patch+json'
const nothing = { transactions: 0, writes: [] }
const fromPool = { [keys.ipPool.key]: 'one' }
const [poolV4 = '', poolV6 = ''] = addresses(dualStack, 50)

/** An IPPool of one address of each family: of a Deployment's pods only one at a time can run. */
async function createPool(...hosts: readonly number[]): Promise<void> {
  const ips = hosts.flatMap((host) => addresses(dualStack, host))
  await cluster.client.create(ipPoolResource, ipPool({ name: 'one', subnet: 'blue', ips }))
}

/** Says that a node works, or that nobody has heard of it for a while. */
async function setReady(name: string, status: 'True' | 'Unknown'): Promise<void> {
  const change = { status: { conditions: [{ type: 'Ready', status }] } }
  await cluster.client.patch(nodes, { name }, merge, change, { subresource: 'status' })
}

/** Nobody on the node does it. The grace period has long passed by the controller's clock, unless it is a long one. */
async function deletePod(name: string, graceSeconds = 1): Promise<void> {
  await cluster.client.remove(pods, { namespace: 'default', name }, { gracePeriodSeconds: graceSeconds })
}

/** Somebody has a finalizer on it, so that it stays although nobody waits for its node. */
async function deletePodAtOnce(name: string): Promise<void> {
  const metadata = { finalizers: ['example.com/looks-at-it'] }
  await cluster.client.patch(pods, { namespace: 'default', name }, merge, { metadata })
  await deletePod(name, 0)
}

/** Waits for changes of the Northbound until this is so. */
async function until(control: Controller, isSo: () => boolean): Promise<void> {
  using stack = new DisposableStack()
  await new Promise<void>((resolve) => {
    const look = (): void => (isSo() ? resolve() : undefined)
    stack.use(control.onNorthboundChange(look))
    look()
  })
}

/** Names of the ports that have an address. */
function portsWith(control: Controller, text: string): readonly string[] {
  return control
    .rows('Logical_Switch_Port', 'name', 'addresses')
    .filter(({ addresses: list }) => list.some((entry) => entry.split(' ').includes(text)))
    .map(({ name }) => name)
}

/** A grace period that is not over, twice, before a test is: it is put to its end. */
const longSeconds = 3600

/** Ends grace periods of {@link longSeconds}. */
function endGrace(control: Controller): void {
  control.putClockForward(3 * longSeconds * 1000)
}

describe('a pod that is deleted on a lost node', () => {
  it('gives its addresses back when its time is over, so that the next one of the Deployment has them', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    await createPool(50)
    await cluster.user.createPod({ name: 'web-a', node: 'n2', annotations: { ...inBlue, ...fromPool } })
    await control.settle()
    await createInBlue(cluster, control, ['web-b'], fromPool)
    expect(await cluster.user.addressesOf('web-a', 'web-b')).toEqual([address(dualStack, 50), ''])
    await setReady('n2', 'Unknown')
    await deletePod('web-a', longSeconds)
    await control.settle()
    expect(portsWith(control, poolV4)).toEqual(['web-a.default'])
    const before = await cluster.user.annotationsOf({ name: 'web-a' })
    await cluster.forgetCosts()
    endGrace(control)
    await until(control, () => portsWith(control, poolV4).includes('web-b.default'))
    await control.settle()
    expect((await cluster.costs()).transactions).toBe(2)
    expect(await cluster.user.addressOf('web-b')).toBe(address(dualStack, 50))
    expect([...portsWith(control, poolV4), ...portsWith(control, poolV6)]).toEqual([
      'web-b.default',
      'web-b.default',
    ])
    expect(await cluster.user.annotationsOf({ name: 'web-a' })).toEqual(before)
    expect(await cluster.client.get(ipResource, { name: 'web-a.default' })).toBeUndefined()
    expect(auditAddresses(control.world)).toEqual([])
  })

  it('does not get them back, not when the node returns, nor in a restart', async () => {
    await using first = await startWithBlue(cluster, dualStack)
    await createPool(50)
    await cluster.user.createPod({ name: 'web-a', node: 'n2', annotations: { ...inBlue, ...fromPool } })
    await first.settle()
    await createInBlue(cluster, first, ['web-b'], fromPool)
    await deletePodAtOnce('web-a')
    await setReady('n2', 'Unknown')
    await first.settle()
    expect(portsWith(first, poolV4)).toEqual(['web-b.default'])
    await first[Symbol.asyncDispose]()
    await cluster.forgetCosts()
    {
      await using second = await cluster.startController()
      await second.settle()
      await setReady('n2', 'True')
      await second.settle()
      expect(auditAddresses(second.world)).toEqual([])
    }
    await using third = await cluster.startController()
    await third.settle()
    expect(await cluster.costs()).toEqual(nothing)
    expect(auditAddresses(third.world)).toEqual([])
    const metadata = { finalizers: null }
    await cluster.client.patch(pods, { namespace: 'default', name: 'web-a' }, merge, { metadata })
    await third.settle()
    expect(await cluster.costs()).toEqual(nothing)
    expect(await cluster.user.addressOf('web-b')).toBe(address(dualStack, 50))
    expect(third.problems()).toEqual([])
  })

  it.each([
    ['is gone', () => cluster.client.remove(nodes, { name: 'n2' })],
    ['is not ready', () => setReady('n2', 'Unknown')],
    [
      'is out of service',
      () =>
        cluster.client.patch(nodes, { name: 'n2' }, merge, {
          spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
        }),
    ],
  ])('keeps them while the node works, and gives them back once that %s', async (_name, lose) => {
    await using control = await cluster.startSettled()
    await cluster.user.createPod({ name: 'web', node: 'n2' })
    await control.settle()
    await cluster.forgetCosts()
    await deletePod('web')
    endGrace(control)
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    expect(control.world.ipam.lease('web.default')).toBeDefined()
    await lose()
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'web.default')).toBeUndefined()
    expect(control.world.ipam.lease('web.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'web.default' })).toBeUndefined()
    expect(control.problems()).toEqual([])
  })

  it('gives them back when its time passed while no controller ran', async () => {
    {
      await using control = await cluster.startSettled()
      await cluster.user.createPod({ name: 'web', node: 'n2' })
      await control.settle()
    }
    await setReady('n2', 'Unknown')
    await deletePod('web')
    await using control = await cluster.startController()
    await until(control, () => control.named('Logical_Switch_Port', 'web.default') === undefined)
    await control.settle()
    expect(control.world.ipam.lease('web.default')).toBeUndefined()
    expect(await cluster.client.get(ipResource, { name: 'web.default' })).toBeUndefined()
    expect(auditAddresses(control.world)).toEqual([])
  })

  it('keeps them as long as its time is not over, and when the node returns by then', async () => {
    await using control = await cluster.startSettled()
    await cluster.user.createPod({ name: 'web', node: 'n2' })
    await control.settle()
    await cluster.forgetCosts()
    await setReady('n2', 'Unknown')
    await deletePod('web', longSeconds)
    await control.settle()
    await setReady('n2', 'True')
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    expect(control.named('Logical_Switch_Port', 'web.default')).toBeDefined()
  })

  it("keeps them if they are its StatefulSet's", async () => {
    await using control = await cluster.startSettled()
    const { metadata } = await cluster.client.create(statefulSets, statefulSet())
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: metadata.uid ?? '' },
    ]
    await cluster.client.create(pods, pod({ name: 'db-0', node: 'n2', ownerReferences }))
    await control.settle()
    await cluster.forgetCosts()
    await setReady('n2', 'Unknown')
    await deletePod('db-0')
    await control.settle()
    expect(await cluster.costs()).toEqual(nothing)
    expect(control.named('Logical_Switch_Port', 'db-0.default')).toBeDefined()
  })

  it('may no more have the addresses of a Vip that it shares', async () => {
    await using control = await startWithBlue(cluster, dualStack)
    await cluster.client.create(vipResource, vip({ name: 'web', subnet: 'blue', namespace: 'default' }))
    await control.settle()
    const shared = { [vipAnnotations.shared.key]: 'web' }
    await createInBlue(cluster, control, ['a'], shared)
    await cluster.user.createPod({ name: 'b', node: 'n2', annotations: { ...inBlue, ...shared } })
    await control.settle()
    const parents = () => control.named('Logical_Switch_Port', 'web')?.options['virtual-parents']
    expect(parents()).toBe('a.default,b.default')
    await setReady('n2', 'Unknown')
    await deletePod('b', longSeconds)
    await control.settle()
    endGrace(control)
    await until(control, () => parents() === 'a.default')
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'b.default')).toBeUndefined()
  })
})

describe('addresses of pods on a lost node', () => {
  it('have one port at any time, whenever the controller is killed', async () => {
    const hosts = Array.from({ length: 20 }, (_, index) => 50 + index)
    const doubled: string[] = []
    function watch(control: Controller): Disposable {
      return control.onNorthboundChange(() => {
        for (const host of hosts) {
          const names = portsWith(control, address(dualStack, host).split(',')[0] ?? '')
          if (names.length > 1) doubled.push(names.join())
        }
      })
    }
    {
      await using control = await startWithBlue(cluster, dualStack)
      await createPool(...hosts)
      await Promise.all(
        hosts.map((host) =>
          cluster.user.createPod({ name: `a${host}`, node: 'n2', annotations: { ...inBlue, ...fromPool } }),
        ),
      )
      await control.settle()
    }
    await Promise.all(
      hosts.map((host) =>
        cluster.user.createPod({ name: `b${host}`, annotations: { ...inBlue, ...fromPool } }),
      ),
    )
    await setReady('n2', 'Unknown')
    await Promise.all(hosts.map((host) => deletePod(`a${host}`)))
    for (let life = 0; life < 4; life++) {
      await using control = await cluster.startController()
      using _watching = watch(control)
      // Ended as soon as it has done anything, if there is anything left to do.
      let hasActed = false
      const acted = new Promise<void>((resolve) => {
        control.onNorthboundChange(() => {
          hasActed = true
          resolve()
        })
      })
      const settled = control.settle().catch((error: unknown) => {
        // One that is ended in the midst of it does not settle.
        if (!hasActed) throw error
      })
      await Promise.race([acted, settled])
      await setReady('n2', life % 2 === 0 ? 'True' : 'Unknown')
    }
    await setReady('n2', 'Unknown')
    await using control = await cluster.startController()
    using _watching = watch(control)
    await until(control, () => control.portsOf('Port_Group', 'node.n1').length === hosts.length)
    await control.settle()
    expect(doubled).toEqual([])
    const told = await cluster.user.addressesOf(...hosts.map((host) => `b${host}`))
    expect(told.toSorted()).toEqual(hosts.map((host) => address(dualStack, host)).toSorted())
    expect(auditAddresses(control.world)).toEqual([])
  })
})
