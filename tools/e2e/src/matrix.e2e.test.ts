import {
  addressesOfPod,
  deployProbes,
  eventually,
  isPodReady,
  kubectl,
  LabTimeoutError,
  podStage,
  probeLabel,
  probeNamespace,
  renderMatrix,
  runMatrixOn,
  type MatrixResult,
  type MatrixRuleInput,
  type PodObject,
} from '@kube-ovn/lab'
import { leaveBundleOnFailure } from '@kube-ovn/testing-bundle'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refuseUnexplainedRows } from './explained-rows.ts'
import { givenKubeconfig } from './given-cluster.ts'
import { givenProbeImage, openSuiteCluster, type SuiteCluster } from './suite-cluster.ts'

/** Runs on any cluster that has the chart: pods of the probe ask each other, and nothing is entered. */
let cluster: SuiteCluster

const isSkipped = givenKubeconfig !== undefined && givenProbeImage === undefined
const reason = isSkipped ? ' (skipped: KUBE_OVN_PROBE_IMAGE does not say where the nodes get the probe)' : ''

const pods: MatrixRuleInput['from'] = [{ namespace: probeNamespace, pods: `app=${probeLabel.pods}` }]

/** What a matrix says once nothing differs, as flows of other nodes follow pods that are Ready; or else what it said last. */
async function run(...rules: readonly MatrixRuleInput[]): Promise<MatrixResult> {
  let last: MatrixResult = { rows: [], ms: 0 }
  await eventually('nothing differs', async () => {
    last = await runMatrixOn(podStage(cluster), rules)
    return last.rows.every(({ verdict }) => verdict !== 'differs') ? true : undefined
  }).catch((error: unknown) => {
    if (!(error instanceof LabTimeoutError)) throw error
  })
  return last
}

/** Expects that nothing differs, and that every protocol that is not skipped was tried in each family of the cluster. */
function expectAll(result: MatrixResult): void {
  const differing = result.rows.filter(({ verdict }) => verdict === 'differs')
  expect(differing.length === 0 ? '' : renderMatrix(result)).toBe('')
  const asked = result.rows.filter(({ verdict }) => verdict === 'as expected')
  const families = cluster.stack === 'dual' ? 2 : 1
  expect(new Set(asked.map(({ family }) => family)).size).toBe(families)
}

describe.skipIf(isSkipped)(`a matrix between pods of the probe${reason}`, () => {
  const lifetime = new AsyncDisposableStack()

  beforeAll(async () => {
    cluster = lifetime.use(await openSuiteCluster({ id: 'matrix', nodes: 2 }))
    lifetime.use(await deployProbes(cluster.api, await cluster.bringProbe(), 4))
  })

  beforeEach(() => leaveBundleOnFailure(cluster.evidence))

  refuseUnexplainedRows(() => cluster.unexplainedRows())

  afterAll(() => lifetime.disposeAsync())

  it('lets pods reach each other by every protocol that the kernel has, with their own addresses', async () => {
    const result = await run(
      { from: pods, to: pods, by: ['ping', 'sctp'] },
      { from: pods, to: pods, by: ['tcp', 'udp', 'http', 'multicast'], expect: { source: 'own' } },
    )
    expectAll(result)
    const skipped = result.rows.filter(({ verdict }) => verdict === 'skipped')
    expect(skipped.filter(({ protocol }) => protocol !== 'sctp')).toEqual([])
  })

  it('carries the mark of packets from pod to pod', async () => {
    const result = await run({ from: pods, to: pods, by: ['udp'], dscp: 46 })
    expectAll(result)
    expect(new Set(result.rows.map(({ dscp }) => dscp))).toEqual(new Set([46]))
  })

  it('lets pods and nodes reach each other', async () => {
    const by = ['ping', 'tcp', 'udp'] as const
    expectAll(
      await run({ from: pods, to: ['nodes'], by: [...by] }, { from: ['nodes'], to: pods, by: [...by] }),
    )
  })

  it('lets pods reach a Service and the DNS', async () => {
    const service = { namespace: probeNamespace, service: probeLabel.pods }
    const dns = { namespace: 'kube-system', service: 'kube-dns', port: 53 }
    expectAll(
      await run({ from: pods, to: [service], by: ['tcp', 'http'] }, { from: pods, to: [dns], by: ['dns'] }),
    )
  })

  it('tells what is not reached', async () => {
    const nobody: MatrixRuleInput['to'] = [{ address: '192.0.2.1' }]
    const result = await run({ from: pods, to: nobody, by: ['ping'], expect: 'no-reach' })
    // Its addresses are of one family.
    expect(result.rows.map(({ verdict }) => verdict)).toEqual(
      cluster.stack === 'ipv6' ? [] : result.rows.map(() => 'as expected'),
    )
  })

  it('measures how fast a stream goes from pod to pod', async () => {
    const found = await cluster.api.list<PodObject>(
      `/api/v1/namespaces/${probeNamespace}/pods?labelSelector=app%3D${probeLabel.pods}`,
    )
    const [from, to] = found.filter(isPodReady)
    if (from === undefined || to === undefined) return expect.unreachable()
    for (const address of addressesOfPod(to)) {
      const command = ['kube-ovn-probe', 'rate', address, '18080', '500']
      const text = await kubectl(cluster, 'exec', '-n', probeNamespace, from.metadata.name, '--', ...command)
      // How fast that is depends on what else the machine does.
      expect((JSON.parse(text) as { mbps: number }).mbps).toBeGreaterThan(0)
    }
  })
})
