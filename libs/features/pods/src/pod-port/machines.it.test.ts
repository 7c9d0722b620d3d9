import { podAnnotations } from '@kube-ovn/annotations'
import { pods } from '@kube-ovn/kube-api/core'
import {
  ipResource,
  networkAttachmentResource,
  subnetResource,
  virtualMachineInstanceMigrationResource,
  virtualMachineInstanceResource,
  virtualMachineResource,
  type VirtualMachine,
} from '@kube-ovn/kube-api'
import { ip, pod, subnet } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'
import type { Controller } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1', 'n2'))

const keys = podAnnotations()
const ref = { namespace: 'default', name: 'vm' }

async function createMachine(template: VirtualMachineTemplate = {}): Promise<void> {
  await cluster.client.create(virtualMachineResource, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: ref,
    spec: { template },
  })
}

type VirtualMachineTemplate = NonNullable<NonNullable<VirtualMachine['spec']>['template']>

async function startMachine(): Promise<void> {
  await cluster.client.create(virtualMachineInstanceResource, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: ref,
    status: { phase: 'Running' },
  })
}

async function createLauncher(
  name: string,
  on: string,
  move?: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const moving = move === undefined ? {} : { 'kubevirt.io/migrationJobName': move }
  await cluster.client.create(
    pods,
    pod({
      name,
      node: on,
      ownerReferences: [
        { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'instance' },
      ],
      annotations: { ...annotations, ...moving },
    }),
  )
}

async function setPhase(move: string, phase: string): Promise<void> {
  const ref = { namespace: 'default', name: move }
  const migration = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: ref,
    spec: { vmiName: 'vm' },
    status: { phase },
  }
  const existing = await cluster.client.get(virtualMachineInstanceMigrationResource, ref)
  await (existing === undefined
    ? cluster.client.create(virtualMachineInstanceMigrationResource, migration)
    : cluster.client.patch(virtualMachineInstanceMigrationResource, ref, 'application/merge-patch+json', {
        status: { phase },
      }))
}

it('keeps the addresses of a machine over stop and start', async () => {
  await using control = await cluster.startController()
  await createMachine()
  await startMachine()
  await createLauncher('launcher-a', 'n1')
  await control.settle()
  const before = await cluster.user.annotationsOf({ name: 'launcher-a' })
  expect(before).toMatchObject({ [keys.virtualMachine.key]: 'vm', [keys.allocated.key]: 'true' })
  expect(control.named('Logical_Switch_Port', 'vm.default')?.external_ids).toMatchObject({
    pod: 'default/vm',
  })
  const record = await cluster.client.get(ipResource, { name: 'vm.default' })
  expect(record?.spec).toMatchObject({ podName: 'vm', podType: 'VirtualMachine' })

  await cluster.removePod('launcher-a')
  await cluster.client.remove(virtualMachineInstanceResource, ref)
  await cluster.client.create(pods, pod({ name: 'other', node: 'n1' }))
  await control.settle()
  expect(control.named('Logical_Switch_Port', 'vm.default')).toBeDefined()
  expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['other.default'])
  await control[Symbol.asyncDispose]()

  await using again = await cluster.startController()
  await startMachine()
  await createLauncher('launcher-b', 'n2')
  await again.settle()
  expect(await cluster.user.annotationsOf({ name: 'launcher-b' })).toEqual(before)
  expect(again.portsOf('Port_Group', 'node.n2')).toEqual(['vm.default'])
  expect(again.problems()).toEqual([])
})

it('leaves no trace in port groups of a pod that ends in the same transaction as a machine', async () => {
  await using control = await cluster.startController()
  await createMachine()
  await startMachine()
  await createLauncher('launcher-a', 'n1')
  await cluster.client.create(pods, pod({ name: 'web', node: 'n1' }))
  await control.settle()
  const { server } = cluster.northbound
  await server.freeze()
  try {
    // Its transaction keeps the controller waiting while the rest comes together.
    await cluster.client.create(pods, pod({ name: 'first', node: 'n2' }))
    await expect.poll(() => control.world.pods.get('default/first')).toBeDefined()
    await Promise.all([cluster.removePod('launcher-a'), cluster.removePod('web')])
    await expect.poll(() => [...control.world.pods.values()].length).toBe(1)
  } finally {
    await server.thaw()
  }
  await control.settle()
  expect(control.named('Logical_Switch_Port', 'vm.default')).toBeDefined()
  expect(control.portsOf('Port_Group', 'node.n1')).toEqual([])
  expect(control.portsOf('Port_Group', 'ovn.default.n1')).toEqual([])
})

