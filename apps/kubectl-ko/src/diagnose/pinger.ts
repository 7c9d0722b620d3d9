import { KubeOvnError } from '@kube-ovn/errors'
import type { Pod } from '@kube-ovn/kube'
import type { Cluster } from '../cluster.ts'
import { podsOf } from '../components.ts'
import { describeError } from '../describe-error.ts'
import { ComponentMissingError } from '../errors.ts'
import { isReady } from '../view/status-view.ts'
import { eachOf, type Finding } from './finding.ts'

/** A line of what a job of the pinger reports. */
interface Reported {
  readonly check: string
  readonly ok: boolean
  readonly subject: string
  readonly result: string
}

/** The pingers that run, by node; those of one node where it is named. @throws ComponentMissingError */
export async function runningPingers(cluster: Cluster, node?: string): Promise<readonly Pod[]> {
  const running = (await podsOf(cluster, 'kube-ovn-pinger', node)).filter(isReady)
  if (running.length > 0)
    return running.toSorted((a, b) => (a.spec.nodeName ?? '').localeCompare(b.spec.nodeName ?? ''))
  throw new ComponentMissingError(
    'kube-ovn-pinger',
    node ?? '',
    `install it with pinger.enabled=true, or see why it does not run: kubectl -n ${cluster.namespace} get pods -o wide -l app=kube-ovn-pinger`,
  )
}

/** Lets each pinger check once, and tells what all of them found. */
export async function askPingers(
  cluster: Cluster,
  pingers: readonly Pod[],
  flags: readonly string[],
  container = 'pinger',
): Promise<readonly Finding[]> {
  const found = await eachOf(pingers, async ({ metadata: { namespace = '', name }, spec }) => {
    const where = spec.nodeName ?? ''
    try {
      const pod = { namespace, pod: name, container }
      const command = [
        'node',
        '/kube-ovn/pinger.mjs',
        '--mode=job',
        '--output=json',
        '--exit-code=0',
        ...flags,
      ]
      const reported = JSON.parse(await cluster.tell(pod, command)) as readonly Reported[]
      return reported.map(({ check, ok, subject, result }): Finding => ({
        where,
        check,
        subject,
        isGood: ok,
        result,
      }))
    } catch (error) {
      if (!(error instanceof KubeOvnError)) throw error
      return [{ where, check: 'pinger', subject: name, isGood: false, result: describeError(error) }]
    }
  })
  return found.flat()
}
