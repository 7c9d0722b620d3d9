import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient } from 'ovsdb-client'
import { LabTimeoutError } from '../errors.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { databaseEndpoints } from './central.ts'

/**
 * Waits until northd says of the ports of exactly so many pods of a namespace that they are up.
 *
 * @throws {LabTimeoutError}
 */
export async function untilPortsUp(
  cluster: Cluster,
  namespace: string,
  count: number,
  timeoutMs = 300_000,
): Promise<void> {
  await using northbound = new OvsdbClient<OvnNorthbound>({
    endpoints: await databaseEndpoints(cluster, 'northbound'),
    schema: ovnNorthboundSchema,
    tables: { Logical_Switch_Port: { columns: ['name', 'up'] } },
  })
  const up = new Set<string>()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  using _ = northbound.onChange((changes) => {
    for (const change of changes) {
      if (change.table !== 'Logical_Switch_Port') continue
      if (change.new?.up === true && change.new.name.endsWith(`.${namespace}`)) up.add(change.uuid)
      else up.delete(change.uuid)
    }
    if (up.size === count) resolve()
  })
  const timer = setTimeout(() => {
    const seen = `${up.size}`
    reject(
      new LabTimeoutError('something did not happen in time', {
        what: `${count} ports are up`,
        timeoutMs,
        seen,
      }),
    )
  }, timeoutMs)
  try {
    await northbound.connect()
    await promise
  } finally {
    clearTimeout(timer)
  }
}
