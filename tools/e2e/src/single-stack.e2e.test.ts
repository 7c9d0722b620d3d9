import { monitor, pinger, vpcs, type Cluster } from '@kube-ovn/lab'
import { expect, it, type TestContext } from 'vitest'
import { announcedOneFamily } from './bgp-one-family.ts'
import { findFailures } from './check-failures.ts'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('has nodes of one family alone')
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

// One after the other: the second lab is made when the first one has gone.
for (const stack of ['ipv4', 'ipv6'] as const)
  describe(`a cluster of ${stack} alone`, () => {
    const topology = { id: `only-${stack}`, nodes: 2, stack, routers: ['frr'] } as const
    const lab = isDeep ? useSuiteLab(topology) : undefined
    const clusterOf = (skip: TestContext['skip']): Cluster => {
      skip(!isDeep, 'it takes a lab of its own, and minutes: KUBE_OVN_DEEP=1 runs it')
      return lab?.cluster ?? expect.unreachable('the lab is there in deep runs')
    }

    it('is watched by pingers and monitors, which see what is well and what is broken', async ({ skip }) => {
      expect(await findFailures(clusterOf(skip), [monitor, pinger])).toEqual([])
    })

    it('has VPCs with the same addresses that stay apart, but for what their routes lead to each other', async ({
      skip,
    }) => {
      expect(await findFailures(clusterOf(skip), [vpcs])).toEqual([])
    })

    announcedOneFamily(clusterOf)
  })
