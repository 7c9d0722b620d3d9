import { nbctl, ovnCentral } from '../observe/northbound.ts'
import { claimRow, type CheckRow } from './check.ts'
import type { Cluster } from '../cluster/cluster.ts'

const foreignSwitch = 'lab-foreign'

/** Rows that belong to somebody else, as they were when they were made. */
export interface ForeignRows {
  readonly before: string
}

/** Writes a logical switch and an ACL that are not the product's. */
export async function createForeignRows(cluster: Cluster): Promise<ForeignRows> {
  const central = await ovnCentral(cluster)
  const owner = 'external_ids:made-by=somebody-else'
  await nbctl(central, '--if-exists', 'ls-del', foreignSwitch)
  await nbctl(central, 'ls-add', foreignSwitch, '--', 'set', 'Logical_Switch', foreignSwitch, owner)
  await nbctl(central, 'acl-add', foreignSwitch, 'to-lport', '1001', 'ip4.src == 192.0.2.0/24', 'drop')
  return { before: await readForeignRows(cluster) }
}

/** Compares the foreign rows, every column of them, with what they were. */
export async function foreignRow(cluster: Cluster, { before }: ForeignRows): Promise<CheckRow> {
  const after = await readForeignRows(cluster)
  return claimRow('a foreign logical switch and ACL are as they were', before === after, 'equal', after)
}

/** Takes the foreign rows away again, so that nothing is left of the checks. */
export async function removeForeignRows(cluster: Cluster): Promise<void> {
  await nbctl(await ovnCentral(cluster), '--if-exists', 'ls-del', foreignSwitch)
}

async function readForeignRows(cluster: Cluster): Promise<string> {
  const central = await ovnCentral(cluster)
  const [ofSwitch, ofAcl] = await Promise.all([
    nbctl(central, '--format=json', 'find', 'Logical_Switch', `name=${foreignSwitch}`),
    nbctl(central, '--format=json', 'find', 'ACL', 'match="ip4.src == 192.0.2.0/24"'),
  ])
  return `${ofSwitch}\n${ofAcl}`
}
