import { applyAll, idlePod, takeDownPod } from '@kube-ovn/lab'
import { describe, expect, it } from 'vitest'
import type { Ko, KoSuite } from './suite.ts'

interface Told {
  readonly verdict: string
  readonly steps: readonly { readonly step: string; readonly state: string; readonly by: string }[]
  readonly events: readonly { readonly by: string; readonly message: string }[]
}

/** Pods that never get as far as to run, and whose fault that is. */
const stuck = [
  {
    name: 'fits-nowhere',
    annotations: {},
    nodeSelector: { 'kubernetes.io/hostname': 'no-such-node' },
    owes: { step: 'scheduled', state: 'missing', by: 'the scheduler' },
    says: /node/,
  },
  {
    name: 'in-no-subnet',
    annotations: { 'ovn.kubernetes.io/logical_switch': 'no-such-subnet' },
    nodeSelector: undefined,
    owes: { step: 'addresses', state: 'missing', by: 'kube-ovn-controller' },
    says: /no-such-subnet/,
  },
  {
    name: 'of-no-address',
    annotations: { 'ovn.kubernetes.io/ip_address': '203.0.113.9' },
    nodeSelector: undefined,
    owes: { step: 'addresses', state: 'missing', by: 'kube-ovn-controller' },
    says: /203\.0\.113\.9/,
  },
] as const

/** Why pods do not run, as far as their network is concerned. */
export function describeWhy(given: () => KoSuite): void {
  const ko: Ko = (...args) => given().ko(...args)

  async function told(name: string): Promise<{ readonly exitCode: number; readonly told: Told }> {
    const { exitCode, stdout } = await ko('why', `shop/${name}`, '-o', 'json')
    return { exitCode, told: JSON.parse(stdout) as Told }
  }

  describe('why', () => {
    it.each(stuck)(
      'names the step that $name lacks, who owes it, and what they say',
      async ({ name, annotations, nodeSelector, owes, says }) => {
        const { spec, ...plain } = idlePod({ name: `why-${name}`, namespace: 'shop', annotations })
        const pod = { ...plain, spec: { ...(spec as object), nodeSelector } }
        await applyAll(given().cluster.api, [pod])
        try {
          await expect
            .poll(async () => (await told(pod.metadata.name)).told.events.map(({ message }) => message), {
              timeout: 180_000,
            })
            .toContainEqual(expect.stringMatching(says))
          const { exitCode, told: answer } = await told(pod.metadata.name)
          expect(exitCode).toBe(1)
          expect(answer.steps.find(({ state }) => state === 'missing')).toMatchObject(owes)
          expect(answer.verdict).toMatch(
            new RegExp(`^${owes.step} is missing for \\d+\\w+.*: ${owes.by} owes it$`),
          )
          const { stdout } = await ko('why', `shop/${pod.metadata.name}`)
          expect(stdout.trimEnd().split('\n').at(-1)).toContain(`${owes.by} owes it`)
          expect(stdout).toMatch(says)
        } finally {
          await takeDownPod(given().cluster.api, pod)
        }
      },
    )

    it('finds nothing missing of a pod that has its network, and fails for another reason', async () => {
      const { spec, ...plain } = idlePod({ name: 'why-no-command', namespace: 'shop' })
      const containers = [
        { name: 'pod', image: 'docker.io/library/busybox:stable', command: ['no-such-command'] },
      ]
      const pod = { ...plain, spec: { ...(spec as object), containers } }
      await applyAll(given().cluster.api, [pod])
      try {
        await expect
          .poll(async () => (await told(pod.metadata.name)).told.verdict, { timeout: 180_000 })
          .toBe('nothing is missing')
        await expect
          .poll(async () => (await told(pod.metadata.name)).told.events.map(({ by }) => by), {
            timeout: 180_000,
          })
          .toContain('kubelet')
        expect((await told(pod.metadata.name)).exitCode).toBe(0)
      } finally {
        await takeDownPod(given().cluster.api, pod)
      }
    })
  })
}
