import { runKubernetesSpecs } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab("brings the images of Kubernetes' own specs to its nodes")
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'

describe("Kubernetes' own specs", () => {
  const lab = isDeep ? useSuiteLab({ id: 'conformance', nodes: 2 }) : undefined

  it('of proxies pass: the API server reaches pods and Services', async ({ skip }) => {
    skip(!isDeep, 'they take minutes to build: KUBE_OVN_DEEP=1 runs them')
    const { cluster } = lab ?? expect.unreachable('the lab is there in deep runs')
    const specs = await runKubernetesSpecs(cluster, '\\[sig-network\\] Proxy')
    expect(specs.filter(({ state }) => state !== 'passed')).toEqual([])
    // All that Kubernetes 1.36 has.
    expect(specs.map(({ name }) => name)).toHaveLength(5)
  })
})
