import { ovnNorthboundSchema, type OvnNorthbound } from '@kube-ovn/ovsdb-schema'
import { OvsdbClient, type OvsdbClientOptions } from 'ovsdb-client'
import type { ControlPlane } from './control-plane.ts'

/** Sees the Northbound by itself. */
export type Reader = OvsdbClient<OvnNorthbound>

/** Has seen all that is in these tables when it is given. */
export async function openReader(
  { northbound }: Pick<ControlPlane, 'northbound'>,
  tables: OvsdbClientOptions<OvnNorthbound>['tables'],
): Promise<Reader> {
  const client = new OvsdbClient<OvnNorthbound>({
    endpoints: [northbound.address],
    schema: ovnNorthboundSchema,
    tables,
  })
  await client.connect()
  return client
}
