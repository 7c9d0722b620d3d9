import { applyAll, idlePod, takeDownPod, untilPod, waitForObjects, type ApiObject } from '@kube-ovn/lab'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Ko, KoSuite } from './suite.ts'

interface Told {
  readonly verdict: string
  readonly steps: readonly { readonly step: string; readonly state: string; readonly by: string }[]
  readonly events: readonly { readonly by: string; readonly message: string }[]
}

interface WarningEvent extends ApiObject {
  readonly type?: string
  readonly message: string
  readonly source?: { readonly component?: string }
}

/** Pods that never get as far as to run, and whose fault that is. */
const stuck = [
  {
    name: 'fits-nowhere',
    annotations: {},
    changes: { nodeSelector: { 'kubernetes.io/hostname': 'no-such-node' } },
    owes: { step: 'scheduled', state: 'missing', by: 'the scheduler' },
    says: /node/,
  },
  {
    name: 'in-no-subnet',
    annotations: { 'ovn.kubernetes.io/logical_switch': 'no-such-subnet' },
    changes: {},
    owes: { step: 'addresses', state: 'missing', by: 'kube-ovn-controller' },
    says: /no-such-subnet/,
  },
  {
    name: 'of-no-address',
    annotations: { 'ovn.kubernetes.io/ip_address': '203.0.113.9' },
    changes: {},
    owes: { step: 'addresses', state: 'missing', by: 'kube-ovn-controller' },
    says: /203\.0\.113\.9/,
  },
] as const

/** Why pods do not run, as far as their network is concerned. */
export function describeWhy(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  /** Makes an idle pod that differs, for as long as the test takes, and yields its name. */
  async function make(name: string, annotations: Readonly<Record<string, string>>, changes: object) {
    const { spec, ...plain } = idlePod({ name: `why-${name}`, namespace: 'shop', annotations })
    const pod = { ...plain, spec: { ...(spec as object), ...changes } }
    await applyAll(given().cluster.api, [pod])
    onTestFinished(() => takeDownPod(given().cluster.api, pod))
    return pod.metadata.name
  }

  /** Waits until somebody has said something of a pod. */
  function untilSaid(pod: string, says: (event: WarningEvent) => boolean): Promise<true> {
    const path = `/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name%3D${pod}`
    return waitForObjects<WarningEvent, true>(
      given().cluster.api,
      path,
      `something is said of ${pod}`,
      (events) => (events.some((event) => event.type === 'Warning' && says(event)) ? true : undefined),
    )
  }

  async function told(pod: string): Promise<{ readonly exitCode: number; readonly answer: Told }> {
    const { exitCode, stdout } = await ko('why', `shop/${pod}`, '-o', 'json')
    return { exitCode, answer: JSON.parse(stdout) as Told }
  }

  describe('why', () => {
    it.each(stuck)(
      'names the step that $name lacks, who owes it, and what they say',
      async ({ name, annotations, changes, owes, says }) => {
        const pod = await make(name, annotations, changes)
        await untilSaid(pod, ({ message }) => says.test(message))
        const { exitCode, answer } = await told(pod)
        expect(exitCode).toBe(1)
        expect(answer.events.map(({ message }) => message)).toContainEqual(expect.stringMatching(says))
        expect(answer.steps.find(({ state }) => state === 'missing')).toMatchObject(owes)
        expect(answer.verdict).toMatch(
          new RegExp(`^${owes.step} is missing for \\d+\\w+.*: ${owes.by} owes it$`),
        )
        const { stdout } = await ko('why', `shop/${pod}`)
        expect(stdout.trimEnd().split('\n').at(-1)).toContain(`${owes.by} owes it`)
        expect(stdout).toMatch(says)
      },
    )

    it('finds nothing missing of a pod that has its network, and fails for another reason', async () => {
      const containers = [
        { name: 'pod', image: 'docker.io/library/busybox:stable', command: ['no-such-command'] },
      ]
      const pod = await make('no-command', {}, { containers })
      await untilSaid(pod, ({ source }) => source?.component === 'kubelet')
      await untilPod(
        given().cluster.api,
        'shop',
        pod,
        'has a sandbox',
        (found) =>
          found?.status?.conditions?.some(
            ({ type, status }) => type === 'PodReadyToStartContainers' && status === 'True',
          ) === true,
      )
      const { exitCode, answer } = await told(pod)
      expect({ exitCode, verdict: answer.verdict }).toEqual({ exitCode: 0, verdict: 'nothing is missing' })
      expect(answer.events.map(({ by }) => by)).toContain('kubelet')
    })
  })
}
