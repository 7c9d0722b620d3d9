import { openNetlink } from '@kube-ovn/netlink'
import { missingForNamespaces } from '@kube-ovn/testing-net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestNode } from '../testing/test-node.ts'

const missing = missingForNamespaces('nft')

describe.skipIf(missing)(
  `taps of bridges in user space${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let node: TestNode

    beforeEach(async () => {
      node = await TestNode.start()
      for (const bridge of ['br-int', 'br-phy', 'br-kernel']) {
        await node.database.vsctl('add-br', bridge)
        makeDevice(bridge)
      }
      await node.database.vsctl('set', 'Bridge', 'br-phy', 'datapath_type=netdev')
    })
    afterEach(() => node?.[Symbol.asyncDispose]())

    /** Does what ovs-vswitchd does. */
    function makeDevice(name: string): void {
      node.host.run('ip', 'link', 'add', name, 'type', 'bridge')
    }

    function offload(name: string): string {
      using host = openNetlink({ netns: node.host.path })
      return host.offload(name)?.txChecksum === true ? 'on' : 'off'
    }

    it('are left alone while br-int is in the kernel, get no offload when it is not, and a restart writes nothing', async () => {
      const first = node.startAgent()
      expect(await first.settle()).toEqual([])
      expect([offload('br-phy'), offload('br-int')]).toEqual(['on', 'on'])
      await node.database.vsctl('set', 'Bridge', 'br-int', 'datapath_type=netdev')
      await expect.poll(() => [offload('br-phy'), offload('br-int')]).toEqual(['off', 'off'])
      expect(await first.settle()).toEqual([])
      expect(offload('br-kernel')).toBe('on')
      await first.stop()
      const second = node.startAgent()
      expect(await second.settle()).toEqual([])
      expect(await second.writes()).toBe(0)
    })

    it('have none again when vswitchd has made them anew', async () => {
      await node.database.vsctl('set', 'Bridge', 'br-int', 'datapath_type=netdev')
      const agent = node.startAgent()
      await agent.settle()
      expect(offload('br-phy')).toBe('off')
      node.host.run('ip', 'link', 'del', 'br-phy')
      makeDevice('br-phy')
      await expect.poll(() => offload('br-phy')).toBe('off')
      expect(await agent.settle()).toEqual([])
    })
  },
)
