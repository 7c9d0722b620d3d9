import {
  applyAll,
  deleteAll,
  eventually,
  missingForIpvs,
  readExample,
  renderMatrix,
  runMatrix,
  services,
  untilPodsReady,
  type MatrixRow,
} from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFailures } from './check-failures.ts'
import { describeInLab } from './describe-in-lab.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('has nodes with kube-proxy in the mode ipvs')
const missing = missingForIpvs()
const example = '01-two-subnets'

const lab =
  missing === undefined ? useSuiteLab({ id: 'ipvs', nodes: 2, stack: 'dual', proxyMode: 'ipvs' }) : undefined

beforeAll(async () => {
  if (lab === undefined) return
  await applyAll(lab.cluster.api, readExample(example, 'dual'))
  await untilPodsReady(lab.cluster.api, 'shop', 'app=web', 3)
})

afterAll(async () => {
  if (lab !== undefined) await deleteAll(lab.cluster.api, readExample(example, 'dual'))
})

describe('beside kube-proxy in the mode ipvs', () => {
  it('pods are led to Services by OVN, and nodes by IPVS', async ({ skip }) => {
    skip(
      missing !== undefined,
      `${missing ?? ''}: rows and traces are those of libs/features/services, whatever kube-proxy there is`,
    )
    const { cluster } = lab ?? expect.unreachable('the lab is there where the kernel has IPVS')
    expect(await findFailures(cluster, [services])).toEqual([])
    let rows: readonly MatrixRow[] = []
    await eventually('nodes and pods reach the DNS by its Service', async () => {
      const to = [{ namespace: 'kube-system', service: 'kube-dns', port: 53 }]
      const from = ['nodes' as const, { namespace: 'shop', pods: 'app=web' }]
      ;({ rows } = await runMatrix(cluster, [{ from, to, by: ['tcp', 'udp'] }]))
      return rows.every(({ verdict }) => verdict === 'as expected') ? true : undefined
    }).catch(() => expect.unreachable(renderMatrix({ rows, ms: 0 })))
    // Two nodes and three pods, by two protocols of two families.
    expect(rows).toHaveLength(5 * 4)
  })
})