it.each(['VirtualMachine', ''])(
  'leaves a user what he reserved with podType %j for a machine',
  async (podType) => {
    const reserved = { podType, v4IpAddress: '10.16.0.50', v6IpAddress: 'fd00:10:16::50' }
    const object = ip({
      name: 'vm.default',
      podName: 'vm',
      namespace: 'default',
      subnet: 'ovn-default',
      ...reserved,
    })
    await cluster.client.create(ipResource, object)
    {
      await using control = await cluster.startController()
      await control.settle()
    }
    await using control = await cluster.startController()
    await createMachine()
    await startMachine()
    await createLauncher('launcher', 'n1')
    await control.settle()
    expect((await cluster.user.annotationsOf({ name: 'launcher' }))[keys.ipAddress.key]).toBe(
      '10.16.0.50,fd00:10:16::50',
    )
    await cluster.removePod('launcher')
    await cluster.client.remove(virtualMachineInstanceResource, ref)
    await cluster.client.remove(virtualMachineResource, ref)
    await control.settle()
    expect(control.named('Logical_Switch_Port', 'vm.default')).toBeUndefined()
    const kept = await cluster.client.get(ipResource, { name: 'vm.default' })
    expect(kept?.spec?.ipAddress).toBe('10.16.0.50,fd00:10:16::50')
    await cluster.client.remove(ipResource, { name: 'vm.default' })
    await control.settle()
    expect(control.world.ipam.lease('vm.default')).toBeUndefined()
    expect(control.problems()).toEqual([])
  },
)

it('gives a machine that moves the same addresses in both pods', async () => {
  await using control = await cluster.startController()
  await createMachine()
  await startMachine()
  await createLauncher('z-source', 'n1')
  await control.settle()
  await createLauncher('a-target', 'n2', 'move')
  await control.settle()
  const source = await cluster.user.annotationsOf({ name: 'z-source' })
  expect(await cluster.user.annotationsOf({ name: 'a-target' })).toMatchObject(source)
  expect(control.portsOf('Port_Group', 'node.n1')).toEqual(['vm.default'])
  expect(control.portsOf('Port_Group', 'node.n2')).toEqual(['vm.default'])
  expect((await cluster.client.get(ipResource, { name: 'vm.default' }))?.spec?.nodeName).toBe('n1')
  await cluster.removePod('z-source')
  await control.settle()
  expect(control.portsOf('Port_Group', 'node.n1')).toEqual([])
  expect(control.portsOf('Port_Group', 'ovn.default.n2')).toEqual(['vm.default'])
  expect((await cluster.client.get(ipResource, { name: 'vm.default' }))?.spec?.nodeName).toBe('n2')
  expect(control.problems()).toEqual([])
})

describe('the port of a machine that moves', () => {
  function chassis(control: Controller): Readonly<Record<string, string>> | undefined {
    return control.named('Logical_Switch_Port', 'vm.default')?.options
  }

  it('is on both nodes until the move is over, then where the machine is, again and again', async () => {
    await using control = await cluster.startController()
    await createMachine()
    await startMachine()
    await createLauncher('launcher-b', 'n1')
    await setPhase('first', 'Pending')
    await control.settle()
    expect(chassis(control)).toEqual({})
    await createLauncher('launcher-a', 'n2', 'first')
    for (const phase of ['Pending', 'Scheduling', 'Scheduled', 'TargetReady', 'Running']) {
      await setPhase('first', phase)
      await control.settle()
      expect(chassis(control)).toEqual({ 'requested-chassis': 'n1,n2', 'activation-strategy': 'rarp' })
    }
    await control[Symbol.asyncDispose]()

    await setPhase('first', 'Succeeded')
    await using again = await cluster.startController()
    await again.settle()
    expect(chassis(again)).toEqual({ 'requested-chassis': 'n2' })
    await cluster.removePod('launcher-b')
    await again.settle()
    expect(chassis(again)).toEqual({})

    await setPhase('second', 'Scheduling')
    await createLauncher('launcher-c', 'n1', 'second')
    await again.settle()
    expect(chassis(again)).toEqual({ 'requested-chassis': 'n2,n1', 'activation-strategy': 'rarp' })
    await setPhase('second', 'Failed')
    await again.settle()
    expect(chassis(again)).toEqual({ 'requested-chassis': 'n2' })
    await cluster.removePod('launcher-c')
    await again.settle()
    expect(chassis(again)).toEqual({})
    expect(again.portsOf('Port_Group', 'node.n1')).toEqual([])
    expect(again.problems()).toEqual([])
  })

  it('says nothing when that is switched off, nor when it stays on its node', async () => {
    await using control = await cluster.startController({ flags: { enableLiveMigrationOptimize: false } })
    await createMachine()
    await startMachine()
    await createLauncher('launcher-a', 'n1')
    await setPhase('first', 'Running')
    await createLauncher('launcher-b', 'n2', 'first')
    await control.settle()
    expect(chassis(control)).toEqual({})
    await control[Symbol.asyncDispose]()
    await cluster.removePod('launcher-b')
    await createLauncher('launcher-b', 'n1', 'first')
    await using again = await cluster.startController()
    await again.settle()
    expect(chassis(again)).toEqual({})
  })
})

