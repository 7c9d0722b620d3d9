import { podAnnotations } from '@kube-ovn/annotations'
import { vipResource } from '@kube-ovn/kube-api'
import { vip } from '@kube-ovn/testing-builders'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  address,
  addresses,
  ControlCluster,
  createInBlue,
  dualStack,
  type Stack,
  stacks,
  startWithBlue,
  tiny,
} from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

const keys = podAnnotations()

/** Puts a port on the switch of the subnet, as somebody does who has a virtual machine of his own there. */
async function plug(name: string, stack: Stack, host: number): Promise<void> {
  const text = ['00:00:5e:00:53:07', ...addresses(stack, host)].join(' ')
  await cluster.northbound.nbctl('lsp-add', 'blue', name, '--', 'lsp-set-addresses', name, text)
}

describe.each(stacks)('In a subnet of $stack, a port that somebody else put there', (stack) => {
  it('keeps its addresses to itself, from when it comes until it goes, over a restart too', async () => {
    const control = await startWithBlue(cluster, stack)
    await plug('vm-2', stack, 2)
    await plug('vm-3', stack, 3)
    await control.settle()
    await createInBlue(cluster, control, ['a'])
    await control[Symbol.asyncDispose]()
    await plug('vm-5', stack, 5)
    await cluster.forgetCosts()
    await using again = await cluster.startController()
    await again.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })
    await createInBlue(cluster, again, ['b'])
    await cluster.client.create(vipResource, vip({ name: 'v', subnet: 'blue' }))
    await cluster.northbound.nbctl('lsp-del', 'vm-3')
    await again.settle()
    expect(await cluster.user.addressesOf('a', 'b')).toEqual([address(stack, 4), address(stack, 6)])
    const { v4ip, v6ip } = (await cluster.client.get(vipResource, { name: 'v' }))?.status ?? {}
    expect([v4ip, v6ip].filter((text) => text !== undefined && text !== '')).toEqual(addresses(stack, 7))
    expect(again.portsOf('Logical_Switch', 'blue')).toEqual(expect.arrayContaining(['vm-2', 'vm-5']))
  })

  it('leaves the last address to who waits for it once it goes', async () => {
    await using control = await startWithBlue(cluster, tiny(stack))
    await plug('vm', stack, 2)
    await control.settle()
    await createInBlue(cluster, control, ['waits'])
    expect(await cluster.user.addressOf('waits')).toBe('')
    await cluster.northbound.nbctl('lsp-del', 'vm')
    await control.settle()
    expect(await cluster.user.addressOf('waits')).toBe(address(stack, 2))
  })
})

it.each(stacks)(
  'In a subnet of $stack, a node leaves its address to who waits for the last one once it has another',
  async (stack) => {
    await using control = await startWithBlue(cluster, tiny(stack))
    await cluster.user.renumberNode('n1', ...addresses(stack, 2))
    await control.settle()
    await createInBlue(cluster, control, ['waits'])
    expect(await cluster.user.addressOf('waits')).toBe('')
    await cluster.user.renumberNode('n1', '172.18.0.11', 'fd00:18::11')
    await control.settle()
    expect(await cluster.user.addressOf('waits')).toBe(address(stack, 2))
  },
)

it('an address of such a port is given to whoever asks for that one', async () => {
  await using control = await startWithBlue(cluster, dualStack)
  await plug('vm', dualStack, 9)
  await control.settle()
  await createInBlue(cluster, control, ['wants'], { [keys.ipAddress.key]: address(dualStack, 9) })
  expect(await cluster.user.addressOf('wants')).toBe(address(dualStack, 9))
})
