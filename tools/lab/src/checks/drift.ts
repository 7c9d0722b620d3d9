import { findColumn, nbctl, ovnCentral, readColumn, untilRowChange } from '../observe/northbound.ts'
import { durationRow, firstOf, type Check, type CheckRow } from './check.ts'
import { sixPods } from './pod-to-pod.ts'
import type { Place } from '../namespaces.ts'
import type { PodObject } from '../kubernetes/workloads.ts'

const limitMs = 1_000

/** Until nobody waits any more. */
const patienceMs = 60_000

/** Rows of ours that somebody deletes by hand. */
export const drift: Check = {
  name: 'drift',
  async run(cluster) {
    const central = await ovnCentral(cluster)
    const pod = firstOf(await sixPods(cluster), 'pod')
    return [await portRow(central, pod), await policyRow(central), await memberRow(central, pod)]
  },
}

/** Whether the machine had other things to do shows when it is done again: what takes long each time does so by itself. */
async function quickest(heal: () => Promise<number | undefined>): Promise<number | undefined> {
  let least = await heal()
  for (let again = 0; again < 2 && least !== undefined && least > limitMs; again++)
    least = Math.min(least, (await heal()) ?? Infinity)
  return least
}

function portNameOf(pod: PodObject): string {
  return `${pod.metadata.name}.${pod.metadata.namespace ?? ''}`
}

async function portRow(central: Place, pod: PodObject): Promise<CheckRow> {
  const name = portNameOf(pod)
  const ms = await quickest(() =>
    untilRowChange(
      central,
      'Logical_Switch_Port',
      ['name'],
      async () => {
        await nbctl(central, 'lsp-del', name)
        return false
      },
      ({ action, columns }) => action === 'insert' && columns['name'] === name,
      patienceMs,
    ),
  )
  return durationRow("a pod's deleted port is back", ms, limitMs)
}

async function policyRow(central: Place): Promise<CheckRow> {
  const ours = 'external_ids:vendor=kube-ovn'
  const uuid = firstOf(
    await findColumn(central, 'Logical_Router_Policy', '_uuid', ours),
    'router policy of ours',
  )
  const priority = await readColumn(central, 'Logical_Router_Policy', uuid, 'priority')
  const match = await readColumn(central, 'Logical_Router_Policy', uuid, 'match')
  const ms = await quickest(() =>
    untilRowChange(
      central,
      'Logical_Router_Policy',
      ['priority', 'match'],
      async () => {
        await nbctl(central, 'lr-policy-del', 'ovn-cluster', priority, match)
        return false
      },
      ({ action, columns }) =>
        action === 'insert' && String(columns['priority']) === priority && columns['match'] === match,
      patienceMs,
    ),
  )
  return durationRow('a deleted router policy is back', ms, limitMs)
}

async function memberRow(central: Place, pod: PodObject): Promise<CheckRow> {
  const [port = ''] = await findColumn(central, 'Logical_Switch_Port', '_uuid', `name=${portNameOf(pod)}`)
  const group = firstOf(
    await findColumn(central, 'Port_Group', 'name', `ports{>=}${port}`),
    'port group of a pod',
  )
  const ms = await quickest(() =>
    untilRowChange(
      central,
      'Port_Group',
      ['name', 'ports'],
      async () => {
        await nbctl(central, 'remove', 'Port_Group', group, 'ports', port)
        const groups = await findColumn(central, 'Port_Group', 'name', `ports{>=}${port}`)
        return groups.includes(group)
      },
      ({ action, columns }) =>
        action === 'new' && columns['name'] === group && JSON.stringify(columns['ports']).includes(port),
      patienceMs,
    ),
  )
  return durationRow('a removed member of a port group is back', ms, limitMs)
}