it('gives the addresses back when the machine is deleted', async () => {
  await using control = await cluster.startController()
  await createMachine()
  await createLauncher('launcher-a', 'n1')
  await control.settle()
  await cluster.removePod('launcher-a')
  await control.settle()
  expect(control.named('Logical_Switch_Port', 'vm.default')).toBeDefined()
  await cluster.client.remove(virtualMachineResource, ref)
  await control.settle()
  expect(control.named('Logical_Switch_Port', 'vm.default')).toBeUndefined()
  expect(await cluster.client.get(ipResource, { name: 'vm.default' })).toBeUndefined()
  expect(control.world.ipam.lease('vm.default')).toBeUndefined()
})

it('treats launchers like any pods when addresses are not to be kept', async () => {
  await using control = await cluster.startController({ settings: { keepVmIp: false } })
  await createMachine()
  await createLauncher('launcher-a', 'n1')
  await control.settle()
  expect(control.named('Logical_Switch_Port', 'launcher-a.default')).toBeDefined()
  await cluster.removePod('launcher-a')
  await control.settle()
  expect(control.named('Logical_Switch_Port', 'launcher-a.default')).toBeUndefined()
})

describe('a machine that is away', () => {
  const networks = { 'k8s.v1.cni.cncf.io/networks': 'net1' }

  async function createNetwork(): Promise<void> {
    await cluster.client.create(networkAttachmentResource, {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { namespace: 'default', name: 'net1' },
      spec: { config: JSON.stringify({ cniVersion: '0.3.0', type: 'kube-ovn' }) },
    } as Parameters<typeof cluster.client.create>[1])
    await cluster.client.create(
      subnetResource,
      subnet({ name: 'att1', cidrBlock: '10.17.0.0/16,fd00:10:17::/112', provider: 'net1.default.ovn' }),
    )
  }

  async function records(): Promise<readonly string[]> {
    const { items } = await cluster.client.list(ipResource)
    return items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('node-'))
  }

  it('keeps all of its networks, but for one that it is unplugged from', async () => {
    await using control = await cluster.startController()
    await createNetwork()
    const plugged = { spec: { networks: [{ multus: { networkName: 'net1' } }, { multus: {} }] } }
    await createMachine(plugged)
    await createLauncher('launcher-a', 'n1', undefined, networks)
    await control.settle()
    const both = ['vm.default', 'vm.default.net1.default.ovn']
    expect(await records()).toEqual(both)
    await cluster.removePod('launcher-a')
    await control.settle()
    expect(await records()).toEqual(both)
    await cluster.client.patch(virtualMachineResource, ref, 'application/merge-patch+json', {
      spec: { template: { spec: { networks: [] } } },
    })
    await control.settle()
    expect(await records()).toEqual(['vm.default'])
    expect(control.portsOf('Logical_Switch', 'att1')).toEqual(['att1-ovn-cluster'])
    expect(control.world.ipam.lease('vm.default.net1.default.ovn')).toBeUndefined()
  })

  it('gives its addresses back when its template names another subnet', async () => {
    await using control = await cluster.startController()
    await createMachine()
    await createLauncher('launcher-a', 'n1')
    await control.settle()
    await cluster.removePod('launcher-a')
    await cluster.client.create(subnetResource, subnet({ name: 'blue', cidrBlock: '10.18.0.0/24' }))
    await cluster.client.patch(virtualMachineResource, ref, 'application/merge-patch+json', {
      spec: { template: { metadata: { annotations: { [keys.logicalSwitch.key]: 'blue' } } } },
    })
    await control.settle()
    expect(await records()).toEqual([])
    await createLauncher('launcher-b', 'n1', undefined, { [keys.logicalSwitch.key]: 'blue' })
    await control.settle()
    expect((await cluster.user.annotationsOf({ name: 'launcher-b' }))[keys.ipAddress.key]).toBe('10.18.0.2')
  })

  it('keeps them while an instance of its own lives, and gives them back when that ends', async () => {
    await using control = await cluster.startController()
    await startMachine()
    await createLauncher('launcher-a', 'n1')
    await control.settle()
    await cluster.removePod('launcher-a')
    await control.settle()
    expect(await records()).toEqual(['vm.default'])
    await cluster.client.remove(virtualMachineInstanceResource, ref)
    await control.settle()
    expect(await records()).toEqual([])
  })
})
