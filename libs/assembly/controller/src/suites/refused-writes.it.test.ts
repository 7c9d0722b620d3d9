import { beforeEach, expect, it } from 'vitest'
import { ControlCluster } from '@kube-ovn/testing-control'

const cluster = ControlCluster.ofSuite()
beforeEach(() => cluster.user.createNodes('n1'))

// A webhook that denies a request without a code is answered 400, and one that is being replaced may deny what is good.
it('tries a patch of a Pod again that was answered 400 some times', async () => {
  const { client, proxy } = await cluster.openFaultyClient()
  await using control = await cluster.startSettled({ client })
  proxy.faults = [{ kind: 'write', path: '/pods/web$', answer: 400, times: 4 }]
  await cluster.user.createPod({ name: 'web' })
  await expect.poll(() => cluster.user.addressOf('web')).toMatch(/^10\.16\./)
  expect(proxy.matched).toBe(4)
  await control.settle()
})
