import { applyAll, deleteAll, idlePod, untilPodsReady, upgradeChart, type ApiObject } from '@kube-ovn/lab'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInLab } from './describe-in-lab.ts'
import { flowsHeldDuring } from './held-flows.ts'
import { lossOfNode } from './node-loss.ts'
import { servedDuring } from './service-traffic.ts'
import { useSuiteLab } from './suite-lab.ts'

const describe = describeInLab('cuts the power of a node')
const isDeep = process.env['KUBE_OVN_DEEP'] === '1'
const why = 'it takes a lab of its own, and minutes: KUBE_OVN_DEEP=1 runs it'

const namespace = 'churn'
const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
/** Where the databases are not, nor clients. */
const victim = 'node-3'
const clients: readonly ApiObject[] = ['node-1', 'node-2'].map((node, index) =>
  idlePod({ name: `client-${index + 1}`, namespace, labels: { app: 'client' } }, node),
)
const limit = 600_000

/** The one controller is elsewhere: it would be some minutes before Kubernetes gave it another node. */
const elsewhere = { key: 'kubernetes.io/hostname', operator: 'NotIn', values: [victim] }
const values = {
  controller: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ matchExpressions: [elsewhere] }] },
  },
}
const lab = isDeep ? useSuiteLab({ id: 'churn', nodes: 3, stack: 'dual' }, { values }) : undefined

beforeAll(async () => {
  if (lab === undefined) return
  await applyAll(lab.cluster.api, [home, ...clients])
  await untilPodsReady(lab.cluster.api, namespace, 'app=client', clients.length)
})

afterAll(async () => {
  if (lab !== undefined) await deleteAll(lab.cluster.api, [home])
})

const layouts = ['shared', 'per-service'] as const

for (const layout of layouts)
  describe(`under constant requests and long connections, with load balancers ${layout}`, () => {
    beforeAll(async () => {
      if (lab !== undefined && layout === 'per-service')
        await upgradeChart(lab.cluster, { ...values, features: { loadBalancerLayout: layout } })
    }, limit)

    afterAll(async () => {
      if (lab !== undefined && layout === 'per-service') await upgradeChart(lab.cluster, values)
    }, limit)

    it(
      'a rolling update fails no request, parts nobody who stays, nor flows of another Service',
      { timeout: limit },
      async ({ skip }) => {
        skip(!isDeep, why)
        const { cluster } = lab ?? expect.unreachable('the lab is there in deep runs')
        let served: Awaited<ReturnType<typeof servedDuring>> | undefined
        const { backend, flows } = await flowsHeldDuring(cluster, namespace, async () => {
          served = await servedDuring(cluster, namespace, ({ rollOut }) => rollOut())
        })
        const { asked, failed, unanswered } = served ?? expect.unreachable('it was asked')
        expect({ failed, unanswered }).toEqual({ failed: [], unanswered: 0 })
        // Of every client, by every protocol, at every address, again and again.
        expect(asked).toBeGreaterThan(5 * 44)
        expect(flows).toHaveLength(8)
        for (const flow of flows) {
          expect(flow).toEqual({ at: [expect.toBeOneOf([...backend])], isAnswered: true })
        }
      },
    )

    it(
      'the end of a node fails no request that begins when Kubernetes knows of it',
      { timeout: limit },
      async ({ skip }) => {
        skip(!isDeep, why)
        const { cluster } = lab ?? expect.unreachable('the lab is there in deep runs')
        const { later, followedMs, ...rest } = await lossOfNode(cluster, namespace, victim)
        process.stdout.write(`${layout}: led elsewhere ${followedMs} ms after the node was not ready\n`)
        expect(rest).toEqual({ failed: [], unanswered: 0, parted: 0, stuck: 0 })
        expect(later).toBeGreaterThanOrEqual(10 * 8)
      },
    )
  })
