import { pods } from '@kube-ovn/kube'
import { vipResource } from '@kube-ovn/kube-api'
import { missingForGobgp } from '@kube-ovn/testing-bgp'
import { describe, expect, it } from 'vitest'
import { bgp, own, SpeakerNode } from './speaker-fixture.ts'

const missing = missingForGobgp()
const merge = 'application/merge-patch+json'

describe.skipIf(missing)(`Vips${missing === undefined ? '' : ` (${missing})`}`, () => {
  const node = SpeakerNode.ofSuite()
  const told = (): Readonly<Record<string, string>> => node.told()

  function annotate(policy: string | null): Promise<unknown> {
    return node.api.client.patch(vipResource, { name: 'front' }, merge, {
      metadata: { annotations: { [bgp]: policy } },
    })
  }

  function share(pod: string, vips: string | null): Promise<unknown> {
    const ref = { namespace: 'default', name: pod }
    const annotations = { 'ovn.kubernetes.io/aaps': vips }
    return node.api.client.patch(pods, ref, merge, { metadata: { annotations, labels: { app: 'web' } } })
  }

  it('are announced as their annotation says, and follow the Pods that have their addresses', async () => {
    await node.createSubnet('red', '10.16.0.0/16,fd00:10:16::/112')
    for (const [name, where, address] of [
      ['here', 'node-1', '10.16.0.5'],
      ['there', 'node-2', '10.16.0.6'],
    ] as const)
      await node.createPod(name, where, address)
    await node.api.client.create(vipResource, {
      metadata: { name: 'front' },
      spec: { subnet: 'red', namespace: 'default', selector: ['app:web'] },
      status: { v4ip: '10.16.0.200', v6ip: 'fd00:10:16::c8', mac: '00:00:00:5e:00:c8' },
    })
    node.start()
    const addresses = { '10.16.0.200/32': own.ipv4, 'fd00:10:16::c8/128': own.ipv6 }
    await annotate('true')
    await expect.poll(told).toEqual(addresses)
    await annotate('local')
    await expect.poll(told).toEqual({})
    await share('there', 'front')
    await share('here', 'front')
    await expect.poll(told).toEqual(addresses)
    await share('here', null)
    await expect.poll(told).toEqual({})
    await annotate('everywhere')
    await expect
      .poll(() => node.log.lines)
      .toContainEqual(
        expect.objectContaining({
          level: 'warn',
          fields: expect.objectContaining({ object: 'Vip/front', field: bgp, value: 'everywhere' }),
        }),
      )
    // A Pod has it as its own.
    await node.createPod('borrower', 'node-1', '10.16.0.200,fd00:10:16::c8')
    await annotate('local')
    await expect.poll(told).toEqual(addresses)
    await node.api.client.remove(vipResource, { name: 'front' })
    await expect.poll(told).toEqual({})
  })
})
