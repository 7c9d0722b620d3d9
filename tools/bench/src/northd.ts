import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ControlPlane } from './control-plane.ts'
import { processorSeconds } from './processor-time.ts'

/** Takes everything out of the Northbound. The counter by which ovn-northd tells how far it is goes on: it may not have heard of a smaller one yet when it is asked. */
export async function emptyNorthbound({ northbound }: ControlPlane): Promise<void> {
  const counted = Number(await northbound.nbctl('get', 'NB_Global', '.', 'nb_cfg'))
  await northbound.reset()
  await northbound.nbctl('set', 'NB_Global', '.', `nb_cfg=${counted + 1}`)
  await untilSynced({ northbound })
}

/** Resolves when ovn-northd has written what follows from all that is there. */
export async function untilSynced({ northbound }: Pick<ControlPlane, 'northbound'>): Promise<void> {
  await northbound.nbctl('--timeout=900', '--wait=sb', 'sync')
}

/** Processor time of ovn-northd so far: the user's and the system's. */
export function northdSeconds({ northbound: { root } }: ControlPlane): number {
  return processorSeconds(readFileSync(join(root, 'run/ovn/ovn-northd.pid'), 'utf8').trim(), root)
}

/** As ovn-appctl does it (ovs-appctl(8)). */
export async function tellNorthd({ northbound }: ControlPlane, method: string): Promise<void> {
  const directory = join(northbound.root, 'run/ovn')
  const pid = readFileSync(join(directory, 'ovn-northd.pid'), 'utf8').trim()
  const socket = connect(join(directory, `ovn-northd.${pid}.ctl`))
  await once(socket, 'connect')
  socket.end(JSON.stringify({ id: 0, method, params: [] }))
  const answered = await text(socket)
  if (!answered.includes('"error":null')) throw new Error(`ovn-northd does not ${method}: ${answered}`)
}
