import { askHere, eventually, untilPodsReady, untilRolledOut, type Cluster } from '@kube-ovn/lab'
import { talksWith } from './long-talks.ts'
import { questionsTo, servers, service, withServers } from './service-traffic.ts'

/** Which backends have answered each long flow of UDP, in their order, and that it goes on. */
export interface HeldFlow {
  readonly at: readonly string[]
  readonly isAnswered: boolean
}

/**
 * Has long flows of UDP to the one backend that a Service has, gives the Service five more, and lets something happen that is about others.
 *
 * New flows come to any of the six. So does one that is forgotten on its way, since what it sends looks new: of eight, one at least goes
 * elsewhere but in one of a million cases.
 */
export async function flowsHeldDuring(
  cluster: Cluster,
  namespace: string,
  happen: () => Promise<void>,
): Promise<{ readonly backend: readonly string[]; readonly flows: readonly HeldFlow[] }> {
  const [name, few, many] = ['calm', 1, 6]
  const labels = `of=${name}`
  const calm = service(name, namespace, { selector: { of: name } })
  await using served = await withServers(cluster, calm, [servers(name, namespace, few)])
  const pods = await untilPodsReady(cluster.api, namespace, labels, few)
  using stack = new DisposableStack()
  const talks = await talksWith(cluster, served, { pods, protocol: 'udp', count: 8 }, stack)
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`
  await cluster.api.mergePatch(path, { spec: { replicas: many } })
  await untilRolledOut(cluster.api, 'deployments', namespace, name)
  const seen = new Set<string>()
  const questions = questionsTo(cluster, served.clients, served.addresses)
  // Of each family.
  await eventually('new flows come to all backends', async () => {
    for (const outcome of await askHere(questions))
      if (outcome.kind === 'reached' && outcome.seen?.at !== undefined) seen.add(outcome.seen.at)
    return seen.size === served.addresses.length * many ? true : undefined
  })
  await happen()
  const before = talks.map(({ answered }) => answered)
  const isAnswered = (): readonly boolean[] =>
    talks.map(({ answered }, index) => answered > (before[index] ?? 0))
  await eventually('flows go on', () => Promise.resolve(isAnswered().every(Boolean) ? true : undefined), {
    timeoutMs: 60_000,
    // Those that do not are told by what is returned.
  }).catch(() => undefined)
  const answered = isAnswered()
  return {
    backend: pods.flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? []),
    flows: talks.map(({ at }, index) => ({ at: [...at], isAnswered: answered[index] === true })),
  }
}
