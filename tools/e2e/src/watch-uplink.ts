import { givenKubeconfig } from './given-cluster.ts'
import { watchUplink, type UplinkWatch } from '@kube-ovn/lab'

let watch: UplinkWatch | undefined

/** Begins to watch the host's uplink before the first suite. */
export async function setup(): Promise<void> {
  // On a given cluster there is no lab whose packets could leave.
  if (givenKubeconfig !== undefined) return
  watch = await watchUplink()
  console.log(`watching ${watch.uplinks.join(', ') || 'no uplink: there is no default route'}`)
}

/** Fails the run if any packet of a lab left the machine, or was about to. */
export async function teardown(): Promise<void> {
  const packets = (await watch?.stop()) ?? []
  if (packets.length > 0) throw new Error(`packets of a lab left the machine:\n${packets.join('\n')}`)
}
