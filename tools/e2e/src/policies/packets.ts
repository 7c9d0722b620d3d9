import {
  addressesOfPod,
  askHere,
  eventually,
  namespaceOf,
  nbctl,
  placeOf,
  podProcesses,
  startPing,
  type Cluster,
  type Place,
  type PodObject,
  type Question,
  type SteadyPing,
} from '@kube-ovn/lab'
import { expect } from 'vitest'

/** The address of a pod that has the family of another one. */
export function addressLike(other: string, pod: PodObject): string {
  const found = addressesOfPod(pod).find((address) => address.includes(':') === other.includes(':'))
  if (found === undefined)
    throw new Error(`pod ${pod.metadata.name} has no address of the family of ${other}`)
  return found
}

/** Pings from each of some pods to all addresses, those of a pod for example. */
export async function startPings(
  cluster: Cluster,
  from: readonly PodObject[],
  to: readonly string[],
): Promise<readonly SteadyPing[]> {
  const pings = from.flatMap((pod) => to.map((address) => startPing(placeOf(cluster, pod), address)))
  await Promise.all(pings.map((ping) => ping.started()))
  return pings
}

/** Ends pings that run, each of which is to have been answered every time, at least so often. */
export async function expectNoneLost(pings: readonly SteadyPing[], packets: number): Promise<void> {
  const losses = await Promise.all(pings.map((ping) => ping.stop()))
  expect(losses.map(({ lost }) => lost)).toEqual(pings.map(() => []))
  expect(Math.min(...losses.map(({ sent }) => sent))).toBeGreaterThan(packets)
}

/** Returns when all that the Northbound has is in effect on all nodes. */
export async function untilInEffect(central: Place): Promise<void> {
  await nbctl(central, '--wait=hv', 'sync')
}

/** Has a policy edited, and returns when other rules or peers than before are in effect on all nodes. */
export async function untilEdited(
  central: Place,
  group: string,
  edit: () => Promise<unknown>,
): Promise<void> {
  const seen = async () => [
    await nbctl(central, 'acl-list', group),
    await nbctl(central, '--columns=name,addresses', 'list', 'Address_Set'),
  ]
  const before = String(await seen())
  await edit()
  await eventually('the rules are other ones', async () =>
    String(await seen()) === before ? undefined : true,
  )
  await untilInEffect(central)
}

/** Ends what runs in a pod, whatever time it has for that. */
export function endPod(pod: PodObject): void {
  // The first process is the sandbox, which goes with the others.
  for (const pid of podProcesses(pod.metadata.uid ?? '').slice(1)) process.kill(pid, 'SIGKILL')
}

/** Whether a port of a pod that is known answers, at each of its addresses, from the network of another. */
export async function isReached(
  from: Place,
  to: PodObject,
  listener: Place,
  port: number,
): Promise<readonly boolean[]> {
  const questions = addressesOfPod(to).map((target): Question => ({
    ...{ netns: namespaceOf(from), target, port, protocol: 'tcp', isOurs: true, timeoutMs: 1500 },
    listeners: [{ netns: namespaceOf(listener), address: target, port, protocol: 'tcp' }],
  }))
  return (await askHere(questions)).map(({ kind }) => kind === 'reached')
}
