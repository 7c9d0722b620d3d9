import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { fakeAddresses, fakeNodes, nodeObject } from './fake-node.ts'
import { maxFakeNodes } from './plan.ts'

const now = new Date('2026-01-02T03:04:05.678Z')

describe('fake nodes', () => {
  it('have addresses of their own, however many there are', () => {
    const addresses = fakeNodes(maxFakeNodes).flatMap((node) =>
      (['kubernetes', 'tunnel'] as const).flatMap((network) => Object.values(fakeAddresses(node, network))),
    )
    expect(addresses.filter((address) => isIP(address) === 0)).toEqual([])
    expect(new Set(addresses).size).toBe(maxFakeNodes * 4)
  })

  it('are left alone by the scheduler and by DaemonSets for Linux', () => {
    const [node] = fakeNodes(1)
    const object = node && nodeObject(node, 'dual', now)
    expect(object?.spec?.taints).toMatchObject([{ effect: 'NoSchedule' }])
    expect(object?.metadata.labels).not.toHaveProperty(['kubernetes.io/os'])
    expect(object?.status?.addresses?.map(({ address }) => address)).toEqual([
      '198.19.0.1',
      '2001:2:0:19::1',
      'fake-1',
    ])
  })
})
