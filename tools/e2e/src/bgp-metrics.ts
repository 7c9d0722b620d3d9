import { runAt, type LabNode, type Prometheus } from '@kube-ovn/lab'
import { expect, it } from 'vitest'
import type { Speakers } from './bgp-speakers.ts'
import { faultsOf, isAccepted } from './metric-pages.ts'
import { expectSeries, expectToFire, isOfSpeaker } from './prometheus-claims.ts'
import { patience } from './bgp-lab.ts'

interface Watched {
  readonly prometheus: Prometheus
  readonly speakers: Speakers
  readonly nodes: readonly LabNode[]
}

/** What operators see of speakers one of whose neighbors is not there. */
export function speakerMetrics(watched: () => Watched): void {
  it('serve metrics by TLS, to those who may read them, as upstream’s and fit for promtool', async () => {
    const { prometheus, speakers, nodes } = watched()
    for (const node of nodes) {
      await expect.poll(() => speakers.metrics(node), patience).not.toBe('')
      const page = await speakers.metrics(node)
      expect(faultsOf('speaker', page)).toEqual([])
      expect((await prometheus.findFaults(page)).filter((one) => !isAccepted(one))).toEqual([])
      const curl = ['curl', '--insecure', '--silent', '--output', '/dev/null', '--write-out', '%{http_code}']
      for (const [path, status] of [
        ['metrics', '401'],
        ['readyz', '200'],
      ])
        expect(await runAt(node.place, [...curl, `https://127.0.0.1:10667/${path}`])).toBe(status)
    }
  })

  it('have series for every panel of their dashboard, and their alerts fire about the neighbor that is not there', async () => {
    const { prometheus } = watched()
    await expectSeries(prometheus, isOfSpeaker, 5)
    await expectToFire(prometheus, ['KubeOvnBgpSessionDown', 'KubeOvnRoutesNotAdvertised'])
  })
}
