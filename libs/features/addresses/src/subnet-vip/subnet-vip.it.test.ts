import { podAnnotations } from '@kube-ovn/annotations'
import { subnetResource } from '@kube-ovn/kube-api'
import { subnet } from '@kube-ovn/testing-builders'
import { ControlCluster, inBlue, type Controller } from '@kube-ovn/testing-control'
import { beforeEach, describe, expect, it } from 'vitest'

const cluster = ControlCluster.ofSuite()
const vips = ['10.17.0.100', 'fd00:17::100']
beforeEach(async () => {
  await cluster.user.createNodes('n1')
  const blue = subnet({ name: 'blue', cidrBlock: '10.17.0.0/24,fd00:17::/112', vips })
  await cluster.client.create(subnetResource, blue)
})

/** As `address: parents`. */
function ports(control: Controller): readonly string[] {
  return control
    .rows('Logical_Switch_Port', 'name', 'type', 'options')
    .filter(({ name, type }) => type === 'virtual' && name.startsWith('blue-vip-'))
    .map(({ options }) => `${options['virtual-ip']}: ${options['virtual-parents'] ?? ''}`.trim())
    .sort()
}

async function createSpeaker(name: string, address: string): Promise<void> {
  const annotations = { ...inBlue, [podAnnotations().portVips.key]: address }
  await cluster.user.createPod({ name, annotations })
}

describe('the addresses of a subnet that its ports may take in turns', () => {
  it('have a port each, whose parents are the pods that name them', async () => {
    await using control = await cluster.startSettled()
    expect(ports(control)).toEqual(['10.17.0.100:', 'fd00:17::100:'])
    for (const name of ['a', 'b']) await createSpeaker(name, '10.17.0.100')
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.100: a.default,b.default', 'fd00:17::100:'])
    await cluster.user.annotate({ name: 'b' }, { [podAnnotations().portVips.key]: 'fd00:17::100' })
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.100: a.default', 'fd00:17::100: b.default'])
    await cluster.removePod('a')
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.100:', 'fd00:17::100: b.default'])
  })

  it('follow the list by one transaction, hold when it is bad, and go with it', async () => {
    await using control = await cluster.startSettled()
    await cluster.user.edit(subnetResource, 'blue', { vips: ['10.17.0.101', 'fd00:17::100'] })
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.101:', 'fd00:17::100:'])
    expect((await cluster.costs()).transactions).toBe(1)
    await cluster.user.edit(subnetResource, 'blue', { vips: ['10.99.0.1'] })
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.101:', 'fd00:17::100:'])
    await cluster.user.edit(subnetResource, 'blue', { vips: [] })
    await control.settle()
    expect(ports(control)).toEqual([])
    await cluster.user.edit(subnetResource, 'blue', { vips })
    await control.settle()
    expect(ports(control)).toHaveLength(2)
    await cluster.client.remove(subnetResource, { name: 'blue' })
    await control.settle()
    expect(ports(control)).toEqual([])
  })

  it('are the same after a restart, and when somebody broke them, beside a foreign port', async () => {
    await createSpeaker('a', '10.17.0.100')
    await (await cluster.startSettled())[Symbol.asyncDispose]()
    await using control = await cluster.startController()
    await control.settle()
    expect(await cluster.costs()).toEqual({ transactions: 0, writes: [] })

    const { northbound } = cluster
    const port = 'blue-vip-10.17.0.100'
    await northbound.nbctl('lsp-add', 'blue', 'theirs')
    await northbound.nbctl('set', 'Logical_Switch_Port', port, 'options:virtual-parents=theirs', 'type=""')
    await northbound.nbctl('lsp-del', 'blue-vip-fd00:17::100')
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.100: a.default', 'fd00:17::100:'])
    await northbound.nbctl('clear', 'Logical_Switch', 'blue', 'ports')
    await northbound.nbctl('lsp-add', 'blue', 'theirs')
    await control.settle()
    expect(ports(control)).toEqual(['10.17.0.100: a.default', 'fd00:17::100:'])
    expect(control.portsOf('Logical_Switch', 'blue')).toContain('theirs')
  })
})
